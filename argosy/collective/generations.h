#pragma once

#include <functional>
#include <string>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/base/thread.h"
#include "argosy/base/wake.h"

namespace argosy::collective {

// One meeting of a group's processes after the first, as the launcher calls it.
struct Generation {
  int number = 1;
  int host = 0;         // the rank at which all meet
  std::string address;  // where it listens; empty: it has not said so yet
};

// A rank's line to its launcher, in a group that survives the loss of a rank. Each loss begins a generation: the launcher tells
// all ranks its number and at whom they meet, that one says where it listens, and the launcher tells the others.
//
//   launcher -> rank   regroup GENERATION HOST-RANK | meet GENERATION ADDRESS | over
//   rank -> launcher   beat | ready | host GENERATION ADDRESS | finished GENERATION
//
// A rank that is ready has the model; one that has finished waits until the launcher says that all have ("over"), because until
// then it may have to lend the model to a newcomer. Beats are once per second. Owns the thread "generations". Thread-safe.
class Generations {
 public:
  // `on_loss` is called for each new generation, on the own thread, before await() returns it.
  explicit Generations(std::function<void()> on_loss);
  ~Generations();

  int wanted() const;  // the newest generation; 1: nothing was lost
  bool over() const;

  // The newest generation above `after`, once it has been told.
  Result<Generation> await(int after, Deadline deadline) const;
  // Where the ranks of this generation meet. `aborted` where a newer one was told meanwhile.
  Result<std::string> await_address(int generation, Deadline deadline) const;
  // Whether all have finished; false: a generation above `after` was told.
  Result<bool> await_over(int after, Deadline deadline) const;

  // Says a word, again and again until the launcher has room for it.
  static Status say(const std::string& word);

 private:
  void run();
  void obey(const std::string& word);

  const std::function<void()> on_loss_;
  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  Generation newest_ ARGOSY_GUARDED_BY(mutex_);
  bool over_ ARGOSY_GUARDED_BY(mutex_) = false;
  const Wake stop_;
  Thread thread_;
};

}  // namespace argosy::collective
