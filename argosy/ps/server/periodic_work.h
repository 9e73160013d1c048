#pragma once

#include <functional>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/thread.h"
#include "argosy/ps/server/ending.h"

namespace argosy::ps {

// Does what is due from time to time, until the server stops: leases are among it. So nothing that it does waits for a caller or
// for the turn of changes. (What it changes by itself may wait for the disk; nobody is declared lost meanwhile.)
//
// Owns the thread "ps-periodic". Thread-compatible: add() before start(), stop() after.
class PeriodicWork {
 public:
  explicit PeriodicWork(Ending& ending) : ending_(ending) {}

  // `work` gets the seconds since it was last called.
  void add(double every_seconds, std::function<void(double since)> work);
  void start();
  // Returns when the thread has ended, which Ending::stop() makes it do.
  void join() { thread_.join(); }

 private:
  struct Task {
    double every = 0;
    std::function<void(double)> work;
    Stopwatch since;
  };
  void run();

  Ending& ending_;
  std::vector<Task> tasks_;
  Thread thread_;
};

}  // namespace argosy::ps
