// A server that follows another one: which methods it answers, and what it does from time to time.
#include "argosy/ps/server/server_core.h"

namespace argosy::ps {

template <typename Handler>
auto Core::from_version(Handler handler) {
  return [this, handler](const CallPtr& call, State& newest, const auto& request) {
    const std::shared_ptr<State> kept = versions_.answering();
    handler(call, kept == nullptr ? newest : *kept, request);
  };
}

Status Core::read_only() const {
  return Status::failed_precondition("{} is a read-only follower of {}; what changes anything is sent there", name_,
                                     follower_->primary());
}

void Core::add_follower_methods() {
  using enum rpc::Lane;
  using enum Allow;
  methods_.add_open<wire::HelloRequest>(
      wire::HELLO, read, [this](const CallPtr& call, wire::HelloRequest& request) { greet_reader(call, request); });
  const auto pull_rows = [this](const CallPtr& call, State& state, const wire::PullRowsRequest& request) {
    request.create() ? call->fail(read_only()) : training_.pull_rows(call, state, request);
  };
  methods_.add<wire::PullRowsRequest>(wire::PULL_ROWS, read, observers, from_version(pull_rows));
  methods_.add<wire::PullDenseRequest>(wire::PULL_DENSE, read, observers,
                                       from_version(by(training_, &TrainingHandlers::pull_dense)));
  methods_.add<wire::PullStateRequest>(wire::PULL_STATE, read, observers, from_version(by(tables_, &TableHandlers::pull_state)));
  methods_.add<wire::ExportRowsRequest>(wire::EXPORT_ROWS, read, observers,
                                        from_version(by(tables_, &TableHandlers::export_rows)));
  methods_.add<wire::LedgerRequest>(wire::LEDGER, read, observers, from_version(by(training_, &TrainingHandlers::ledger)));
  methods_.add<wire::StatsRequest>(wire::STATS, read, observers, from_version(by(stats_, &StatsHandler::stats)));
  const auto versions = [this](const CallPtr& call, State& newest, const wire::VersionsRequest& request) {
    answer_versions(call, newest, request);
  };
  methods_.add<wire::VersionsRequest>(wire::VERSIONS, read, observers, versions);
  methods_.refuse_others(read_only());
}

// Leases, and steps that are due, are the other server's; here nobody is ever lost.
void Core::add_follower_tasks() {
  periodic_work_.add(0, [this](double) {
    if (!state_) return;
    state_->members().touch_all();
    waiting_.answer_due(*state_);
  });
  periodic_work_.add(10, [this](double) {
    exports_.drop_idle();
    versions_.free_dropped([this] { return exports_.empty(); });
  });
}

void Core::answer_versions(const CallPtr& call, State& newest, const wire::VersionsRequest& request) {
  const auto act = [&]() -> Status {
    switch (request.action()) {
      case wire::VersionsRequest::KEEP:
        if (options_.mem_limit_bytes != 0)
          return Status::unimplemented("{} has a mem_limit: only a follower with all rows in memory keeps versions", name_);
        return versions_.keep(request.name(), newest, follower_->applying());
      case wire::VersionsRequest::DROP: return versions_.drop(request.name());
      case wire::VersionsRequest::ANSWER_FROM: return versions_.answer_from(request.name());
      default: return {};
    }
  };
  if (Status s = act(); !s.ok()) return call->fail(s);
  wire::VersionsReply reply;
  versions_.report(reply);
  reply.set_newest(newest.version());
  call->send(outgoing(reply));
}

void Core::greet_reader(const CallPtr& call, wire::HelloRequest& request) {
  if (!request.observer()) return call->fail(read_only());
  if (!state_) {
    return call->fail(Status::unavailable("{} has not caught up with {} yet; it waits for {}", name_, follower_->primary(),
                                          follower_->report().waits_for()));
  }
  workers_.hello(call, request);
}

}  // namespace argosy::ps
