#include "argosy/observe/health.h"

namespace argosy::observe {

// Leaked on purpose: parts of a process end while static objects are destroyed.
Health& Health::process() {
  static Health& instance = *new Health;
  return instance;
}

Health::Registration& Health::Registration::operator=(Registration&& other) noexcept {
  end();
  health_ = std::exchange(other.health_, nullptr);
  id_ = other.id_;
  return *this;
}

void Health::Registration::end() {
  if (health_ == nullptr) return;
  MutexLock lock(health_->mutex_);
  health_->checks_.erase(id_);
  health_ = nullptr;
}

Health::Registration Health::add(Kind kind, Check check) {
  MutexLock lock(mutex_);
  checks_.emplace(next_id_, std::pair(kind, std::move(check)));
  return Registration(*this, next_id_++);
}

std::string Health::problems(Kind kind) const {
  MutexLock lock(mutex_);
  std::string all;
  for (const auto& [id, entry] : checks_) {
    if (entry.first == Kind::ready && kind == Kind::healthy) continue;
    if (const std::string problem = entry.second(); !problem.empty()) all += problem + "\n";
  }
  return all;
}

}  // namespace argosy::observe
