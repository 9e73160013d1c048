#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "argosy/ps/server/ending.h"
#include "argosy/ps/server/gate.h"
#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/ps/server/server_journal.h"
#include "argosy/ps/server/state_holder.h"
#include "argosy/ps/server/turn.h"

namespace argosy::ps {

// What happened to a server's state since its process began.
struct ChangeCounts {
  std::atomic<uint64_t> changes = 0;
  std::atomic<uint64_t> duplicates = 0;
  std::atomic<uint64_t> refused_by_log = 0;  // tries that were not acknowledged: the log's disk is full, or hangs
  std::atomic<uint64_t> news = 0;  // what a server without a log must not lose: new incarnations, first values
};

// How a change of the state happens: the gate lets it in; State::check says whether it is one; the journal has it; State::apply
// does it; the reply goes. For everything but pushes of modes other than sync this is one thing at a time, the changes queueing
// for the turn, so that the order of the log is the order of the state. Only changes queue: whatever reads, beats or watches
// leases takes State's mutex at most, which is never held over a write of the log or a read of rows. So all of that goes on while
// a disk hangs.
//
// Owns: gate, turn, journal, and when steps of a sync job are due.
// Thread-safe, but for the set_…(), which come before the server listens.
class Changes {
 public:
  using Verdict = State::Verdict;

  // `name`: of the server. `settles`: on_worker_loss is shrink, so that pushes of lost workers may have to be settled.
  Changes(std::string name, bool settles, StateHolder& state, Parking& parking, Ending& ending);

  void set_journal(std::unique_ptr<Journal> journal) { journal_ = std::move(journal); }
  Journal* journal() const { return journal_.get(); }  // null: there is none
  // Done before the first push that becomes a change is logged; where it fails, so does the push.
  void set_before_training(std::function<Status()> work) { before_training_ = std::move(work); }
  void set_lossy() { lossy_ = true; }                  // what was recovered may lack acknowledged steps
  ChangeCounts& counts() { return counts_; }

  // Inside the gate for as long as it lives; where the gate is closed the call waits for the thaw instead.
  class Inside {
   public:
    Inside(Changes& changes, const CallPtr& call);
    ~Inside() {
      if (inside_) changes_.gate_.leave();
    }
    Inside(const Inside&) = delete;
    explicit operator bool() const { return inside_; }

   private:
    Changes& changes_;
    bool inside_ = false;
  };

  // The same for who makes changes that come from another server's log, in their order. After ok, leave() has to follow.
  Status enter(Deadline deadline) { return gate_.enter_before(deadline).with_context("{}", name_); }
  void leave() { gate_.leave(); }

  // The turn, or not by the deadline.
  std::unique_lock<Turn> turn(Deadline deadline) { return {turn_, deadline.when()}; }
  // What a call is told that waited too long for it.
  Status no_turn(const Call& call) const;

  // The whole of a change, up to the reply. REQUIRES: inside the gate; this thread has the turn, or it is a push that need not.
  Result<Verdict> commit(const Record& record);

  // A request that is a change, from the gate to its answer: what `answer` says, which is asked within the turn. Nothing: the
  // call waits somewhere.
  using Answer = std::function<std::optional<Outgoing>(Verdict)>;
  void change(const CallPtr& call, const Answer& answer);

  // Changes that the server decides by itself, made by `work`, which calls commit(): when the turn is free now, and otherwise not
  // at all. Returns whether.
  bool now_or_later(const std::function<void()>& work);
  // One of them, by the deadline.
  Status commit_own(wire::Method method, const std::string& header, std::span<const std::byte> payload, Deadline deadline);

  // Does `work` while no change is under way; those that arrive wait. Returns how long they did, in seconds.
  Result<double> between_changes(const std::function<Status(State&)>& work);
  // Does `work`, which is short, while no call looks at or moves the parts of the state that are not its tables.
  Status in_order(const std::function<void(State&)>& work);

  // ---- Steps of a sync job.

  // Commits those that are due, and wakes who waits for them; where the log takes no record, retry_steps() tries again. REQUIRES:
  // inside the gate; this thread has the turn.
  void advance();
  // A step may have become due, by who has not the turn: advances at once where the turn is free; otherwise the holder of the
  // turn does, by calling this when it has ended it. REQUIRES: inside the gate; this thread has not the turn.
  void step_due() { advance_due_ = true; }
  void advance_if_due();
  // Steps may be complete and not committed, after an error of the log or a restart. To be called from time to time, by one
  // thread.
  void steps_may_be_due() { steps_due_ = true; }
  void retry_steps();
  bool has_unsettled() const { return unsettled_; }  // SyncSteps::unsettled() is not empty

  // Somebody waits for the log to grow: the next change wakes Topic::log. To be called again before each look at the log.
  void await_log() { log_awaited_ = true; }
  // It is woken before the change is applied, not after: an answer waits for its follower.
  void hurry_log() { log_hurries_ = true; }

  void report_log_error(const Status& status);
  static uint32_t now_seconds();

 private:
  Status hangs() const;
  Status keep_record(const Record& record);
  void wake_log();

  const std::string name_;
  const bool settles_;
  StateHolder& state_;
  Parking& parking_;
  Ending& ending_;
  Gate gate_;
  Turn turn_;
  std::unique_ptr<Journal> journal_;  // constant once the server listens, as are the next two
  std::function<Status()> before_training_ = [] { return Status(); };
  bool lossy_ = false;
  std::atomic<bool> training_ = false;  // before_training_ is done
  ChangeCounts counts_;
  std::atomic<bool> log_awaited_ = false, log_hurries_ = false;
  std::atomic<bool> advance_due_ = false, steps_due_ = false, unsettled_ = false;
  SteadyClock::time_point retry_steps_at_;   // of the thread that calls retry_steps()
  std::atomic<int64_t> last_log_error_ = 0;  // SteadyClock's seconds
};

}  // namespace argosy::ps
