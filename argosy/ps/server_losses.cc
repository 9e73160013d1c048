// What lost workers have left on this server, and how all servers come to the same end with it. messages.proto has the protocol.
#include "argosy/base/log.h"
#include "argosy/ps/job_spec_wire.h"
#include "argosy/ps/server_core.h"

namespace argosy::ps {

// A heartbeat waits for nobody: where the state is in use, the next one says it.
void Core::add_unsettled(wire::HeartbeatReply& reply) {
  State& state = *state_;
  const std::unique_lock lock(state.mutex(), std::try_to_lock);
  if (!lock.owns_lock()) return;
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

void Core::on_settle_loss(const CallPtr& call) {
  const auto request = read<wire::SettleLossRequest>(call);
  if (!request) return;
  State* state = admit(call, request->caller(), Allow::not_compared);
  if (state == nullptr) return;
  if (request->loss().worker() >= static_cast<uint32_t>(state->members().workers()) ||
      options_.on_worker_loss != OnWorkerLoss::shrink || !state->is_sync()) {
    return call->fail(Status::invalid_argument("{} has nothing to settle for worker {}", name_, request->loss().worker()));
  }
  const InGate inside(*this, call);
  if (!inside) return;
  wire::SettleLossReply reply;
  std::unique_lock turn(turn_, call->request.deadline.when());
  if (!turn.owns_lock()) return call->fail(no_turn(*call));
  const Status settled = settle_loss(call, *request, reply);
  turn.unlock();
  advance_if_due();
  if (!settled.ok()) return call->fail(settled);
  call->send(outgoing(reply));
}

// REQUIRES: inside the gate; this thread has the turn.
Status Core::settle_loss(const CallPtr& call, const wire::SettleLossRequest& request, wire::SettleLossReply& reply) {
  State& state = *state_;
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
    RETURN_IF_ERROR(commit({.method = wire::WORKER_LOST, .seconds = now_seconds(), .header = header}).status());
    log_warning("worker {} is given up here too: another server has lost it", worker);
    parking_.wake(Topic::gather);
  }
  const std::vector<uint64_t> batches(loss.batches().begin(), loss.batches().end());
  reply.set_has(known.window.match(batches) == Window::Match::all);
  if (request.phase() == wire::SettleLossRequest::KEEP) {
    const Position step = from_wire(loss.step());
    const std::lock_guard lock(state.mutex());
    state.sync().confirm(worker, {step.round, step.step + 1});
  } else if (request.phase() == wire::SettleLossRequest::DROP) {
    RETURN_IF_ERROR(commit(record_of(call, now_seconds())).status());
  }
  advance();
  end_if_done();
  return {};
}

}  // namespace argosy::ps
