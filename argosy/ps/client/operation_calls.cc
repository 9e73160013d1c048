#include "argosy/ps/client/operation_calls.h"

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/ps/client/reply.h"

namespace argosy::ps {
namespace {

constexpr int kMemoryServer = 0;  // remembers the operations of all workers
constexpr size_t kMostAnswerBytes = size_t{1} << 20;  // OperationLimits::answer_bytes

}  // namespace

// Positions only grow: what was done at earlier ones need not be told apart any more.
wire::Operation OperationCalls::with_occurrence(const Operation& operation) {
  wire::Operation numbered;
  numbered.set_kind(operation.kind);
  numbered.set_target(operation.target);
  numbered.set_position(operation.position);
  MutexLock lock(mutex_);
  if (position_ != operation.position) done_.clear();
  position_ = operation.position;
  const auto known = done_.find({operation.kind, operation.target});
  numbered.set_occurrence(known == done_.end() ? 0 : known->second);
  return numbered;
}

void OperationCalls::count_operation(const wire::Operation& operation) {
  MutexLock lock(mutex_);
  if (position_ == operation.position()) done_[{operation.kind(), operation.target()}] = operation.occurrence() + 1;
}

Status OperationCalls::end_operation(const wire::Operation& operation, const std::string& answer) {
  wire::EndOperationRequest request;
  *request.mutable_operation() = operation;
  if (answer.size() <= kMostAnswerBytes) request.set_answer(answer);
  RETURN_IF_ERROR(
      servers().call(kMemoryServer, session_.message(wire::END_OPERATION, kMemoryServer, std::move(request))).status());
  if (answer.size() > kMostAnswerBytes)
    log_warning("{} '{}' is done; its answer of {} bytes is not kept for a worker that is started again", operation.kind(),
                operation.target(), answer.size());
  return {};
}

Result<OperationOutcome> OperationCalls::once(const Operation& operation, const OperationBody& body) {
  const wire::Operation numbered = with_occurrence(operation);
  wire::BeginOperationRequest request;
  *request.mutable_operation() = numbered;
  ASSIGN_OR_RETURN(const auto received,
                   servers().call(kMemoryServer, session_.message(wire::BEGIN_OPERATION, kMemoryServer, std::move(request))));
  ASSIGN_OR_RETURN(auto begun, parse_reply<wire::BeginOperationReply>(received));
  OperationOutcome outcome{.before = begun.done(), .dropped = begun.dropped(), .answer = std::move(*begun.mutable_answer())};
  if (!begun.done() || ARGOSY_PLANTED("operation_repeated")) {
    ASSIGN_OR_RETURN(outcome.answer, body(begun.number()));
    if (Status ended = end_operation(numbered, outcome.answer); !ended.ok())
      return ended.with_context("{} '{}' is done, but could not be recorded", operation.kind, operation.target);
  }
  count_operation(numbered);
  return outcome;
}

}  // namespace argosy::ps
