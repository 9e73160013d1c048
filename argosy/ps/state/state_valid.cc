// Which records can be applied. Asked of a live request before it is logged, and of every record when it is applied, so that
// nothing is logged that a restart could not apply.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/state/state.h"

namespace argosy::ps {
namespace {

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

Status State::check_worker(uint64_t worker) const {
  if (worker < static_cast<uint64_t>(members_->workers())) return {};
  return Status::invalid_argument("there is no worker {}; the job has {}", worker, members_->workers());
}

template <typename Message>
Result<Message> State::valid_call(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, parse<Message>(record));
  RETURN_IF_ERROR(check_worker(request.caller().worker()));
  return request;
}
template Result<wire::GoodbyeRequest> State::valid_call(const Record& record) const;

// ---- Workers.

Result<wire::HelloRequest> State::valid_hello(const Record& record) const {
  ASSIGN_OR_RETURN(auto hello, parse<wire::HelloRequest>(record));
  RETURN_IF_ERROR(check_worker(hello.worker()));
  return hello;
}

Result<wire::WorkerLostRecord> State::valid_worker_lost(const Record& record) const {
  ASSIGN_OR_RETURN(auto lost, parse<wire::WorkerLostRecord>(record));
  RETURN_IF_ERROR(check_worker(lost.worker()));
  return lost;
}

// Only what is dropped is a record: what is kept is as if its worker had confirmed it.
Result<wire::SettleLossRequest> State::valid_settle_loss(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, valid_call<wire::SettleLossRequest>(record));
  RETURN_IF_ERROR(check_worker(request.loss().worker()));
  if (request.phase() == wire::SettleLossRequest::DROP && is_sync() && request.loss().batches_size() > 0) return request;
  return Status::invalid_argument("what worker {} left behind cannot be dropped by this call", request.loss().worker());
}

// ---- Training.

Result<State::ValidPush> State::valid_push(const Record& record) const {
  ValidPush push;
  ASSIGN_OR_RETURN(push.request, valid_call<wire::PushRequest>(record));
  const uint32_t worker = push.request.caller().worker();
  RETURN_IF_ERROR(check_batches(batches_of(push.request), worker));
  if (push.request.packed()) return Status::invalid_argument("a push of worker {} is packed; a server unpacks it before", worker);
  if (is_sync() && !push.request.has_step()) {
    return Status::invalid_argument("a push of worker {} names no step; this is a sync job", worker);
  }
  auto gradients = tables_->lay_out(push.request.sections(), record.payload);
  if (!gradients.ok()) return gradients.status().with_context("push {} of worker {}", push.request.sequence(), worker);
  push.gradients = std::move(*gradients);
  RETURN_IF_ERROR(tables_->check_initialised(push.gradients));
  return push;
}

Result<wire::LeaveRequest> State::valid_leave(const Record& record) const {
  ASSIGN_OR_RETURN(auto leave, valid_call<wire::LeaveRequest>(record));
  if (leave.round() < std::numeric_limits<uint32_t>::max()) return leave;
  return Status::invalid_argument("worker {} leaves round {}; there is none behind it", leave.caller().worker(), leave.round());
}

Result<wire::EndOperationRequest> State::valid_end_operation(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, valid_call<wire::EndOperationRequest>(record));
  RETURN_IF_ERROR(operations_.check(request.caller().worker(), request.operation()));
  return request;
}

Result<wire::ApplyStepRequest> State::valid_apply_step(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, valid_call<wire::ApplyStepRequest>(record));
  const Position step = from_wire(request.step());
  if (!is_sync() || step != sync_.position() || !sync_.complete()) {
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
  return request;
}

// ---- Tables.

Result<wire::InitDenseRequest> State::valid_init_dense(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, valid_call<wire::InitDenseRequest>(record));
  RETURN_IF_ERROR(tables_->check_dense(request.table()));
  RETURN_IF_ERROR(check_bytes(spec().tables[request.table()].name, record.payload.size(),
                              tables_->range(request.table()).size() * sizeof(float)));
  return request;
}

Result<wire::ImportDenseRequest> State::valid_import_dense(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, valid_call<wire::ImportDenseRequest>(record));
  RETURN_IF_ERROR(tables_->check_dense(request.table()));
  RETURN_IF_ERROR(check_bytes(spec().tables[request.table()].name, record.payload.size(),
                              tables_->range(request.table()).size() * sizeof(float)));
  return request;
}

Result<TableGradient> State::valid_import_rows(const Record& record) const {
  ASSIGN_OR_RETURN(const auto request, valid_call<wire::ImportRowsRequest>(record));
  RETURN_IF_ERROR(tables_->check_sparse(request.table()));
  Sections sections;
  sections.Add()->set_table(request.table());
  sections.at(0).set_count(request.count());
  ASSIGN_OR_RETURN(const auto rows, tables_->lay_out(sections, record.payload));
  return rows[0];
}

Result<State::ValidState> State::valid_import_state(const Record& record) const {
  ValidState valid;
  ASSIGN_OR_RETURN(valid.request, valid_call<wire::ImportStateRequest>(record));
  const wire::ImportStateRequest& request = valid.request;
  ASSIGN_OR_RETURN(valid.part, tables_->lay_out_state(request.table(), request.count(), record.payload));
  valid.held = tables_->is_sparse(valid.part.table) || tables_->dense(valid.part.table) != nullptr;
  if (!valid.held) return valid;
  ASSIGN_OR_RETURN(const uint64_t expected, tables_->state_numbers(valid.part.table, request.state(), valid.part.keys.size()));
  RETURN_IF_ERROR(check_bytes(spec().tables[valid.part.table].name, valid.part.values.size_bytes(), expected * sizeof(float)));
  return valid;
}

Result<wire::SetRateRequest> State::valid_set_rate(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, valid_call<wire::SetRateRequest>(record));
  if (request.table() >= static_cast<int64_t>(tables_->size())) {
    return Status::invalid_argument("there is no table {}; the job has {}", request.table(), tables_->size());
  }
  if (!request.back_to_schedule() && !std::isfinite(request.rate())) {
    return Status::invalid_argument("the learning rate is {}; expected a finite number", request.rate());
  }
  return request;
}

Result<wire::ShrinkRequest> State::valid_shrink(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, valid_call<wire::ShrinkRequest>(record));
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
  return request;
}

// ---- Between workers.

Result<wire::GatherRequest> State::valid_gather(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, valid_call<wire::GatherRequest>(record));
  constexpr uint64_t kMost = uint64_t{1} << 62;  // of numbers that can be counted up
  if (request.call() == 0) return Status::invalid_argument("gather '{}': call is 0; calls count from 1", request.name());
  if (request.after() < kMost) return request;
  return Status::invalid_argument("gather '{}': no gathering has the number {}", request.name(), request.after());
}

Result<wire::NextFileRequest> State::valid_next_file(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, valid_call<wire::NextFileRequest>(record));
  RETURN_IF_ERROR(file_lists_.file(request).status());
  return request;
}

Result<wire::PostRequest> State::valid_post(const Record& record) const {
  ASSIGN_OR_RETURN(auto request, valid_call<wire::PostRequest>(record));
  RETURN_IF_ERROR(check_worker(request.to()));
  return request;
}

}  // namespace argosy::ps
