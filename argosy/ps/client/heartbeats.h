#pragma once

#include <memory>
#include <set>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/ps/client/comparison.h"
#include "argosy/ps/client/loss_settler.h"
#include "argosy/ps/client/session.h"

namespace argosy::ps {

// A worker's signs of life, to each server from its answer to Hello on: the last may come long after the first. With them goes
// what every worker that is alive does and nobody waits for: finding out what servers have lost, settling what lost workers have
// left.
//
// Owns the thread "ps-heartbeat". Thread-safe.
class Heartbeats {
 public:
  Heartbeats(Session& session, Comparison& comparison);
  ~Heartbeats() { (void)stop(); }

  void add(int server);
  // False: it has stopped before.
  bool stop();

 private:
  void run();
  void beat(int server);
  void settle_losses(Deadline deadline);

  Session& session_;
  Comparison& comparison_;
  const std::shared_ptr<LossSettler> settler_;  // also in answers that are under way
  Mutex mutex_;
  ConditionVariable changed_;
  bool stopping_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::set<int> servers_ ARGOSY_GUARDED_BY(mutex_);
  Thread thread_;
};

}  // namespace argosy::ps
