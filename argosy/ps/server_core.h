#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "argosy/base/thread.h"
#include "argosy/ps/observers.h"
#include "argosy/ps/server.h"
#include "argosy/ps/server_call.h"
#include "argosy/ps/server_folder.h"
#include "argosy/ps/server_journal.h"
#include "argosy/ps/server_limits.h"
#include "argosy/ps/server_parking.h"
#include "argosy/ps/server_run.h"
#include "argosy/ps/snapshotter.h"
#include "argosy/ps/state.h"
#include "argosy/ps/turn.h"
#include "argosy/rpc/server.h"
#include "argosy/table/snapshot.h"

namespace argosy::ps {

// What is behind a server's port: handles requests against one State, logs its changes, and watches the workers' leases. Its
// Snapshotter cuts snapshots.
//
// How a change happens: gate_ lets it in; State::check says whether it is one; the journal has it; State::apply does it; the
// reply goes. For everything but pushes of modes other than sync this is one thing at a time, the changes queueing for turn_, so
// that the order of the log is the order of the state. Only changes queue: whatever reads, beats or watches leases takes State's
// mutex at most, which is never held over a write of the log or a read of rows. So all of that goes on while a disk hangs.
//
// Thread-safe.
class Core {
 public:
  explicit Core(const ServerOptions& options);
  ~Core();

  // Takes up what the directory has. Before anything else.
  Status recover();
  // Starts the threads "ps-keeper" and "ps-snapshot". `counters` are those of the port, for Stats. Before the first handle().
  void start(std::function<rpc::ServerCounters()> counters);

  void handle(rpc::Request request, rpc::Reply reply);
  // Which threads of the port a method runs on.
  static rpc::Lane lane_of(uint16_t method);

  // A change from this process, before workers come: as if a worker had sent it.
  Status import(wire::Method method, const std::string& header, std::span<const std::byte> payload);
  // The same for all that a snapshot has.
  Result<wire::LoadSnapshotReply> load_snapshot(const wire::LoadSnapshotRequest& request);
  // See Server.
  Result<bool> begin_import();
  Status end_import();
  // Takes the tables of all servers of a run and this state in place of its own. After recover(), before start().
  Status take_over(std::span<const table::Snapshot> parts, const wire::StateImage& image);
  uint64_t count_rows() const;
  State* state() const { return state_.load(); }
  bool restored() const { return restored_; }
  // After recover() has refused a run: nothing was trained in it, and a start that moves it aside loses nothing.
  bool untrained() const { return untrained_; }

  Result<bool> wait(Deadline deadline);
  // Stops the threads, answers who waits, and cuts a last snapshot if asked. After the last handle().
  Status stop(bool with_snapshot);

 private:
  using Verdict = State::Verdict;
  class InGate;
  struct ExportSession;

  // ---- server_core.cc: the way of every request.
  void dispatch(const CallPtr& call);  // whatever the handler throws, the call is answered
  void route(const CallPtr& call);
  // Whose calls a method answers besides those of workers that have compared what this process has (messages.proto: Compare).
  enum class Allow {
    workers,       // nobody's
    observers,     // of those who said Hello as observers
    not_compared,  // of other workers too: nothing is read from the tables, and nothing is published
  };
  // The state, if the caller has said Hello and may ask; else the call has been answered.
  State* admit(const CallPtr& call, const wire::Caller& caller, Allow allow = Allow::workers);
  Status check_caller(State& state, const wire::Caller& caller, Allow allow);
  Status readmit(State& state, const wire::Caller& caller);
  Status forgotten(const wire::Caller& caller) const;  // what a worker is told by a server that has lost everything
  // The request in the call's header; answers the call where it is none.
  template <typename Message>
  std::optional<Message> read(const CallPtr& call);
  // The whole of a change, up to the reply. REQUIRES: inside the gate; this thread has the turn, or it is a push that need not.
  Result<Verdict> commit(const Record& record);
  Status no_turn(const Call& call) const;  // what a call is told that waited too long for its turn
  // A request that is a change, from its first byte to its answer: what `answer` says, which is asked within the turn.
  // Nothing: the call waits somewhere.
  template <typename Message>
  using Answer = std::function<std::optional<Outgoing>(State&, const Message&, Verdict)>;
  template <typename Message>
  void change(const CallPtr& call, const Answer<Message>& answer);
  // Commits the sync steps that are due, and wakes who waits for them; where the log takes no record, ps-keeper tries again.
  // REQUIRES: inside the gate; this thread has the turn.
  void advance();
  // For who made a step due without having the turn: advances at once where the turn is free; otherwise whoever has it does,
  // by calling this when it has ended it. REQUIRES: inside the gate; this thread has not the turn.
  void advance_if_due();
  Status fatal(const Status& status);
  void report_log_error(const Status& status);
  static uint32_t now_seconds();

