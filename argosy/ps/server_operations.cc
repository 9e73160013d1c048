// Which operations of workers are done; see operations.h.
#include "argosy/ps/server_core.h"

namespace argosy::ps {

void Core::on_begin_operation(const CallPtr& call) {
  const auto request = read<wire::BeginOperationRequest>(call);
  if (!request) return;
  State* state = admit(call, request->caller());
  if (state == nullptr) return;
  const uint32_t worker = request->caller().worker();
  std::unique_lock lock(state->mutex());
  const Status status = state->operations().check(worker, request->operation());
  const wire::BeginOperationReply reply = state->operations().find(worker, request->operation());
  lock.unlock();
  status.ok() ? call->send(outgoing(reply)) : call->fail(status);
}

void Core::on_end_operation(const CallPtr& call) {
  change<wire::EndOperationRequest>(call, [](State&, const auto&, Verdict verdict) {
    wire::EndOperationReply reply;
    reply.set_duplicate(verdict == Verdict::duplicate);
    return outgoing(reply);
  });
}

}  // namespace argosy::ps
