#pragma once

#include <absl/base/thread_annotations.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

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
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<int> servers_ ABSL_GUARDED_BY(mutex_);
  Thread thread_;
};

}  // namespace argosy::ps
