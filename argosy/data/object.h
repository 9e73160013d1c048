#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "argosy/base/status.h"

namespace argosy::data {

// What lies at a URI.
struct ObjectInfo {
  std::string uri;
  int64_t size = 0;
  int64_t modified_ns = 0;  // since 1970, by the store's clock; 0: it does not say
  bool folder = false;

  friend bool operator==(const ObjectInfo&, const ObjectInfo&) = default;
};

// An object that is read. Thread-safe.
class ObjectFile {
 public:
  virtual ~ObjectFile() = default;
  virtual const ObjectInfo& info() const = 0;  // when it was opened
  // Fills the front of `room` from there on, and returns how much: all of it, or up to the object's end.
  virtual Result<size_t> read_at(int64_t offset, std::span<char> room) = 0;
};

}  // namespace argosy::data
