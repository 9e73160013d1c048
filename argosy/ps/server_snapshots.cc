// What a server does for its Snapshotter, and the calls that it hands on; how first values are given as one.
#include "argosy/base/log.h"
#include "argosy/ps/server_core.h"

namespace argosy::ps {
namespace {

constexpr double kCloseSeconds = 60;   // changes under way end in milliseconds, unless the disk hangs
constexpr double kLoadSeconds = 1800;  // for a snapshot of any size

}  // namespace

class Core::ForSnapshots final : public SnapshotHost {
 public:
  explicit ForSnapshots(Core& core) : core_(core) {}

  State* state() override { return core_.state_.load(); }
  table::Log* log() override { return core_.journal_ == nullptr ? nullptr : &core_.journal_->log(); }
  uint64_t changes() const override { return core_.changes_; }
  uint64_t news() const override { return core_.news_; }

  Result<double> between_changes(const std::function<Status(State&)>& work) override {
    Stopwatch watch;
    RETURN_IF_ERROR(core_.gate_.close(Deadline::after_seconds(kCloseSeconds)));
    const Status status = work(*core_.state_);
    const double seconds = watch.seconds();
    core_.gate_.open();
    core_.parking_.wake(Topic::thaw);
    if (!status.ok()) return status;
    return seconds;
  }

  // Calls that change nothing that lasts still move things in the state, such as which letters have arrived.
  Status in_order(const std::function<void(State&)>& work) override {
    std::unique_lock turn(core_.turn_, Deadline::after_seconds(kCloseSeconds).when());
    if (!turn.owns_lock()) return hangs();
    const std::lock_guard lock(core_.state_.load()->mutex());
    work(*core_.state_);
    return {};
  }

  Status commit(wire::Method method, const std::string& header) override {
    RETURN_IF_ERROR(core_.gate_.enter_before(Deadline::after_seconds(kCloseSeconds)));
    Status status = hangs();
    if (std::unique_lock turn(core_.turn_, Deadline::after_seconds(kCloseSeconds).when()); turn.owns_lock())
      status = core_.commit({.method = method, .seconds = now_seconds(), .header = header}).status();
    core_.gate_.leave();
    return status;
  }

  void values_changed() override { core_.parking_.wake(Topic::initialised); }
  void idle() override { core_.note_run(false); }

 private:
  Status hangs() const {
    return Status::unavailable("{}: changes under way were not done in {} s; its disk may hang", core_.name_, kCloseSeconds);
  }

  Core& core_;
};

std::unique_ptr<SnapshotHost> Core::make_snapshot_host() { return std::make_unique<ForSnapshots>(*this); }

SnapshotterOptions Core::snapshotter_options() const {
  return {.directory = options_.directory,
          .server = options_.server,
          .servers = options_.servers,
          .durability = durability_,
          .snapshot_seconds = options_.snapshot_seconds,
          .log_limit_bytes = options_.log_limit_bytes,
          .roots = options_.snapshot_roots};
}

void Core::on_save_snapshot(const CallPtr& call) {
  const auto request = read<wire::SaveSnapshotRequest>(call);
  if (request && admit(call, request->caller()) != nullptr) snapshotter_.save(*request, call);
}

void Core::on_load_snapshot(const CallPtr& call) {
  const auto request = read<wire::LoadSnapshotRequest>(call);
  if (request && admit(call, request->caller()) != nullptr) snapshotter_.load(*request, call);
}

void Core::on_cancel_operation(const CallPtr& call) {
  const auto request = read<wire::CancelOperationRequest>(call);
  if (!request || admit(call, request->caller()) == nullptr) return;
  wire::CancelOperationReply reply;
  reply.set_cancelled(snapshotter_.cancel(*request));
  call->send(outgoing(reply));
}

Result<wire::LoadSnapshotReply> Core::load_snapshot(const wire::LoadSnapshotRequest& request) {
  if (state_.load() == nullptr) return Status::failed_precondition("{} has no job yet whose tables could be filled", name_);
  return snapshotter_.load(request, Deadline::after_seconds(kLoadSeconds));
}

// ---- First values.

Result<bool> Core::begin_import() {
  if (!importing_) return false;
  RETURN_IF_ERROR(log_import(false));
  return true;
}

Status Core::end_import() {
  RETURN_IF_ERROR(log_import(true));
  importing_ = false;
  return {};
}

Status Core::log_import(bool finished) {
  wire::ImportRecord record;
  record.set_finished(finished);
  return import(wire::IMPORT, record.SerializeAsString(), {});
}

}  // namespace argosy::ps
