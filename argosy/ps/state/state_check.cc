// What a live request is asked before it is logged, besides whether it can be applied at all (state_valid.cc): whether its caller
// is fenced off, and whether it would change anything.
#include <algorithm>

#include "argosy/base/mutex.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/state/nonfinite.h"
#include "argosy/ps/state/state.h"

namespace argosy::ps {
namespace {

using Verdict = State::Verdict;

}  // namespace

Result<Verdict> State::check(const Record& record) {
  if (is_of_tables(record.method)) return check_of_tables(record);
  const MutexLock lock(mutex_);
  return check_of_workers(record);
}

Result<Verdict> State::check_of_tables(const Record& record) {
  switch (record.method) {
    case wire::PUSH: return check_push(record);
    case wire::APPLY_STEP: return check_apply_step(record);
    case wire::INIT_DENSE: return check_init_dense(record);
    case wire::IMPORT_ROWS: return check_import_rows(record);
    case wire::IMPORT_DENSE: return check_import_dense(record);
    case wire::IMPORT_STATE: return check_import_state(record);
    case wire::SET_RATE: return check_set_rate(record);
    case wire::SHRINK: return check_shrink(record);
    default: RETURN_IF_ERROR(parse<wire::SavedRecord>(record).status()); return Verdict::change;
  }
}

Result<Verdict> State::check_of_workers(const Record& record) {
  switch (record.method) {
    case wire::END_OPERATION: return check_end_operation(record);
    case wire::GATHER: return check_gather(record);
    case wire::POST: return check_post(record);
    case wire::LEAVE: return check_leave(record);
    case wire::GOODBYE: return check_goodbye(record);
    case wire::NEXT_FILE: return check_next_file(record);
    case wire::SETTLE_LOSS: return check_settle_loss(record);
    case wire::HELLO: RETURN_IF_ERROR(valid_hello(record).status()); return Verdict::change;
    case wire::WORKER_LOST: RETURN_IF_ERROR(valid_worker_lost(record).status()); return Verdict::change;
    case wire::IMPORT: RETURN_IF_ERROR(parse<wire::ImportRecord>(record).status()); return Verdict::change;
    default:
      return Status::invalid_argument("a request with the method {} is no change that could be logged",
                                      static_cast<int>(record.method));
  }
}

// Between the admission of a call and its turn a new process of the worker may have come, and may have been told its window. What
// has no incarnation is the server's own.
Status State::check_fence(const wire::Caller& caller) const {
  if (caller.incarnation() == 0) return {};
  return members_->check_fence(caller.worker(), caller.incarnation());
}

Result<Verdict> State::check_push(const Record& record) {
  ASSIGN_OR_RETURN(const ValidPush push, valid_push(record));
  if (!is_finite(push.gradients)) return nonfinite_gradient(*tables_, push.request, push.gradients);
  RETURN_IF_ERROR(tables_->check_room(push.gradients));
  if (!is_sync()) return admit_push(push.request);
  const MutexLock lock(mutex_);
  return admit_sync_push(push.request);
}

Result<Verdict> State::admit_push(const wire::PushRequest& push) {
  const int worker = static_cast<int>(push.caller().worker());
  if (!may_lose_) RETURN_IF_ERROR(members_->check_round(worker, batches_of(push)));
  ASSIGN_OR_RETURN(const auto admission, members_->begin_push(worker, push.caller().incarnation(), batches_of(push)));
  return admission == Membership::Admission::duplicate ? Verdict::duplicate : Verdict::change;
}

Result<Verdict> State::admit_sync_push(const wire::PushRequest& push) {
  RETURN_IF_ERROR(check_step(push));
  ASSIGN_OR_RETURN(const Verdict verdict, admit_push(push));
  if (verdict == Verdict::duplicate || from_wire(push.step()) >= sync_.position()) return verdict;
  members_->end_push(static_cast<int>(push.caller().worker()), batches_of(push), false);
  return Verdict::late;
}

// A worker pushes its steps one after the other. One that leaves out steps knows of pushes that this server has lost: with a gap
// in between nobody could tell later which of its batches belongs to which step.
Status State::check_step(const wire::PushRequest& push) const {
  if (may_lose_) return {};
  const Position step = from_wire(push.step());
  const uint32_t next = sync_.next_step(static_cast<int>(push.caller().worker()), step.round);
  if (step < sync_.position() || step.step <= next) return {};
  RETURN_IF_ERROR(check_fence(push.caller()));
  return Status::data_loss(
      "worker {} pushes step {} of pass {}, and this server has its steps up to {} only: it has lost what it had acknowledged",
      push.caller().worker(), step.step, step.round, next);
}

void State::abandon_push(const Record& record) {
  if (const auto push = parse<wire::PushRequest>(record); push.ok()) {
    members_->end_push(static_cast<int>(push->caller().worker()), batches_of(*push), false);
  }
}

Result<Verdict> State::check_leave(const Record& record) const {
  ASSIGN_OR_RETURN(const auto leave, valid_leave(record));
  RETURN_IF_ERROR(check_fence(leave.caller()));
  const int worker = static_cast<int>(leave.caller().worker());
  if (leave.round() < members_->worker(worker).window.round()) return Verdict::duplicate;
  if (leave.has_ledger()) RETURN_IF_ERROR(members_->check_pass(worker, leave.round(), leave.ledger(), may_lose_));
  return Verdict::change;
}

Result<Verdict> State::check_goodbye(const Record& record) const {
  ASSIGN_OR_RETURN(const auto goodbye, valid_call<wire::GoodbyeRequest>(record));
  RETURN_IF_ERROR(check_fence(goodbye.caller()));
  const auto phase = members_->worker(static_cast<int>(goodbye.caller().worker())).phase;
  return phase == Membership::Phase::done ? Verdict::duplicate : Verdict::change;
}

// A worker that was started again sends what is missing itself.
Result<Verdict> State::check_settle_loss(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, valid_settle_loss(record));
  RETURN_IF_ERROR(check_fence(request.caller()));
  const Membership::Worker lost = members_->worker(static_cast<int>(request.loss().worker()));
  const bool dropped = std::ranges::all_of(request.loss().batches(), [&](uint64_t b) { return lost.given_up.contains(b); });
  return lost.phase != Membership::Phase::lost || dropped ? Verdict::duplicate : Verdict::change;
}

