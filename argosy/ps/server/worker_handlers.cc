#include "argosy/ps/server/worker_handlers.h"

#include <fmt/format.h>

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {

using Verdict = State::Verdict;

void WorkerHandlers::hello(const CallPtr& call, wire::HelloRequest& request) {
  const std::string caller = request.observer() ? fmt::format("observer {}", request.process())
                                                : fmt::format("worker {} ({})", request.worker(), request.process());
  Status status = adoption_.check(request, caller);
  const bool asks_run = request.asks() && request.run().empty();  // the answer says it
  if (status.ok() && !asks_run)
    status = run_.check_hello(request.run()).with_context("{} and {} do not belong together", caller, name_);
  if (!status.ok()) return call->fail(status);
  if (request.observer()) return observer(call, request, caller);
  if (adoption_.is_importing()) return call->fail(Status::unavailable("{} is being given its first values; try again", name_));
  const Changes::Inside inside(changes_, call);
  if (!inside) return;
  const int worker = static_cast<int>(request.worker());
  std::unique_lock turn = changes_.turn(call->request.deadline);
  if (!turn.owns_lock()) return call->fail(changes_.no_turn(*call));
  status = adoption_.adopt(request, caller);
  if (status.ok()) status = run_.take(request.run()).with_context("{} and {} do not belong together", caller, name_);
  if (status.ok() && state_->members().is_new(worker, request.process_id())) {
    request.set_run(run_.id());
    const std::string header = request.SerializeAsString();
    status = changes_.commit({.method = wire::HELLO, .seconds = Changes::now_seconds(), .header = header}).status();
    if (status.ok()) {
      ++changes_.counts().news;
      reports_.worker_came();
      log_info("{} has come, incarnation {}", caller, state_->members().worker(worker).incarnation);
    }
  }
  turn.unlock();
  if (state_) changes_.advance_if_due();
  if (!status.ok()) return call->fail(status);
  State& state = *state_;
  // Pushes of the incarnation before, still under way, belong to the window that this one is told.
  const uint64_t seen = parking_.version(Topic::quiet);
  if (!state.members().is_quiet(worker)) return parking_.park(Topic::quiet, seen, call);
  const Membership::Worker known = state.members().worker(worker);
  state.members().compared(worker, known.incarnation);
  wire::HelloReply reply;
  reply.set_incarnation(known.incarnation);
  *reply.mutable_window() = to_wire(known.window);
  *reply.mutable_position() = to_wire(state.position());
  for (const uint32_t table : state.tables().uninitialised()) reply.add_uninitialised(table);
  reply.set_lease_seconds(options_.lease_seconds);
  reply.set_server(name_);
  reply.set_run(run_.id());
  reply.set_boot(boot_);
  if (replication_ != nullptr) reply.set_epoch(replication_->epoch());
  reply.set_may_lose(options_.settled_durability() == Durability::snapshot);
  {
    MutexLock lock(state.mutex());
    reply.set_next_step(state.sync().next_step(worker, known.window.round()));
  }
  call->send(outgoing(reply));
}

// Before the first worker there is nothing to observe: the observer tries again. The first one also brings the run, without
// which an observer's next call would be that of a stranger.
void WorkerHandlers::observer(const CallPtr& call, const wire::HelloRequest& hello, const std::string& caller) {
  const State* state = state_.get();
  if (state == nullptr || run_.id().empty())
    return call->fail(Status::unavailable("{} serves no job yet; {} has to wait for workers", name_, caller));
  if (hello.job() != state->job() && !(hello.asks() && hello.job().empty())) {
    return call->fail(
        Status::failed_precondition("{} serves job '{}'; {} asks for job '{}'", name_, state->job(), caller, hello.job()));
  }
  call->guard = nullptr;  // the answer rests on no change, and a follower that comes back needs it
  const auto number = observers_.hello(hello.process_id());
  if (!number.ok()) return call->fail(number.status());
  wire::HelloReply reply;
  reply.set_incarnation(*number);
  *reply.mutable_position() = to_wire(state->position());
  reply.set_server(name_);
  reply.set_run(run_.id());
  if (hello.asks()) {
    reply.set_job(state->job());
    *reply.mutable_spec() = to_wire(state->spec());
    reply.set_servers(static_cast<uint32_t>(options_.servers));
    reply.set_server_index(static_cast<uint32_t>(options_.server));
  }
  call->send(outgoing(reply));
}

void WorkerHandlers::heartbeat(const CallPtr& call, State& state, const wire::HeartbeatRequest& request) {
  wire::HeartbeatReply reply;
  reply.set_boot(boot_);
  if (request.boot() != boot_) {
    *reply.mutable_window() = to_wire(state.members().worker(static_cast<int>(request.caller().worker())).window);
  }
  if (changes_.has_unsettled()) add_unsettled(state, reply);
  call->send(outgoing(reply));
}

void WorkerHandlers::goodbye(const CallPtr& call, State& state, const wire::GoodbyeRequest& request) {
  if (!request.failed().empty()) {
    // The lease of a worker that says that it has failed is over at once; ps-periodic does what on_worker_loss says.
    state.members().fail(static_cast<int>(request.caller().worker()), request.failed(), options_.lease_seconds);
    return call->send(outgoing(wire::GoodbyeReply()));
  }
  changes_.change(call, [&](Verdict) {
    changes_.advance();
    parking_.wake(Topic::gather);
    log_info("worker {} is done", request.caller().worker());
    end_if_done(state);
    return outgoing(wire::GoodbyeReply());
  });
}

void WorkerHandlers::end_if_done(State& state) {
  if (!state.members().all_done()) return;
  reports_.report_job(state, options_.nonfinite);
  if (options_.end_with_workers) ending_.end();
}

// ---- What lost workers have left on this server, and how all servers come to the same end with it; messages.proto has the
// protocol.

namespace {

void list_unsettled(State& state, wire::HeartbeatReply& reply) ARGOSY_REQUIRES(state.mutex()) {
  for (const Contribution* contribution : state.sync().unsettled()) {
    wire::PushRequest push;
    if (!push.ParseFromString(contribution->record)) continue;
    wire::UnsettledLoss* loss = reply.add_unsettled();
    loss->set_worker(contribution->worker);
    loss->set_process_id(state.members().worker(static_cast<int>(contribution->worker)).process_id);
    *loss->mutable_step() = push.step();
    *loss->mutable_batches() = push.batches();
  }
}

}  // namespace

// A heartbeat waits for nobody: where the state is in use, the next one says it.
void WorkerHandlers::add_unsettled(State& state, wire::HeartbeatReply& reply) {
  if (!state.mutex().try_lock()) return;
  list_unsettled(state, reply);
  state.mutex().unlock();
}

void WorkerHandlers::settle_loss(const CallPtr& call, State& state, const wire::SettleLossRequest& request) {
  if (request.loss().worker() >= static_cast<uint32_t>(state.members().workers()) ||
      options_.on_worker_loss != OnWorkerLoss::shrink || !state.is_sync()) {
    return call->fail(Status::invalid_argument("{} has nothing to settle for worker {}", name_, request.loss().worker()));
  }
  const Changes::Inside inside(changes_, call);
  if (!inside) return;
  wire::SettleLossReply reply;
  std::unique_lock turn = changes_.turn(call->request.deadline);
  if (!turn.owns_lock()) return call->fail(changes_.no_turn(*call));
  const Status settled = settle(call, state, request, reply);
  turn.unlock();
  changes_.advance_if_due();
  if (!settled.ok()) return call->fail(settled);
  call->send(outgoing(reply));
}

// REQUIRES: inside the gate; this thread has the turn.
Status WorkerHandlers::settle(const CallPtr& call, State& state, const wire::SettleLossRequest& request,
                              wire::SettleLossReply& reply) {
  const wire::UnsettledLoss& loss = request.loss();
  const int worker = static_cast<int>(loss.worker());
  Membership::Worker known = state.members().worker(worker);
  const bool same = known.process_id == loss.process_id() || known.process_id == 0 || loss.process_id() == 0;
  const bool lost = known.phase == Membership::Phase::lost;
  reply.set_superseded(known.phase == Membership::Phase::done || (known.phase == Membership::Phase::live && !same));
  if (reply.superseded()) return {};
  if (!lost) {  // another server has given it up; here it may still be about to push
    wire::WorkerLostRecord record;
    record.set_worker(loss.worker());
    record.set_incarnation(known.incarnation);
    const std::string header = record.SerializeAsString();
    RETURN_IF_ERROR(changes_.commit({.method = wire::WORKER_LOST, .seconds = Changes::now_seconds(), .header = header}).status());
    log_warning("worker {} is given up here too: another server has lost it", worker);
    parking_.wake(Topic::gather);
  }
  const std::vector<uint64_t> batches(loss.batches().begin(), loss.batches().end());
  reply.set_has(known.window.match(batches) == Window::Match::all);
  if (request.phase() == wire::SettleLossRequest::KEEP) {
    const Position step = from_wire(loss.step());
    const MutexLock lock(state.mutex());
    state.sync().confirm(worker, {step.round, step.step + 1});
  } else if (request.phase() == wire::SettleLossRequest::DROP) {
    RETURN_IF_ERROR(changes_.commit(record_of(call, Changes::now_seconds())).status());
  }
  changes_.advance();
  end_if_done(state);
  return {};
}

// ---- What a worker and a process that has recovered its state agree on; messages.proto has the protocol.

Status WorkerHandlers::check_expected(const State& state, const wire::CompareRequest& request, std::vector<int>& missing) const {
  if (options_.settled_durability() == Durability::snapshot) return {};
  for (int worker = 0; worker < std::min(request.expected_size(), state.members().workers()); ++worker) {
    bool whole_rounds = false;
    const uint64_t lacking = state.members().lacking(worker, from_wire(request.expected(worker)), whole_rounds);
    if (lacking == 0 && !whole_rounds) continue;
    missing.push_back(worker);
    if (state.members().is_awaited(worker)) continue;
    return Status::data_loss(
        "{} was started again without batches that it had acknowledged ({} of pass {}{}), of worker {}, which is done and cannot "
        "train them again: its log was cut short, as by a power cut (durability=wal_sync keeps what is acknowledged), or its "
        "directory was changed",
        name_, lacking, request.expected(worker).round(), whole_rounds ? ", and passes before it" : "", worker);
  }
  return {};
}

void WorkerHandlers::compare(const CallPtr& call, State& state, const wire::CompareRequest& request) {
  const int worker = static_cast<int>(request.caller().worker());
  wire::CompareReply reply;
  reply.set_boot(boot_);
  if (replication_ != nullptr) reply.set_epoch(replication_->epoch());
  if (request.boot() != boot_) {
    *reply.mutable_window() = to_wire(state.members().worker(worker).window);
    return call->send(outgoing(reply));
  }
  const uint64_t seen = parking_.version(Topic::batches);
  std::vector<int> missing;
  if (Status s = check_expected(state, request, missing); !s.ok()) return call->fail(s);
  if (!missing.empty()) return parking_.park(Topic::batches, seen, call);
  state.members().compared(worker, request.caller().incarnation());
  call->send(outgoing(reply));
}

}  // namespace argosy::ps
