#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/ps/state/delta_base.h"
#include "argosy/ps/state/file_lists.h"
#include "argosy/ps/state/gatherings.h"
#include "argosy/ps/state/limit.h"
#include "argosy/ps/state/mailboxes.h"
#include "argosy/ps/state/membership.h"
#include "argosy/ps/state/name_count.h"
#include "argosy/ps/state/operations.h"
#include "argosy/ps/state/state_cut.h"
#include "argosy/ps/state/state_sync.h"
#include "argosy/ps/state/state_tables.h"

namespace argosy::ps {

// A change of a server's state: a request as it arrived, or something that the server decided by itself. What a log holds.
struct Record {
  wire::Method method = wire::UNKNOWN;
  uint32_t seconds = 0;      // since 1970, when it was decided
  std::string_view header;   // the request, serialised
  std::span<const std::byte> payload;
  std::shared_ptr<const void> owner;  // keeps the payload; without one the payload is copied where it is kept
};

struct StateOptions {
  std::string job;
  TablesOptions tables;
  GatheringLimits gatherings;
  MailLimits mail;
  Limit* names = nullptr;  // of gatherings and file lists together; null: no limit. It outlives the state
  // It is fed another server's records, and no worker calls: messages between workers, and what each has not been told of geo
  // tables, are not kept, because nobody would ever take them.
  bool follows = false;
  bool may_lose = false;  // a restart may lose batches that were acknowledged: a pass that lacks some can be left all the same
};

// Everything that one server holds for one job, as a machine that is fed records: the same records give the same state, live
// or from a log. (In the modes without sync, pushes that were applied side by side may have reached a row in another order
// than the log has them.)
//
// Threads: check() and apply() are called by one thread at a time, each apply() after its check() and with nothing else in
// between; except that pushes in modes other than sync may run beside each other and beside everything else. What is marked
// "any thread" may too. What workers pass each other is looked at with mutex() held; check() and apply() take it by themselves,
// and never while a table works: rows may come from a disk.
class State {
 public:
  // REQUIRES: spec.check() is ok.
  static Result<std::unique_ptr<State>> make(const JobSpec& spec, const StateOptions& options);

  enum class Verdict {
    change,     // log it, then apply() it
    duplicate,  // it is done already
    late,       // a push of a step that was applied without this worker
  };

  // Whether a live request may be done, and would change anything. A push that may is reserved: apply() or abandon_push()
  // has to follow.
  Result<Verdict> check(const Record& record);
  void abandon_push(const Record& record);

  // Does it. What check() found to be a change can be applied: both ask the same valid_…() functions, and a record that is
  // refused changes nothing. So an error means a disk that fails or, from a log, a record that no server of this version wrote:
  // this process must not go on.
  Status apply(const Record& record);

  const std::string& job() const { return job_; }                    // any thread
  const JobSpec& spec() const { return tables_->spec(); }            // any thread
  Tables& tables() { return *tables_; }                              // any thread
  const Tables& tables() const { return *tables_; }                  // any thread
  Membership& members() { return *members_; }                        // any thread
  const Membership& members() const { return *members_; }            // any thread
  Position position() const { return unpack(position_.load()); }     // any thread
  uint64_t batches() const { return batches_.load(); }               // any thread; applied or held, of all workers
  uint64_t pushes() const { return pushes_.load(); }                 // any thread
  uint64_t steps() const { return steps_; }                          // sync steps applied
  // How many records have been applied since the job began: the same in every process that was fed the same ones. Any thread.
  uint64_t version() const { return version_.load(); }
  // The counter that learning rates follow. Any thread.
  uint64_t rate_step() const { return spec().mode == Mode::sync ? steps_.load() : batches_.load(); }
  bool is_sync() const { return spec().mode == Mode::sync; }         // any thread

  Mutex& mutex() const ARGOSY_THREAD_ANNOTATION(lock_returned(mutex_)) { return mutex_; }
  SyncSteps& sync() ARGOSY_REQUIRES(mutex_) { return sync_; }
  Gatherings& gatherings() ARGOSY_REQUIRES(mutex_) { return gatherings_; }
  FileLists& file_lists() ARGOSY_REQUIRES(mutex_) { return file_lists_; }
  Mailboxes& mailboxes() ARGOSY_REQUIRES(mutex_) { return mailboxes_; }
  const Operations& operations() const ARGOSY_REQUIRES(mutex_) { return operations_; }
  // Tells the limits of what workers pass each other how much there is.
  void measure() const ARGOSY_REQUIRES(mutex_);
  DeltaBase& delta_base() { return delta_base_; }
  const DeltaBase& delta_base() const { return delta_base_; }
  // First values are being given: see wire::ImportRecord.
  bool importing() const { return importing_; }  // any thread
  // The answer to the load of a snapshot with this id; null: it is not known.
  const wire::LoadSnapshotReply* loaded(uint64_t id) const;
  void set_loaded(uint64_t id, const wire::LoadSnapshotReply& reply);
  // The id of the last one; 0: there was none. Any thread.
  uint64_t last_loaded() const { return last_loaded_.load(); }

