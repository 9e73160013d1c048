#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"

namespace argosy {

// A long piece of work of this process that people wait for ("load", "save", "recovery"), and how far it has come.
//
// While it lives it is in running_work(), from where the launcher's line and pages have it. A process with a terminal of its own
// shows a bar there; elsewhere its log gets a line every 30 seconds. What takes less than half a second is shown nowhere.
//
// set() may be called by any thread, as often as one likes.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;

  // From 0 to 1; none: not known.
  void set(std::optional<double> ratio);

 private:
  friend struct RunningWork;
  bool is_due();
  void show();

  const std::string what_;
  const Stopwatch since_;
  std::atomic<double> ratio_;      // NaN: not known
  std::atomic<double> next_show_;  // by since_
  std::atomic<bool> shown_{false};
};

// One piece of work that is under way. A plain value.
struct RunningWork {
  std::string what;
  std::optional<double> ratio;
  double seconds = 0;  // since it began

  static RunningWork of(const Progress& progress);
  // "load 45 % [█████████···········] 12 s, 14 s left"
  std::string text() const;
};

// All of it, the oldest first; of several with one name, the one that is least far.
std::vector<RunningWork> running_work();

}  // namespace argosy
