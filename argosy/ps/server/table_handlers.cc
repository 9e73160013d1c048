#include "argosy/ps/server/table_handlers.h"

#include "argosy/ps/server/answer_size.h"

namespace argosy::ps {

using Verdict = State::Verdict;

void TableHandlers::init_dense(const CallPtr& call, State&, const wire::InitDenseRequest&) {
  changes_.change(call, [this](Verdict verdict) {
    parking_.wake(Topic::initialised);
    if (verdict == Verdict::change) ++changes_.counts().news;
    wire::InitDenseReply reply;
    reply.set_had_values(verdict == Verdict::duplicate);
    return outgoing(reply);
  });
}

void TableHandlers::wait_initialised(const CallPtr& call, State& state, const wire::WaitInitialisedRequest&) {
  const uint64_t seen = parking_.version(Topic::initialised);
  if (!state.tables().uninitialised().empty()) return parking_.park(Topic::initialised, seen, call);
  call->send(outgoing(wire::WaitInitialisedReply()));
}

void TableHandlers::import_rows(const CallPtr& call, State&, const wire::ImportRowsRequest&) {
  changes_.change(call, [](Verdict) { return outgoing(wire::ImportRowsReply()); });
}

void TableHandlers::import_dense(const CallPtr& call, State&, const wire::ImportDenseRequest&) {
  changes_.change(call, [this](Verdict) {
    parking_.wake(Topic::initialised);
    return outgoing(wire::ImportDenseReply());
  });
}

void TableHandlers::import_state(const CallPtr& call, State&, const wire::ImportStateRequest&) {
  changes_.change(call, [](Verdict) { return outgoing(wire::ImportStateReply()); });
}

void TableHandlers::pull_state(const CallPtr& call, State& state, const wire::PullStateRequest& request) {
  if (const Status s = send_state(state, request, call); !s.ok()) call->fail(s);
}

Status TableHandlers::send_state(State& state, const wire::PullStateRequest& request, const CallPtr& call) {
  Tables& tables = state.tables();
  ASSIGN_OR_RETURN(const auto part, tables.lay_out_state(request.table(), request.count(),
                                                         {call->request.payload.data(), call->request.payload.size()}));
  wire::PullStateReply reply;
  table::DenseTable* dense = tables.is_sparse(part.table) ? nullptr : tables.dense(part.table);
  if (!tables.is_sparse(part.table) && dense == nullptr) {
    call->send(outgoing(reply));
    return {};
  }
  ASSIGN_OR_RETURN(const uint64_t numbers, tables.state_numbers(part.table, request.state(), part.keys.size()));
  RETURN_IF_ERROR(AnswerSize(limits_.answer).add(numbers, sizeof(float)));
  std::vector<float> values(numbers);
  RETURN_IF_ERROR(dense != nullptr ? dense->copy_state(request.state(), values)
                                   : tables.sparse(part.table).copy_state(request.state(), part.keys, values));
  reply.set_held(true);
  call->send(outgoing(reply, {rpc::Slice::own(std::move(values))}));
  return {};
}

void TableHandlers::set_rate(const CallPtr& call, State&, const wire::SetRateRequest&) {
  changes_.change(call, [](Verdict) { return outgoing(wire::SetRateReply()); });
}

void TableHandlers::shrink(const CallPtr& call, State& state, const wire::ShrinkRequest& request) {
  changes_.change(call, [&](Verdict) {
    const wire::ShrinkReply* reply = state.delta_base().answer(request);
    return outgoing(reply == nullptr ? wire::ShrinkReply() : *reply);
  });
}

void TableHandlers::export_rows(const CallPtr& call, State& state, const wire::ExportRowsRequest& request) {
  auto piece = exports_.piece(state.tables(), request);
  piece.ok() ? call->send(std::move(*piece)) : call->fail(piece.status());
}

}  // namespace argosy::ps
