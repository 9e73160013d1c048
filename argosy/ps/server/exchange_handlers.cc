#include "argosy/ps/server/exchange_handlers.h"

#include "argosy/base/mutex.h"

namespace argosy::ps {

using Verdict = State::Verdict;

void ExchangeHandlers::gather(const CallPtr& call, State& state, const wire::GatherRequest& request) {
  const uint64_t seen = parking_.version(Topic::gather);
  changes_.change(call, [&](Verdict verdict) -> std::optional<Outgoing> {
    MutexLock lock(state.mutex());
    const uint64_t number = state.gatherings().number_of(gather_call(request));
    const auto parts = state.gatherings().parts(request.name(), number);
    lock.unlock();
    if (parts == nullptr) {
      parking_.park(Topic::gather, seen, call);
      return std::nullopt;
    }
    if (verdict == Verdict::change) parking_.wake(Topic::gather);
    wire::GatherReply reply;
    reply.set_number(number);
    std::vector<rpc::Slice> payload;
    for (const std::string& part : *parts) {
      reply.add_sizes(part.size());
      payload.push_back({part.data(), part.size(), parts});
    }
    return outgoing(reply, std::move(payload));
  });
}

void ExchangeHandlers::next_file(const CallPtr& call, State& state, const wire::NextFileRequest& request) {
  changes_.change(call, [&](Verdict) {
    const MutexLock lock(state.mutex());
    const auto file = state.file_lists().file(request);
    wire::NextFileReply reply;
    reply.set_done(true);
    if (file.ok()) reply = state.file_lists().answer(request, *file);
    return outgoing(reply);
  });
}

void ExchangeHandlers::post(const CallPtr& call, State&, const wire::PostRequest&) {
  changes_.change(call, [&](Verdict) {
    parking_.wake(Topic::mail);
    return outgoing(wire::PostReply());
  });
}

void ExchangeHandlers::take(const CallPtr& call, State& state, const wire::TakeRequest& request) {
  const uint64_t seen = parking_.version(Topic::mail);
  MutexLock lock(state.mutex());
  const auto message = state.mailboxes().take(static_cast<int>(request.caller().worker()), request.number());
  lock.unlock();
  if (!message.ok()) return call->fail(message.status());
  if (message->bytes == nullptr) return parking_.park(Topic::mail, seen, call);
  wire::TakeReply reply;
  reply.set_from(message->from);
  call->send(outgoing(reply, {{message->bytes->data(), message->bytes->size(), message->bytes}}));
}

void ExchangeHandlers::begin_operation(const CallPtr& call, State& state, const wire::BeginOperationRequest& request) {
  const uint32_t worker = request.caller().worker();
  MutexLock lock(state.mutex());
  const Status status = state.operations().check(worker, request.operation());
  const wire::BeginOperationReply reply = state.operations().find(worker, request.operation());
  lock.unlock();
  status.ok() ? call->send(outgoing(reply)) : call->fail(status);
}

void ExchangeHandlers::end_operation(const CallPtr& call, State&, const wire::EndOperationRequest&) {
  changes_.change(call, [](Verdict verdict) {
    wire::EndOperationReply reply;
    reply.set_duplicate(verdict == Verdict::duplicate);
    return outgoing(reply);
  });
}

}  // namespace argosy::ps
