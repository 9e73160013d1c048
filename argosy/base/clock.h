#pragma once

#include <chrono>

namespace argosy {

using SteadyClock = std::chrono::steady_clock;

// The moment by which a wait must end. Made from a duration, so that it cannot be forgotten or be a wall-clock time.
class Deadline {
 public:
  static Deadline after(std::chrono::nanoseconds wait) { return Deadline(SteadyClock::now() + wait); }
  static Deadline after_seconds(double seconds) {
    return after(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds)));
  }

  SteadyClock::time_point when() const { return when_; }
  bool passed() const { return SteadyClock::now() >= when_; }
  double seconds_left() const { return std::chrono::duration<double>(when_ - SteadyClock::now()).count(); }

 private:
  explicit Deadline(SteadyClock::time_point when) : when_(when) {}
  SteadyClock::time_point when_;
};

// Seconds since construction or the last restart().
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(SteadyClock::now() - start_).count(); }
  void restart() { start_ = SteadyClock::now(); }

 private:
  SteadyClock::time_point start_ = SteadyClock::now();
};

}  // namespace argosy
