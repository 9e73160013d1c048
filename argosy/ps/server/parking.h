#pragma once

#include <array>
#include <deque>
#include <functional>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/ps/state/limit.h"

namespace argosy::ps {

// What a call can wait for.
enum class Topic {
  position,     // a sync step
  gather,       // other workers at a barrier
  mail,         // a message
  initialised,  // first values of dense tables
  batches,      // that this server has lost and other workers send again
  quiet,        // a worker's pushes that are under way
  thaw,         // the end of a snapshot
  log,          // a record for a follower
};
inline constexpr size_t kTopics = 8;

// Calls that wait for something, without a thread each. When a topic is woken, its calls are handled again, from the start, on
// the threads "ps-wake"; a handler that is not satisfied parks its call again.
//
// No wake is missed: a handler takes version(topic) before it looks, and parks with it.
//
// A call for which there is no room is refused: it keeps its request while it waits.
//
// Thread-safe. Owns the threads. The destructor answers what still waits with `unavailable`.
class Parking {
 public:
  Parking(int threads, std::function<void(const CallPtr&)> handle, Limit& calls, Limit& bytes);
  ~Parking();

  uint64_t version(Topic topic) const;
  void park(Topic topic, uint64_t seen_version, CallPtr call);
  void wake(Topic topic);
  bool has(Topic topic) const;

  // Takes out the calls of which `chosen` says so, for the caller to answer. Those whose callers have gone are dropped.
  struct Parked {
    Topic topic;
    CallPtr call;
  };
  std::vector<Parked> take_if(const std::function<bool(Topic, const Call&)>& chosen);

  // Lets the threads finish and answers everything that waits, now and later, with `unavailable`. Safe to call twice.
  void stop();

 private:
  struct Lot {
    uint64_t version = 0;
    std::vector<CallPtr> calls;
  };
  void run();
  Status make_room(const Call& call) ARGOSY_REQUIRES(mutex_);  // counts the call in, or says why not
  void leave(const Call& call) ARGOSY_REQUIRES(mutex_);
  Lot& lot(Topic topic) ARGOSY_REQUIRES(mutex_) { return lots_[static_cast<size_t>(topic)]; }
  const Lot& lot(Topic topic) const ARGOSY_REQUIRES(mutex_) { return lots_[static_cast<size_t>(topic)]; }

  const std::function<void(const CallPtr&)> handle_;
  Limit& calls_limit_;
  Limit& bytes_limit_;
  mutable Mutex mutex_;
  ConditionVariable woken_;
  std::array<Lot, kTopics> lots_ ARGOSY_GUARDED_BY(mutex_);
  std::deque<CallPtr> ready_ ARGOSY_GUARDED_BY(mutex_);
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::vector<Thread> threads_;
};

}  // namespace argosy::ps
