#pragma once

#include <memory>
#include <string>
#include <vector>

#include "argosy/data/byte_stream.h"
#include "argosy/data/object.h"
#include "argosy/data/store_retry.h"

// What the module argosy_stores offers to object_store.h, which is what everybody else calls.
namespace argosy::data {

// Each call is one try; what may go well another time is `unavailable`. Messages do not name the URI. Thread-safe.
class ObjectStores {
 public:
  virtual ~ObjectStores() = default;
  virtual Result<ObjectInfo> info(const std::string& uri) = 0;
  virtual Result<std::vector<ObjectInfo>> list(const std::string& folder, bool recursive) = 0;
  virtual Result<std::shared_ptr<ObjectFile>> open(const std::string& uri) = 0;
  // A large object goes in parts, each of which is tried as `retry` says: one that fails does not send the others again.
  virtual Status put(const std::string& uri, ByteStream& content, StoreRetry& retry) = 0;
  virtual Status remove(const std::string& uri) = 0;
  virtual Status remove_folder(const std::string& uri) = 0;  // with all that is in it
};

inline constexpr int kObjectStoresVersion = 1;
inline constexpr const char* kObjectStoresFunction = "argosy_object_stores";

// Opens the module, once in a process. An error says what is missing.
Result<ObjectStores*> object_stores();

// Of tests: what object_stores() gives from now on; null: the module again. The caller keeps it until then.
void set_object_stores(ObjectStores* stores);

}  // namespace argosy::data
