// What a live request is asked before it is logged.
#include <algorithm>
#include <cmath>
#include <set>

#include "argosy/ps/job_spec_wire.h"
#include "argosy/ps/state.h"

namespace argosy::ps {
namespace {

using Verdict = State::Verdict;

std::span<const uint64_t> batches_of(const wire::PushRequest& push) {
  return {reinterpret_cast<const uint64_t*>(push.batches().data()), static_cast<size_t>(push.batches_size())};
}

Status check_batches(std::span<const uint64_t> batches, uint32_t worker) {
  if (batches.empty()) return Status::invalid_argument("a push of worker {} names no batch", worker);
  const std::set<uint64_t> unique(batches.begin(), batches.end());
  if (unique.size() != batches.size()) return Status::invalid_argument("a push of worker {} names a batch twice", worker);
  if (round_of(*unique.begin()) == round_of(*unique.rbegin())) return {};
  return Status::invalid_argument("a push of worker {} has batches of round {} and of round {}; expected one round", worker,
                                  round_of(*unique.begin()), round_of(*unique.rbegin()));
}

Status check_bytes(std::string_view what, uint64_t found, uint64_t expected) {
  if (found == expected) return {};
  return Status::invalid_argument("{}: {} bytes arrived, {} were expected", what, found, expected);
}

}  // namespace

Result<Verdict> State::check(const Record& record) {
  switch (record.method) {
    case wire::PUSH: return check_push(record);
    case wire::APPLY_STEP: return check_apply_step(record);
    case wire::INIT_DENSE: return check_init_dense(record);
    case wire::IMPORT_ROWS: return check_import_rows(record);
    case wire::IMPORT_DENSE: return check_import_dense(record);
    case wire::IMPORT_STATE: return check_import_state(record);
    case wire::SET_RATE: return check_set_rate(record);
    case wire::SHRINK: return check_shrink(record);
    case wire::GATHER: return check_gather(record);
    case wire::POST: return check_post(record);
    case wire::LEAVE: {
      ASSIGN_OR_RETURN(const auto leave, parse<wire::LeaveRequest>(record));
      const Window window = members_->worker(static_cast<int>(leave.caller().worker())).window;
      return leave.round() < window.round() ? Verdict::duplicate : Verdict::change;
    }
    case wire::GOODBYE: {
      ASSIGN_OR_RETURN(const auto goodbye, parse<wire::GoodbyeRequest>(record));
      const auto phase = members_->worker(static_cast<int>(goodbye.caller().worker())).phase;
      return phase == Membership::Phase::done ? Verdict::duplicate : Verdict::change;
    }
    case wire::NEXT_FILE: {
      ASSIGN_OR_RETURN(const auto next, parse<wire::NextFileRequest>(record));
      ASSIGN_OR_RETURN(const auto file, exchange_.file(next));
      return file.kind == Exchange::File::unassigned ? Verdict::change : Verdict::duplicate;
    }
    default: return Verdict::change;
  }
}

Result<Verdict> State::check_push(const Record& record) {
  ASSIGN_OR_RETURN(const auto push, parse<wire::PushRequest>(record));
  const uint32_t worker = push.caller().worker();
  RETURN_IF_ERROR(check_batches(batches_of(push), worker));
  if (is_sync() && !push.has_step()) {
    return Status::invalid_argument("a push of worker {} names no step; this is a sync job", worker);
  }
  const auto gradients = tables_->lay_out(push.sections(), record.payload);
  if (!gradients.ok()) return gradients.status().with_context("push {} of worker {}", push.sequence(), worker);
  RETURN_IF_ERROR(tables_->check_initialised(*gradients));
  ASSIGN_OR_RETURN(const auto admission, members_->begin_push(static_cast<int>(worker), batches_of(push)));
  if (admission == Membership::Admission::duplicate) return Verdict::duplicate;
  if (!is_sync() || from_wire(push.step()) >= sync_.position()) return Verdict::change;
  members_->end_push(static_cast<int>(worker), batches_of(push), false);
  return Verdict::late;
}

void State::abandon_push(const Record& record) {
  if (const auto push = parse<wire::PushRequest>(record); push.ok()) {
    members_->end_push(static_cast<int>(push->caller().worker()), batches_of(*push), false);
  }
}

Result<Verdict> State::check_apply_step(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, parse<wire::ApplyStepRequest>(record));
  const Position step = from_wire(request.step());
  if (step < sync_.position()) return Verdict::duplicate;
  if (!is_sync() || step > sync_.position() || !sync_.complete()) {
    return Status::failed_precondition("step {} of round {} cannot be applied: this server is at step {} of round {}{}",
                                       step.step, step.round, sync_.position().step, sync_.position().round,
                                       is_sync() ? ", for which contributions are missing" : " and does not train in sync mode");
  }
  for (const std::string& group : spec().clip_groups()) {
    const auto named = [&](const wire::Number& factor) { return factor.name() == group && std::isfinite(factor.value()); };
    if (std::ranges::count_if(request.factors(), named) != 1) {
      return Status::invalid_argument("step {}: clip group '{}' needs one finite factor", step.step, group);
    }
  }
  return Verdict::change;
}

