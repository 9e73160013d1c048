#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/ps/spec/pass_book.h"
#include "argosy/ps/spec/window.h"

namespace argosy::ps {

// Who the workers of a job are to one server: their incarnations, which of their batches are here, and when they were last
// heard of. What a worker does is accepted from its newest incarnation only.
//
// The changes named "record" are those of the log: the same records in the same order give the same state. The rest (times,
// pushes under way) belongs to the running process.
//
// Thread-safe: one lock, held for a few instructions.
class Membership {
 public:
  enum class Phase { not_seen, live, lost, done };

  // What a snapshot keeps of a worker.
  struct Worker {
    Phase phase = Phase::not_seen;
    uint64_t incarnation = 0;  // 0: never seen
    uint64_t process_id = 0;   // of the process that has the incarnation
    std::string process;       // "host:pid"
    Window window;
    std::set<uint64_t> given_up = {};  // batches that were here and were dropped because the worker was lost
  };

  explicit Membership(int workers);

  int workers() const ARGOSY_UNCHECKED_LOCKING { return static_cast<int>(members_.size()); }  // constant
  Worker worker(int index) const;
  double silent_seconds(int index) const;
  double quiet_seconds() const;  // since anybody was heard of, or since the beginning

  // ---- Records. REQUIRES, for all: 0 <= worker < workers().

  // A process begins as `worker`; its incarnation is returned.
  uint64_t hello(int worker, uint64_t process_id, const std::string& process);
  void goodbye(int worker);
  void lose(int worker);
  // The worker has finished the round. With a ledger what is missing here (see compare()) is recorded as lost.
  void leave(int worker, uint32_t round, const wire::PassLedger* ledger = nullptr);
  void add(int worker, std::span<const uint64_t> batches);
  // The batches of a lost worker are dropped: its window is without them, and they count as given up until somebody sends them
  // again. `samples` and `lines` are those in the batches.
  void give_up(int worker, std::span<const uint64_t> batches, uint64_t samples = 0, const FileLines& lines = {});
  void restore(int worker, const Worker& saved);

  // ---- What the workers' passes came to; PassBook has it.
  wire::WorkerLedger ledger(int worker) const;
  void restore_ledger(int worker, const wire::WorkerLedger& saved);
  std::optional<wire::PassRecord> finished(int worker, uint32_t round) const;  // none: it has not left the round
  // Compares what the worker says it has read with what is here; the error names what is missing. With `may_lose` only what is
  // here and was not read is an error.
  Status check_pass(int worker, uint32_t round, const wire::PassLedger& ledger, bool may_lose) const;
  // A worker leaves a round before it pushes to the next one: where that is not known here, this server has lost the end of the
  // round.
  Status check_round(int worker, std::span<const uint64_t> batches) const;

  // ---- The running process.

  // Whether the caller is the newest incarnation; also keeps its lease. `aborted` and what happened for an older one,
  // failed_precondition for one that is newer than what is known here. `compared`: whether it has compared(), too.
  Status check(uint64_t worker, uint64_t incarnation, bool* compared = nullptr);

  // The worker's process knows what this process has of its batches (messages.proto: Compare). It is forgotten in a restart.
  void compared(int worker, uint64_t incarnation);
  // How many batches of `expected` are not here, of those that anybody can send again: what was given up by choice is left out.
  // `whole_rounds` as in Window::lacks.
  uint64_t lacking(int worker, const Window& expected, bool& whole_rounds) const;

  // Takes a caller for who it says where its incarnation is newer than what is known here: a process before this one gave it out,
  // and the record of it is lost. False: it is not newer, or there is no such worker.
  bool adopt(uint64_t worker, uint64_t incarnation);

  // Whether a hello of this process would be a new incarnation.
  bool is_new(int worker, uint64_t process_id) const;

  // As check(), and no sign of life. For a call that was admitted before, under whatever keeps hello() away meanwhile.
  Status check_fence(uint64_t worker, uint64_t incarnation) const;

  enum class Admission { go, duplicate };
  // A push of these batches begins. After `go` the caller calls end_push(). `aborted`: the incarnation is no longer the newest,
  // or the worker is lost. So from the moment of a hello() no push of the process before begins, and once is_quiet() the window
  // is all that it did. `unavailable`: the same batches are under way; `internal`: some of them are here and some are not, which
  // no client sends.
  Result<Admission> begin_push(int worker, uint64_t incarnation, std::span<const uint64_t> batches);
  // It was applied, with so many samples, of these lines, and the window has the batches from now on; or it was not.
  void end_push(int worker, std::span<const uint64_t> batches, bool applied, uint64_t samples = 0, const FileLines& lines = {});
  // Whether no push of the worker is under way: what its window says is then all of it.
  bool is_quiet(int worker) const;

  // Workers to be waited for: neither lost nor done.
  bool is_awaited(int worker) const;
  bool is_lost(int worker) const;
  bool all_done() const;  // some have said goodbye, and nobody is awaited any more

  // Gives every live worker a new lease, as after a restart.
  void touch_all();
  // The worker's process has failed, says the process: as if nothing had been heard of it for so long, whatever comes of it until
  // its next hello.
  void fail(int worker, const std::string& why, double silent_seconds);
  // The same for a worker whose process lives on: it has met an error in a round.
  void abandon(int worker, const std::string& why, double silent_seconds);
  // Whether nobody is left who trains, and at least one worker has failed for certain: each is done, lost, has said `seconds` ago
  // or earlier that it has failed, or is silent for that long; and one is lost, has said it, or is silent for twice as long, as
  // one that was killed. False where all are done, and while some have not come.
  bool all_failed(double seconds) const;
  // Live workers that were silent for longer than `seconds`.
  std::vector<int> silent(double seconds) const;

  // "worker 1 (host:4711), silent for 12.3 s", or ", which ended with status 1", or "worker 1, which never came", for messages.
  std::string describe(int worker) const;

 private:
  struct Member {
    Worker worker;
    SteadyClock::time_point heard;
    std::string failed;  // what its process said at its end, or of its error; empty: nothing
    std::optional<SteadyClock::time_point> abandoned;  // in place of `heard`, whatever is heard
    std::optional<SteadyClock::time_point> failed_at;  // when its process said that it ends
    PassBook book;
    std::set<uint64_t> under_way;
    uint64_t compared = 0;  // the incarnation that has
  };

  Status fence(uint64_t worker, uint64_t incarnation) const ARGOSY_REQUIRES(mutex_);  // REQUIRES: the worker exists

  mutable Mutex mutex_;
  std::vector<Member> members_ ARGOSY_GUARDED_BY(mutex_);  // the size is constant
};

std::string_view phase_name(Membership::Phase phase);

}  // namespace argosy::ps
