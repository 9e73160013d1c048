#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "argosy/base/thread.h"
#include "argosy/ps/limit.h"
#include "argosy/ps/server_call.h"

namespace argosy::ps {

// What a call can wait for.
enum class Topic {
  position,     // a sync step
  gather,       // other workers at a barrier
  mail,         // a letter
  initialised,  // first values of dense tables
  batches,      // that this server has lost and other workers send again
  quiet,        // a worker's pushes that are under way
  thaw,         // the end of a snapshot
};
inline constexpr size_t kTopics = 7;

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
  Status make_room(const Call& call);  // counts the call in, or says why not; with mutex_ held, as is the next
  void leave(const Call& call);
  Lot& lot(Topic topic) { return lots_[static_cast<size_t>(topic)]; }
  const Lot& lot(Topic topic) const { return lots_[static_cast<size_t>(topic)]; }

  const std::function<void(const CallPtr&)> handle_;
  Limit& calls_limit_;
  Limit& bytes_limit_;
  mutable std::mutex mutex_;
  std::condition_variable woken_;
  std::array<Lot, kTopics> lots_;  // guarded by mutex_
  std::deque<CallPtr> ready_;      // guarded by mutex_
  bool stopped_ = false;           // guarded by mutex_
  std::vector<Thread> threads_;
};

// Lets changes of the state happen side by side, and stops them all while a snapshot is cut.
//
// Thread-safe.
class Gate {
 public:
  // False: closed. After true, leave() has to follow.
  bool enter();
  // Waits while it is closed. After ok, leave() has to follow.
  Status enter_before(Deadline deadline);
  void leave();

  // Closes the gate and waits until everybody has left. deadline_exceeded, and open again, where somebody does not.
  Status close(Deadline deadline);
  void open();

 private:
  std::mutex mutex_;
  std::condition_variable empty_, opened_;
  int inside_ = 0;       // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_
};

}  // namespace argosy::ps
