#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <functional>
#include <string>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"

namespace c10d {
class Store;
}

namespace argosy::collective {

struct WatchOptions {
  std::chrono::milliseconds beat{1000};
  std::chrono::milliseconds peer_timeout{30'000};  // silence after which a peer counts as lost
  std::function<void(const std::string&)> on_loss;  // on the watch's own thread, at most once, with who and since when
};

// Who of a job's processes is alive, and what each is doing. Every process writes a beat into the job's store, with its last
// operation; each looks after the next one, and a silence is told to all. So that a failure can be explained: a collective
// that did not end says nothing about who did not come. Thread-safe.
//
// Keys: "beat/<rank>" = "<count> <what>", "left/<rank>" where a process went in order, "lost" = the first loss in words.
class Watch {
 public:
  Watch(c10::intrusive_ptr<c10d::Store> store, int rank, int size, WatchOptions options);
  ~Watch();  // says that this process left; the host of the store waits a moment for the others to do so

  // What this process is doing from now on, for the others' reports.
  void doing(std::string what);

  // A line per peer that is silent or elsewhere, after listening to their beats for a short while; "" where all are well and
  // doing the same.
  std::string report();

 private:
  void run();
  bool beat(int64_t count);  // false: the store is gone
  void look_after_the_next();
  void hear_of_a_loss();
  void lose(const std::string& who);
  std::string read(const std::string& key);  // "" where there is none, or no store
  std::string text();
  bool is_lost();

  const int rank_, size_;
  const WatchOptions options_;
  Mutex store_mutex_;  // calls of the store are short: a key is waited for in the destructor alone
  c10::intrusive_ptr<c10d::Store> store_ ARGOSY_GUARDED_BY(store_mutex_);

  Mutex mutex_;
  ConditionVariable stop_changed_;
  bool stop_ ARGOSY_GUARDED_BY(mutex_) = false, lost_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::string doing_ ARGOSY_GUARDED_BY(mutex_) = "starting";

  // The thread's alone: the next process's last beat, and when it came.
  std::string next_beat_;
  std::chrono::steady_clock::time_point next_heard_;
  bool host_left_ = false;

  Thread thread_;
};

}  // namespace argosy::collective
