#pragma once

#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/serve/model/counters.h"
#include "argosy/serve/model/served_version.h"

namespace argosy::serve {

struct BatcherOptions {
  int threads = 1;                        // runs at once
  int64_t max_batch = 256;                // samples in one run; a larger request runs alone
  std::chrono::microseconds max_wait{0};  // how long a request waits for others; 0: it takes those that are there
  size_t max_queue = 1024;                // requests
};

// Runs requests together that arrive together: a thread takes the oldest request and those behind it that fit into one batch,
// predicts once, and hands each its own rows. Requests of different versions are never mixed, and neither are those of a model
// whose outputs are not one per sample: these run alone.
//
// Owns the threads "serve-0", …. Thread-safe. The destructor answers what is queued and joins.
class Batcher {
 public:
  Batcher(const BatcherOptions& options, ServeCounters& counters);
  ~Batcher();

  // The outputs for `inputs`. resource_exhausted where the queue is full, deadline_exceeded where the deadline passes first; what
  // nobody waits for any more is not run. REQUIRES: check_inputs().
  Result<std::vector<Tensor>> predict(std::shared_ptr<const ServedVersion> version, Inputs inputs, Deadline deadline);

  void stop();  // answers what is queued, takes no more, and joins; safe to call twice

 private:
  struct Job {
    std::shared_ptr<const ServedVersion> version;
    Inputs inputs;
    int64_t samples = -1;  // -1: runs alone
    Deadline deadline;
    SteadyClock::time_point arrived = SteadyClock::now();
    std::promise<Result<std::vector<Tensor>>> answer;
  };
  using Batch = std::vector<std::shared_ptr<Job>>;

  void work();
  bool take(Batch& batch);  // false: there is nothing, and nothing will come
  void add_fitting(Batch& batch, int64_t& samples) ARGOSY_REQUIRES(mutex_);
  void run(const Batch& batch);
  void run_alone(Job& job);

  const BatcherOptions options_;
  ServeCounters& counters_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<std::shared_ptr<Job>> queue_ ARGOSY_GUARDED_BY(mutex_);
  bool stopping_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::vector<Thread> threads_;
};

}  // namespace argosy::serve
