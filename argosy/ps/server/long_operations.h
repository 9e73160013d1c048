#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/progress.h"
#include "argosy/ps/server/server_call.h"

namespace argosy::ps {

// Work that takes longer than a call may, by number: the first call starts it, it and later ones with the same number are
// answered when it is done, or after about a second with `running` and how far it is. What was done is remembered and answered as
// done; an error too, for calls of the attempt that met it: another attempt begins anew. An operation ends early when the attempt
// that asked for it last is cancelled, and when nobody has asked for it for a minute.//
// Owns no thread: somebody does the work and calls finish(), and somebody calls answer_due() several times per second.
// Thread-safe.
class LongOperations {
 public:
  struct Key {
    wire::Method method = wire::UNKNOWN;
    uint64_t id = 0;
    bool publish = false;  // the second phase of SAVE_SNAPSHOT

    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // Thread-safe.
  class Operation {
   public:
    Operation(const Key& what, std::string with);

    const Key key;
    const std::string request;  // serialised

    void set_total(uint64_t rows) { total_ = rows; }
    // `rows` more are done. `cancelled` where it should end; so does alive().
    Status progress(uint64_t rows);
    Status alive() const;
    // Who asked last; nothing: this process.
    std::optional<wire::Caller> caller() const;

   private:
    friend class LongOperations;
    void set_asked(const wire::Caller& caller, uint64_t attempt);
    uint64_t attempt() const;
    std::string running() const;  // what a call is told that comes before the end

    std::unique_ptr<Progress> shown_;  // until finish(), by the thread that does the work
    std::atomic<uint64_t> done_ = 0, total_ = 0;
    std::atomic<bool> cancelled_ = false;
    mutable Mutex mutex_;
    std::optional<wire::Caller> caller_ ARGOSY_GUARDED_BY(mutex_);
    uint64_t attempt_ ARGOSY_GUARDED_BY(mutex_) = 0;  // that asked last
    Stopwatch since_asked_ ARGOSY_GUARDED_BY(mutex_);
    // Guarded by LongOperations::mutex_:
    std::optional<Result<std::string>> answer_;  // a reply, serialised
    std::vector<CallPtr> waiting_;
    std::vector<uint64_t> over_;  // attempts that have met an error
  };
  using OperationPtr = std::shared_ptr<Operation>;

  static constexpr double kAbandonedSeconds = 60;

  // Null: the call asks for an operation that is there, and is answered or waits. Else the operation is new, the call waits for
  // it, and the caller has to see to it that finish() is called.
  OperationPtr ask(const Key& key, const wire::Caller& caller, uint64_t attempt, const CallPtr& call);
  // A new one of this process, without a call: wait() gives its answer, once.
  OperationPtr begin(const Key& key, std::string request);
  Result<std::string> wait(const OperationPtr& operation, Deadline deadline);

  void finish(const OperationPtr& operation, Result<std::string> answer);

  // Whether there was anything to cancel. Calls of the attempt that come later begin nothing.
  bool cancel(uint64_t id, uint64_t attempt);

  // Answers calls that have waited long enough with `running`, and forgets those whose callers have gone.
  void answer_due();
  // Everything that is under way ends early; calls are answered `unavailable`, now and later. Safe to call twice.
  void stop();

 private:
  static void answer(const CallPtr& call, const Result<std::string>& answer);

  Mutex mutex_;
  ConditionVariable finished_;
  std::map<Key, OperationPtr> operations_ ARGOSY_GUARDED_BY(mutex_);
  std::deque<Key> done_ ARGOSY_GUARDED_BY(mutex_);  // of those that are finished, oldest first
  std::deque<uint64_t> cancelled_ ARGOSY_GUARDED_BY(mutex_);  // the last attempts that were
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
};

}  // namespace argosy::ps