Result<Verdict> State::check_apply_step(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, parse<wire::ApplyStepRequest>(record));
  const MutexLock lock(mutex_);
  if (is_sync() && from_wire(request.step()) < sync_.position()) return Verdict::duplicate;
  RETURN_IF_ERROR(valid_apply_step(record).status());
  RETURN_IF_ERROR(check_fence(request.caller()));
  return Verdict::change;
}

Result<Verdict> State::check_init_dense(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, valid_init_dense(record));
  RETURN_IF_ERROR(check_fence(request.caller()));
  const table::DenseTable* table = tables_->dense(request.table());
  return table == nullptr || table->initialised() ? Verdict::duplicate : Verdict::change;
}

Result<Verdict> State::check_import_dense(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, valid_import_dense(record));
  RETURN_IF_ERROR(check_fence(request.caller()));
  return tables_->dense(request.table()) == nullptr ? Verdict::duplicate : Verdict::change;
}

Result<Verdict> State::check_import_rows(const Record& record) const {
  ASSIGN_OR_RETURN(const TableGradient rows, valid_import_rows(record));
  RETURN_IF_ERROR(tables_->check_room({&rows, 1}));
  ASSIGN_OR_RETURN(const auto request, parse<wire::ImportRowsRequest>(record));
  RETURN_IF_ERROR(check_fence(request.caller()));
  return Verdict::change;
}

Result<Verdict> State::check_import_state(const Record& record) const {
  ASSIGN_OR_RETURN(const ValidState state, valid_import_state(record));
  RETURN_IF_ERROR(check_fence(state.request.caller()));
  RETURN_IF_ERROR(tables_->check_room({&state.part, 1}));
  return state.held ? Verdict::change : Verdict::duplicate;
}

Result<Verdict> State::check_set_rate(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, valid_set_rate(record));
  RETURN_IF_ERROR(check_fence(request.caller()));
  return Verdict::change;
}

Result<Verdict> State::check_shrink(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, valid_shrink(record));
  RETURN_IF_ERROR(check_fence(request.caller()));
  return request.number() != 0 && delta_base_.answer(request) != nullptr ? Verdict::duplicate : Verdict::change;
}

Result<Verdict> State::check_end_operation(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, valid_end_operation(record));
  RETURN_IF_ERROR(check_fence(request.caller()));
  RETURN_IF_ERROR(operations_.check_answer(request.operation(), request.answer().size()));
  return operations_.done(request.caller().worker(), request.operation()) ? Verdict::duplicate : Verdict::change;
}

Result<Verdict> State::check_gather(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, valid_gather(record));
  RETURN_IF_ERROR(check_fence(request.caller()));
  ASSIGN_OR_RETURN(const bool needed, gatherings_.needs_part(gather_call(request), record.payload.size()));
  return needed ? Verdict::change : Verdict::duplicate;
}

Result<Verdict> State::check_next_file(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, valid_next_file(record));
  RETURN_IF_ERROR(check_fence(request.caller()));
  ASSIGN_OR_RETURN(const auto file, file_lists_.file(request));
  return file.news ? Verdict::change : Verdict::duplicate;
}

Result<Verdict> State::check_post(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, valid_post(record));
  RETURN_IF_ERROR(check_fence(request.caller()));
  ASSIGN_OR_RETURN(const bool needed, mailboxes_.needs(static_cast<int>(request.caller().worker()),
                                                       static_cast<int>(request.to()), request.number(), record.payload.size()));
  return needed ? Verdict::change : Verdict::duplicate;
}

}  // namespace argosy::ps