  // ---- server_workers.cc
  void on_hello(const CallPtr& call);
  void on_observer(const CallPtr& call, const wire::HelloRequest& hello, const std::string& caller);
  void on_heartbeat(const CallPtr& call);
  void on_goodbye(const CallPtr& call);
  void on_compare(const CallPtr& call);      // server_compare.cc
  Status check_expected(const State& state, const wire::CompareRequest& request, std::vector<int>& missing) const;
  void on_settle_loss(const CallPtr& call);  // server_losses.cc
  Status settle_loss(const CallPtr& call, const wire::SettleLossRequest& request, wire::SettleLossReply& reply);
  void add_unsettled(wire::HeartbeatReply& reply);
  void on_failure(const CallPtr& call, const wire::GoodbyeRequest& goodbye);
  Status check_hello(const wire::HelloRequest& hello, const std::string& caller) const;
  Status adopt(const wire::HelloRequest& hello, const std::string& caller);
  void keep();  // the body of "ps-keeper"
  void retry_steps();
  void watch_leases();
  void watch_waiting_keys();
  void give_up_on_workers();
  // Where the server has nothing to wait for any more: says what the job came to. REQUIRES: this thread has the turn.
  void end_if_done();
  void lose(const std::vector<int>& workers);
  void answer_waiting();
  std::vector<int> missing_for(Topic topic, const Call& call);
  Status timed_out(Topic topic, const Call& call, const std::vector<int>& missing);

  // ---- server_training.cc
  void on_push(const CallPtr& call);
  void on_leave(const CallPtr& call);
  void on_abandon(const CallPtr& call);
  void on_ledger(const CallPtr& call);
  Status check_settled(State& state, const google::protobuf::RepeatedField<uint32_t>& lost);
  wire::LedgerReply ledger_of(State& state);
  void report_pass(State& state, uint32_t round);  // once its last worker has left it
  void report_job(State& state);
  void on_step_norms(const CallPtr& call);
  void on_apply_step(const CallPtr& call);
  void on_pull_dense(const CallPtr& call);
  void on_pull_rows(const CallPtr& call);
  void on_pull_changed(const CallPtr& call);
  // Whether the position is reached; if not, the call waits for it, or has been answered.
  bool reached(const CallPtr& call, State& state, const wire::Caller& caller, bool has_min_step, Position min_step);

  // ---- server_exchange.cc
  void on_gather(const CallPtr& call);
  void on_next_file(const CallPtr& call);
  void on_post(const CallPtr& call);
  void on_take(const CallPtr& call);

  // ---- server_operations.cc
  void on_begin_operation(const CallPtr& call);
  void on_end_operation(const CallPtr& call);

  // ---- server_care.cc
  void on_init_dense(const CallPtr& call);
  void on_wait_initialised(const CallPtr& call);
  void on_import_rows(const CallPtr& call);
  void on_import_dense(const CallPtr& call);
  void on_pull_state(const CallPtr& call);
  void on_import_state(const CallPtr& call);
  void on_set_rate(const CallPtr& call);
  void on_shrink(const CallPtr& call);
  void on_export_rows(const CallPtr& call);
  Status export_piece(State& state, const wire::ExportRowsRequest& request, const CallPtr& call);
  Status send_state(State& state, const wire::PullStateRequest& request, const CallPtr& call);
  Status make_room_for_export();
  void drop_idle_exports();
  void on_stats(const CallPtr& call);
  void add_limits(State& state, wire::StatsReply& reply);

  // ---- server_snapshots.cc
  class ForSnapshots;  // what the Snapshotter sees of this
  void on_save_snapshot(const CallPtr& call);
  void on_load_snapshot(const CallPtr& call);
  void on_cancel_operation(const CallPtr& call);
  std::unique_ptr<SnapshotHost> make_snapshot_host();
  SnapshotterOptions snapshotter_options() const;
  Status log_import(bool finished);

  // ---- server_recovery.cc
  Status recover_state();
  Status recover_snapshot();
  Status restore_from(const table::Snapshot& snapshot);
  friend class LogRepair;  // reads the same directory in the same way, to find what cannot be read
  Status recover_log(const std::filesystem::path& folder);
  Status recover_hello(const Record& record);
  Status recover_run();
  RunProgress run_progress() const;  // without the number of rows
  void note_run(bool now);
  uint64_t replay_from(uint64_t first) const;
  Status replay_record(const Record& record);
  Status cannot_recover(const Status& status) const;
  Status begin_again();
  Status forget_half_import();
  Result<std::unique_ptr<State>> make_state(const JobSpec& spec, const std::string& job);

