#include "argosy/engine/program/scope.h"

#include <atomic>

#include "argosy/base/mutex.h"

namespace argosy::engine {

Scope::Scope(Scope* parent)
    : parent_(parent), id_([] {
        static std::atomic<uint64_t> counter{1};
        return counter++;
      }()) {}

Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    MutexLock lock(scope->mutex_);
    const auto found = scope->values_.find(name);
    if (found != scope->values_.end()) return found->second.get();
  }
  return nullptr;
}

Value& Scope::var(std::string_view name) {
  MutexLock lock(mutex_);
  const auto found = values_.find(name);
  if (found != values_.end()) return *found->second;
  return *values_.emplace(std::string(name), std::make_unique<Value>()).first->second;
}

void Scope::erase(std::string_view name) {
  MutexLock lock(mutex_);
  if (const auto found = values_.find(name); found != values_.end()) *found->second = Value{};
}

std::vector<std::string> Scope::names() const {
  MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, value] : values_) {
    if (value->defined()) names.push_back(name);
  }
  return names;
}

std::shared_ptr<RemoteParameters> Scope::remote() const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    MutexLock lock(scope->mutex_);
    if (scope->remote_ != nullptr) return scope->remote_;
  }
  return nullptr;
}

void Scope::set_remote(std::shared_ptr<RemoteParameters> remote) {
  MutexLock lock(mutex_);
  remote_ = std::move(remote);
}

Scope& Scope::new_child() {
  MutexLock lock(mutex_);
  return *children_.emplace_back(std::make_unique<Scope>(this));
}

void Scope::drop_children() {
  MutexLock lock(mutex_);
  children_.clear();
}

}  // namespace argosy::engine
