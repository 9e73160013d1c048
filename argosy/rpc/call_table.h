#pragma once

#include <absl/base/thread_annotations.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"
#include "argosy/base/thread.h"
#include "argosy/rpc/channel.h"

namespace argosy::rpc {

// The calls of a channel that wait for their answers. Each ends once: by an answer, by its deadline, with the connection
// that it went over, or with the channel. Owns the thread "rpc-calls", which watches the deadlines and runs the callbacks of
// calls that end here. Thread-safe.
class CallTable {
 public:
  using Id = uint64_t;  // never 0

  explicit CallTable(std::string peer);
  ~CallTable() { stop(); }

  // Registers a call that goes over connection `connection`, and takes `done`; 0 after stop(), with `done` left alone.
  Id begin(uint16_t method, Deadline deadline, uint64_t connection, Callback& done);

  struct Taken {
    uint16_t method = 0;
    Callback done;  // null where the call has ended
  };
  // Ends a call without running its callback: that is the caller's.
  Taken take(Id id);

  // End calls that have not ended; their callbacks run on the table's thread.
  void end(Id id, Result<Received> answer);
  void end_connection(uint64_t connection, const Status& status);

  bool ended(Id id) const;

  // Ends all calls as cancelled, and returns when the callbacks have run. Safe to call twice, not from a callback.
  void stop();

 private:
  struct Call {
    uint16_t method;
    uint64_t connection;
    Deadline deadline;
    Stopwatch watch;
    Callback done;
  };
  struct Ended {
    Callback done;
    Result<Received> answer;
  };
  using Calls = std::map<Id, Call>;

  void run();
  void end_late_calls() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Calls::iterator end(Calls::iterator call, Result<Received> answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Calls::iterator erase(Calls::iterator call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string peer_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // A call is in calls_ and deadlines_ until it ends, then in ended_ until its callback runs.
  Calls calls_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<SteadyClock::time_point, Id>> deadlines_ ABSL_GUARDED_BY(mutex_);
  std::deque<Ended> ended_ ABSL_GUARDED_BY(mutex_);
  Id last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace argosy::rpc