  const ServerOptions options_;
  const Durability durability_;
  const std::string name_;  // in messages: "server 0 (127.0.0.1:6170, pid 4711)"
  const uint64_t boot_;     // of this process, drawn; not 0
  std::function<rpc::ServerCounters()> counters_;
  RunGuard run_;

  ServerLimits limits_;
  Observers observers_{limits_.observers};

  Gate gate_;
  Turn turn_;
  std::atomic<bool> advance_due_ = false;  // see advance_if_due()
  std::unique_ptr<State> owned_state_;  // set once, within the turn
  std::atomic<State*> state_ = nullptr;
  std::unique_ptr<Journal> journal_;  // null: no log. Constant after recover()
  std::unique_ptr<ServerFolder> folder_;  // null: nothing is kept. Of recover(), then of ps-snapshot, then of stop()
  bool restored_ = false;             // there was something to recover. Constant after recover()
  bool untrained_ = false;            // constant after recover()
  bool lossy_ = false;                // what was recovered may lack acknowledged steps. Constant after recover()

  std::atomic<uint64_t> duplicates_ = 0;
  std::atomic<uint64_t> changes_ = 0;  // since the start
  std::atomic<uint64_t> news_ = 0;     // what a server without a log must not lose: new incarnations, first values
  uint64_t log_start_ = 0;             // where replay begins, by the snapshot that was taken up

  const Stopwatch since_start_;
  std::atomic<bool> importing_ = false;  // first values are being given; nobody is let in

  std::mutex exports_mutex_;
  std::map<uint64_t, std::shared_ptr<ExportSession>> exports_;  // guarded by exports_mutex_
  uint64_t next_export_ = 1;

  bool reported_job_ = false;  // since the last worker came; used within the turn

  std::atomic<bool> unsettled_ = false;  // SyncSteps::unsettled() is not empty
  std::atomic<bool> steps_due_ = false;  // sync: steps may be complete and are not committed
  SteadyClock::time_point retry_steps_at_;  // used by ps-keeper alone
  std::atomic<int64_t> last_log_error_ = 0;  // SteadyClock's seconds

  std::set<int> reported_silent_;  // workers whose silence was logged; used by ps-keeper alone

  std::mutex end_mutex_;
  std::condition_variable end_changed_;
  bool ended_ = false;     // guarded by end_mutex_
  bool stopping_ = false;  // guarded by end_mutex_
  Status fatal_;           // guarded by end_mutex_
  std::atomic<bool> refusing_ = false;  // stopping, or fatal

  Parking parking_;
  const std::unique_ptr<SnapshotHost> for_snapshots_;
  Snapshotter snapshotter_;
  Thread keeper_;
};

// Inside the gate for as long as it lives; where the gate is closed the call waits for the thaw instead.
class Core::InGate {
 public:
  InGate(Core& core, const CallPtr& call) : core_(core) {
    const uint64_t seen = core.parking_.version(Topic::thaw);
    inside_ = core.gate_.enter();
    if (!inside_) core.parking_.park(Topic::thaw, seen, call);
  }
  ~InGate() {
    if (inside_) core_.gate_.leave();
  }
  InGate(const InGate&) = delete;
  explicit operator bool() const { return inside_; }

 private:
  Core& core_;
  bool inside_ = false;
};

template <typename Message>
std::optional<Message> Core::read(const CallPtr& call) {
  Message message;
  const std::string& header = call->request.header;
  if (message.ParseFromArray(header.data(), static_cast<int>(header.size()))) return message;
  call->fail(Status::invalid_argument("the header of a {} from {} ({} bytes) cannot be read", Message::descriptor()->name(),
                                      call->request.peer, header.size()));
  return std::nullopt;
}

template <typename Message>
void Core::change(const CallPtr& call, const Answer<Message>& answer) {
  const auto request = read<Message>(call);
  if (!request) return;
  State* state = admit(call, request->caller());
  if (state == nullptr) return;
  const InGate inside(*this, call);
  if (!inside) return;
  const Record record = record_of(call, now_seconds());
  std::unique_lock turn(turn_, call->request.deadline.when());
  if (!turn.owns_lock()) return call->fail(no_turn(*call));
  const auto verdict = commit(record);
  std::optional<Outgoing> outgoing;
  if (verdict.ok()) outgoing = answer(*state, *request, *verdict);
  turn.unlock();
  advance_if_due();
  if (!verdict.ok()) return call->fail(verdict.status());
  if (outgoing) call->send(std::move(*outgoing));
}

}  // namespace argosy::ps
