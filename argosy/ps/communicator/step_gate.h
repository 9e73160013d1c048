#pragma once

#include <condition_variable>
#include <mutex>

namespace argosy::ps {

// Lets many steps run at once, or one exclusive section between them. Thread-safe.
class StepGate {
 public:
  void enter_step() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !exclusive_; });  // an exclusive section is short and waits for nothing but steps
    steps_ += 1;
  }
  void leave_step() {
    std::lock_guard lock(mutex_);
    steps_ -= 1;
    changed_.notify_all();
  }
  void enter_exclusive() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !exclusive_; });
    exclusive_ = true;
    changed_.wait(lock, [&] { return steps_ == 0; });
  }
  void leave_exclusive() {
    std::lock_guard lock(mutex_);
    exclusive_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int steps_ = 0;
  bool exclusive_ = false;
};

}  // namespace argosy::ps
