#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "argosy/base/mutex.h"

namespace argosy::observe {

// Whether a process can go on (healthy) and whether others may use it now (ready), as its parts say. What /healthz and /readyz
// answer.
//
// Thread-safe. A check is called by the thread that asks, and must not block.
class Health {
 public:
  enum class Kind { healthy, ready };
  using Check = std::function<std::string()>;  // what is wrong; empty: nothing

  static Health& process();

  class [[nodiscard]] Registration {
   public:
    Registration() = default;
    Registration(Health& health, uint64_t id) : health_(&health), id_(id) {}
    Registration(Registration&& other) noexcept : health_(std::exchange(other.health_, nullptr)), id_(other.id_) {}
    Registration& operator=(Registration&& other) noexcept;
    ~Registration() { end(); }
    void end();  // safe to call twice

   private:
    Health* health_ = nullptr;
    uint64_t id_ = 0;
  };
  Registration add(Kind kind, Check check);

  // What is wrong, one line each; empty: nothing. A process that is not healthy is not ready.
  std::string problems(Kind kind) const;

 private:
  mutable Mutex mutex_;  // held while checks are called
  std::map<uint64_t, std::pair<Kind, Check>> checks_ ARGOSY_GUARDED_BY(mutex_);
  uint64_t next_id_ ARGOSY_GUARDED_BY(mutex_) = 1;
};

}  // namespace argosy::observe
