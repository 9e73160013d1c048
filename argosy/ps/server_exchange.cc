#include "argosy/ps/server_core.h"

namespace argosy::ps {

void Core::on_gather(const CallPtr& call) {
  const uint64_t seen = parking_.version(Topic::gather);
  change<wire::GatherRequest>(call,
                              [&](State& state, const wire::GatherRequest& request, Verdict verdict) -> std::optional<Outgoing> {
                                const uint64_t number = state.exchange().number_of(gather_call(request));
                                const auto parts = state.exchange().parts(request.name(), number);
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

void Core::on_next_file(const CallPtr& call) {
  change<wire::NextFileRequest>(call,
                                [&](State& state, const wire::NextFileRequest& request, Verdict) -> std::optional<Outgoing> {
                                  const auto file = state.exchange().file(request);
                                  wire::NextFileReply reply;
                                  reply.set_done(!file.ok() || file->kind == Exchange::File::done);
                                  if (file.ok()) reply.set_file(file->place);
                                  return outgoing(reply);
                                });
}

void Core::on_post(const CallPtr& call) {
  change<wire::PostRequest>(call, [this](State&, const auto&, Verdict) {
    parking_.wake(Topic::mail);
    return outgoing(wire::PostReply());
  });
}

void Core::on_take(const CallPtr& call) {
  const auto request = read<wire::TakeRequest>(call);
  if (!request) return;
  State* state = admit(call, request->caller());
  if (state == nullptr) return;
  const uint64_t seen = parking_.version(Topic::mail);
  std::unique_lock lock(state_mutex_);
  const auto letter = state->exchange().letter(static_cast<int>(request->caller().worker()), request->number());
  lock.unlock();
  if (!letter.ok()) return call->fail(letter.status());
  if (letter->bytes == nullptr) return parking_.park(Topic::mail, seen, call);
  wire::TakeReply reply;
  reply.set_from(letter->from);
  call->send(outgoing(reply, {{letter->bytes->data(), letter->bytes->size(), letter->bytes}}));
}

}  // namespace argosy::ps