Result<Verdict> State::check_init_dense(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, parse<wire::InitDenseRequest>(record));
  RETURN_IF_ERROR(tables_->check_dense(request.table()));
  RETURN_IF_ERROR(check_bytes(spec().tables[request.table()].name, record.payload.size(),
                              tables_->range(request.table()).size() * sizeof(float)));
  const table::DenseTable* table = tables_->dense(request.table());
  return table == nullptr || table->initialised() ? Verdict::duplicate : Verdict::change;
}

Result<Verdict> State::check_import_dense(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, parse<wire::ImportDenseRequest>(record));
  RETURN_IF_ERROR(tables_->check_dense(request.table()));
  RETURN_IF_ERROR(check_bytes(spec().tables[request.table()].name, record.payload.size(),
                              tables_->range(request.table()).size() * sizeof(float)));
  return tables_->dense(request.table()) == nullptr ? Verdict::duplicate : Verdict::change;
}

Result<Verdict> State::check_import_rows(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, parse<wire::ImportRowsRequest>(record));
  RETURN_IF_ERROR(tables_->check_sparse(request.table()));
  Sections sections;
  sections.Add()->set_table(request.table());
  sections.at(0).set_count(request.count());
  RETURN_IF_ERROR(tables_->lay_out(sections, record.payload).status());
  return Verdict::change;
}

Result<Verdict> State::check_import_state(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, parse<wire::ImportStateRequest>(record));
  ASSIGN_OR_RETURN(const auto part, tables_->lay_out_state(request.table(), request.count(), record.payload));
  if (!tables_->is_sparse(part.table) && tables_->dense(part.table) == nullptr) return Verdict::duplicate;
  ASSIGN_OR_RETURN(const uint64_t expected, tables_->state_numbers(part.table, request.state(), part.keys.size()));
  RETURN_IF_ERROR(check_bytes(spec().tables[part.table].name, part.values.size_bytes(), expected * sizeof(float)));
  return Verdict::change;
}

Result<Verdict> State::check_set_rate(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, parse<wire::SetRateRequest>(record));
  if (request.table() >= static_cast<int64_t>(tables_->size())) {
    return Status::invalid_argument("there is no table {}; the job has {}", request.table(), tables_->size());
  }
  if (!request.back_to_schedule() && !std::isfinite(request.rate())) {
    return Status::invalid_argument("the learning rate is {}; expected a finite number", request.rate());
  }
  return Verdict::change;
}

Result<Verdict> State::check_shrink(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, parse<wire::ShrinkRequest>(record));
  if (request.table() >= 0) RETURN_IF_ERROR(tables_->check_sparse(static_cast<uint64_t>(request.table())));
  if (request.has_score() && !std::isfinite(request.score())) {
    return Status::invalid_argument("the score is {}; expected a finite number", request.score());
  }
  for (size_t i = 0; i < tables_->size(); ++i) {
    if (!tables_->is_sparse(i) || (request.table() >= 0 && static_cast<size_t>(request.table()) != i)) continue;
    const table::SparseSpec& table = tables_->sparse(i).spec();
    if (request.score() != 0 && !table.counts_show_click()) {
      return Status::failed_precondition("table '{}' does not count shows and clicks, so it cannot shrink by score", table.name);
    }
    if (request.ttl_seconds() != 0 && !table.keeps_seconds()) {
      return Status::failed_precondition("table '{}' keeps no times, so it cannot shrink by ttl_seconds; set it in the spec",
                                         table.name);
    }
  }
  const bool known = request.number() != 0 && shrink_answers_.contains({request.caller().worker(), request.number()});
  return known ? Verdict::duplicate : Verdict::change;
}

Result<Verdict> State::check_gather(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, parse<wire::GatherRequest>(record));
  const int worker = static_cast<int>(request.caller().worker());
  ASSIGN_OR_RETURN(const bool needed, exchange_.needs_part(request.name(), request.number(), worker, record.payload.size()));
  return needed ? Verdict::change : Verdict::duplicate;
}

Result<Verdict> State::check_post(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, parse<wire::PostRequest>(record));
  RETURN_IF_ERROR(check_worker(request.to()));
  ASSIGN_OR_RETURN(const bool needed,
                   exchange_.needs_letter(static_cast<int>(request.caller().worker()), static_cast<int>(request.to()),
                                          request.number(), record.payload.size()));
  return needed ? Verdict::change : Verdict::duplicate;
}

}  // namespace argosy::ps
