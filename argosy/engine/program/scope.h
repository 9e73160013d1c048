#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/engine/program/value.h"

namespace argosy::engine {

class RemoteParameters;  // argosy/engine/remote/remote_parameters.h

// The variables that outlive a run, by name. A name that is not here is looked up in the parent. Value addresses are stable
// for the life of the scope: erase() empties a value. Thread-safe for lookups and additions; the values themselves are shared
// storage, which trainer threads read and update without waiting for each other (Hogwild).
class Scope {
 public:
  explicit Scope(Scope* parent = nullptr);
  Scope(const Scope&) = delete;

  Value* find(std::string_view name) const;  // here or in an ancestor
  Value& var(std::string_view name);         // here; added where absent
  void erase(std::string_view name);
  std::vector<std::string> names() const;  // of the values that hold something
  uint64_t id() const { return id_; }      // unique in this process
  Scope& new_child();  // owned by this scope

  // The servers that hold some of the variables of this scope and its descendants; null: none do.
  std::shared_ptr<RemoteParameters> remote() const;
  void set_remote(std::shared_ptr<RemoteParameters> remote);

  void drop_children();

 private:
  Scope* const parent_;
  const uint64_t id_;
  mutable Mutex mutex_;
  std::map<std::string, std::unique_ptr<Value>, std::less<>> values_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Scope>> children_ ARGOSY_GUARDED_BY(mutex_);
  std::shared_ptr<RemoteParameters> remote_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::engine