  // After skip_lost_steps(): publishes the new position.
  void publish_position() ARGOSY_REQUIRES(mutex_) { position_.store(pack(sync_.position())); }

  // All but the tables' rows and values. The caller serialises it with everything that changes the state.
  StateCut cut() const ARGOSY_REQUIRES(mutex_);
  // Takes an image, whatever was there before. Call it after the tables have their rows. What may be called by any thread, or
  // with mutex(), may be meanwhile, and sees parts of the old and of the new.
  Status restore(const wire::StateImage& image);
  // After a job whose workers are all done: the next one starts from its tables, with everything else as new.
  Status begin_again();

 private:
  State(const StateOptions& options, std::unique_ptr<Tables> tables, std::unique_ptr<Membership> members);

  // Whether a record can be applied to this state, for every caller alike: check() before it is logged, apply() afterwards and
  // from a log.
  template <typename Message>
  Result<Message> valid_call(const Record& record) const;  // a request whose worker exists
  struct ValidPush {
    wire::PushRequest request;
    std::vector<TableGradient> gradients;  // over the record's payload
  };
  Result<wire::HelloRequest> valid_hello(const Record& record) const;
  Result<ValidPush> valid_push(const Record& record) const;
  Result<wire::LeaveRequest> valid_leave(const Record& record) const;
  Result<wire::EndOperationRequest> valid_end_operation(const Record& record) const ARGOSY_REQUIRES(mutex_);
  Result<wire::ApplyStepRequest> valid_apply_step(const Record& record) const ARGOSY_REQUIRES(mutex_);
  Result<wire::InitDenseRequest> valid_init_dense(const Record& record) const;
  Result<TableGradient> valid_import_rows(const Record& record) const;
  Result<wire::ImportDenseRequest> valid_import_dense(const Record& record) const;
  struct ValidState {
    wire::ImportStateRequest request;
    TableGradient part;
    bool held = true;  // false: this server has no part of the table
  };
  Result<ValidState> valid_import_state(const Record& record) const;
  Result<wire::SetRateRequest> valid_set_rate(const Record& record) const;
  Result<wire::ShrinkRequest> valid_shrink(const Record& record) const;
  Result<wire::GatherRequest> valid_gather(const Record& record) const;
  Result<wire::NextFileRequest> valid_next_file(const Record& record) const ARGOSY_REQUIRES(mutex_);
  Result<wire::PostRequest> valid_post(const Record& record) const;
  Result<wire::WorkerLostRecord> valid_worker_lost(const Record& record) const;
  Result<wire::SettleLossRequest> valid_settle_loss(const Record& record) const;

  // What only a live request is asked: whether its caller still is who it was when the call began, and whether it is news.
  Status check_fence(const wire::Caller& caller) const;
  Result<Verdict> check_push(const Record& record);
  Result<Verdict> admit_push(const wire::PushRequest& push);
  Result<Verdict> admit_sync_push(const wire::PushRequest& push) ARGOSY_REQUIRES(mutex_);
  Status check_step(const wire::PushRequest& push) const ARGOSY_REQUIRES(mutex_);
  Result<Verdict> check_leave(const Record& record) const;
  Result<Verdict> check_apply_step(const Record& record) const;
  Result<Verdict> check_init_dense(const Record& record) const;
  Result<Verdict> check_import_rows(const Record& record) const;
  Result<Verdict> check_import_dense(const Record& record) const;
  Result<Verdict> check_import_state(const Record& record) const;
  Result<Verdict> check_set_rate(const Record& record) const;
  Result<Verdict> check_shrink(const Record& record) const;
  Result<Verdict> check_end_operation(const Record& record) const ARGOSY_REQUIRES(mutex_);
  Result<Verdict> check_gather(const Record& record) const ARGOSY_REQUIRES(mutex_);
  Result<Verdict> check_next_file(const Record& record) const ARGOSY_REQUIRES(mutex_);
  Result<Verdict> check_post(const Record& record) const ARGOSY_REQUIRES(mutex_);
  Result<Verdict> check_goodbye(const Record& record) const;
  Result<Verdict> check_settle_loss(const Record& record) const;

  // Records that are about tables, which work without mutex_; the others are checked and applied with it held.
  static bool is_of_tables(wire::Method method);
  Result<Verdict> check_of_tables(const Record& record);
  Result<Verdict> check_of_workers(const Record& record) ARGOSY_REQUIRES(mutex_);
  Status apply_to_tables(const Record& record);
  Status apply_to_workers(const Record& record) ARGOSY_REQUIRES(mutex_);

  Status apply_hello(const Record& record) ARGOSY_REQUIRES(mutex_);
  Status apply_push(const Record& record);
  Status apply_leave(const Record& record) ARGOSY_REQUIRES(mutex_);
  Status apply_step(const Record& record);
  Status apply_init_dense(const Record& record);
  Status apply_import_rows(const Record& record);
  Status apply_import_dense(const Record& record);
  Status apply_import_state(const Record& record);
  Status apply_set_rate(const Record& record);
  Status apply_shrink(const Record& record);
  Status shrink_table(size_t table, const wire::ShrinkRequest& request, uint32_t seconds, wire::ShrinkReply& reply);
  Status apply_end_operation(const Record& record) ARGOSY_REQUIRES(mutex_);
  Status apply_gather(const Record& record) ARGOSY_REQUIRES(mutex_);
  Status apply_next_file(const Record& record) ARGOSY_REQUIRES(mutex_);
  Status apply_post(const Record& record) ARGOSY_REQUIRES(mutex_);
  Status apply_goodbye(const Record& record) ARGOSY_REQUIRES(mutex_);
  Status apply_worker_lost(const Record& record) ARGOSY_REQUIRES(mutex_);
  Status apply_settle_loss(const Record& record) ARGOSY_REQUIRES(mutex_);
  Status apply_saved(const Record& record);
  Status apply_import(const Record& record);
  wire::StateImage image() const ARGOSY_REQUIRES(mutex_);  // the head of cut()
  void members_changed() ARGOSY_REQUIRES(mutex_);          // somebody is no longer waited for
  Status check_worker(uint64_t worker) const;

  static uint64_t pack(Position position) { return uint64_t{position.round} << 32 | position.step; }
  static Position unpack(uint64_t packed) { return {static_cast<uint32_t>(packed >> 32), static_cast<uint32_t>(packed)}; }

  const std::string job_;
  const bool may_lose_, follows_;
  const std::unique_ptr<Tables> tables_;
  const std::unique_ptr<Membership> members_;
  mutable Mutex mutex_;
  SyncSteps sync_ ARGOSY_GUARDED_BY(mutex_);
  NameCount names_ ARGOSY_GUARDED_BY(mutex_);  // of gatherings_ and file_lists_
  Gatherings gatherings_ ARGOSY_GUARDED_BY(mutex_);
  FileLists file_lists_ ARGOSY_GUARDED_BY(mutex_);
  Mailboxes mailboxes_ ARGOSY_GUARDED_BY(mutex_);
  Operations operations_ ARGOSY_GUARDED_BY(mutex_);
  // Of the thread that has the turn of changes, as check() and apply() are.
  DeltaBase delta_base_;
  std::deque<wire::Loaded> loaded_;  // the last ones
  std::atomic<bool> importing_ = false;
  std::atomic<uint64_t> position_ = 0;  // of sync_, packed
  std::atomic<uint64_t> steps_ = 0;
  std::atomic<uint64_t> batches_ = 0;
  std::atomic<uint64_t> pushes_ = 0;
  std::atomic<uint64_t> version_ = 0;
  std::atomic<uint64_t> last_loaded_ = 0;  // of loaded_
};

inline std::span<const uint64_t> batches_of(const wire::PushRequest& push) {
  return {reinterpret_cast<const uint64_t*>(push.batches().data()), static_cast<size_t>(push.batches_size())};
}

// The request in a record's header; `what` names it where the bytes are none.
template <typename Message>
Result<Message> parse(const Record& record) {
  Message message;
  if (message.ParseFromArray(record.header.data(), static_cast<int>(record.header.size()))) return message;
  return Status::invalid_argument("the header of a {} ({} bytes) cannot be read", Message::descriptor()->name(),
                                  record.header.size());
}

}  // namespace argosy::ps
