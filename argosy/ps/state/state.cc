#include "argosy/ps/state/state.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "argosy/base/mutex.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

// Payload bytes as floats. REQUIRES: the size was checked.
std::span<const float> floats_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

constexpr size_t kMostLoaded = 64;

std::string text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

FileLines lines_of(const wire::PushRequest& push) {
  FileLines lines;
  lines.read(push.lines());
  return lines;
}

// The record with a payload that stays: shared where it can be, copied where it cannot.
Record kept(const Record& record) {
  if (record.owner != nullptr || record.payload.empty()) return record;
  auto copy = std::make_shared<std::vector<uint64_t>>(record.payload.size() / 8 + 1);
  if (!record.payload.empty()) std::memcpy(copy->data(), record.payload.data(), record.payload.size());
  Record result = record;
  result.payload = {reinterpret_cast<const std::byte*>(copy->data()), record.payload.size()};
  result.owner = std::move(copy);
  return result;
}

}  // namespace

State::State(const StateOptions& options, std::unique_ptr<Tables> tables, std::unique_ptr<Membership> members)
    : job_(options.job),
      may_lose_(options.may_lose),
      follows_(options.follows),
      tables_(std::move(tables)),
      members_(std::move(members)),
      sync_(*tables_, *members_),
      names_(options.names),
      gatherings_(*members_, names_, options.gatherings),
      file_lists_(*members_, names_),
      mailboxes_(options.mail),
      operations_(members_->workers()) {}

Result<std::unique_ptr<State>> State::make(const JobSpec& spec, const StateOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Tables> tables, Tables::make(spec, options.tables));
  return std::unique_ptr<State>(new State(options, std::move(tables), std::make_unique<Membership>(spec.workers)));
}

bool State::is_of_tables(wire::Method method) {
  switch (method) {
    case wire::PUSH:
    case wire::APPLY_STEP:
    case wire::INIT_DENSE:
    case wire::IMPORT_ROWS:
    case wire::IMPORT_DENSE:
    case wire::IMPORT_STATE:
    case wire::SET_RATE:
    case wire::SHRINK:
    case wire::SAVE_SNAPSHOT: return true;
    default: return false;
  }
}

Status State::apply(const Record& record) {
  if (is_of_tables(record.method)) {
    RETURN_IF_ERROR(apply_to_tables(record));
    version_.fetch_add(1, std::memory_order_release);  // who reads this version sees what it has applied
    return {};
  }
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(apply_to_workers(record));
  version_.fetch_add(1, std::memory_order_release);
  return {};
}

Status State::apply_to_tables(const Record& record) {
  switch (record.method) {
    case wire::PUSH: return apply_push(record);
    case wire::APPLY_STEP: return apply_step(record);
    case wire::INIT_DENSE: return apply_init_dense(record);
    case wire::IMPORT_ROWS: return apply_import_rows(record);
    case wire::IMPORT_DENSE: return apply_import_dense(record);
    case wire::IMPORT_STATE: return apply_import_state(record);
    case wire::SET_RATE: return apply_set_rate(record);
    case wire::SHRINK: return apply_shrink(record);
    default: return apply_saved(record);
  }
}

Status State::apply_to_workers(const Record& record) {
  switch (record.method) {
    case wire::HELLO: return apply_hello(record);
    case wire::LEAVE: return apply_leave(record);
    case wire::END_OPERATION: return apply_end_operation(record);
    case wire::GATHER: return apply_gather(record);
    case wire::NEXT_FILE: return apply_next_file(record);
    case wire::POST: return apply_post(record);
    case wire::GOODBYE: return apply_goodbye(record);
    case wire::WORKER_LOST: return apply_worker_lost(record);
    case wire::SETTLE_LOSS: return apply_settle_loss(record);
    case wire::IMPORT: return apply_import(record);
    default:
      return Status::data_loss("a record of the log has the method {}, which changes nothing", static_cast<int>(record.method));
  }
}

// ---- Workers.

Status State::apply_hello(const Record& record) {
  ASSIGN_OR_RETURN(const auto hello, valid_hello(record));
  members_->hello(static_cast<int>(hello.worker()), hello.process_id(), hello.process());
  operations_.begin_run(hello.process_id());
  file_lists_.rejoin(static_cast<int>(hello.worker()));
  for (size_t i = 0; i < tables_->size(); ++i) {
    if (spec().tables[i].geo && tables_->is_sparse(i) && !follows_) tables_->sparse(i).changes().track(hello.worker());
  }
  return {};
}

Status State::apply_goodbye(const Record& record) {
  ASSIGN_OR_RETURN(const auto goodbye, valid_call<wire::GoodbyeRequest>(record));
  members_->goodbye(static_cast<int>(goodbye.caller().worker()));
  for (size_t i = 0; i < tables_->size(); ++i) {
    if (spec().tables[i].geo && tables_->is_sparse(i)) tables_->sparse(i).changes().forget(goodbye.caller().worker());
  }
  members_changed();
  return {};
}

Status State::apply_worker_lost(const Record& record) {
  ASSIGN_OR_RETURN(const auto lost, valid_worker_lost(record));
  members_->lose(static_cast<int>(lost.worker()));
  sync_.lose(static_cast<int>(lost.worker()));
  file_lists_.lose(static_cast<int>(lost.worker()));
  for (size_t i = 0; i < tables_->size(); ++i) {
    if (spec().tables[i].geo && tables_->is_sparse(i)) tables_->sparse(i).changes().forget(lost.worker());
  }
  members_changed();
  return {};
}

Status State::apply_settle_loss(const Record& record) {
  ASSIGN_OR_RETURN(const auto request, valid_settle_loss(record));
  const wire::UnsettledLoss& loss = request.loss();
  const std::vector<uint64_t> batches(loss.batches().begin(), loss.batches().end());
  const wire::PushRequest held = sync_.held_push(loss.worker(), from_wire(loss.step()));
  if (sync_.drop(static_cast<int>(loss.worker()), from_wire(loss.step()))) {
    batches_ -= std::min<uint64_t>(batches_, batches.size());
  }
  members_->give_up(static_cast<int>(loss.worker()), batches, held.samples(), lines_of(held));
  members_changed();
  return {};
}

void State::members_changed() {
  sync_.end_rounds();
  publish_position();
  gatherings_.settle();
}

// ---- Training.

Status State::apply_push(const Record& record) {
  const Record stays = is_sync() ? kept(record) : record;
  ASSIGN_OR_RETURN(ValidPush push, valid_push(stays));
  tables_->count_left_out(push.request.sections());
  const uint32_t worker = push.request.caller().worker();
  const auto batches = batches_of(push.request);
  if (is_sync()) {
    const MutexLock lock(mutex_);
    sync_.hold(from_wire(push.request.step()),
               {worker, std::move(push.gradients), stays.owner, std::string(record.header), stays.payload});
    batches_ += batches.size();
  } else {
    const uint64_t step = batches_.fetch_add(batches.size());
    RETURN_IF_ERROR(tables_->apply(push.gradients, step, record.seconds, worker));
  }
  ++pushes_;
  members_->end_push(static_cast<int>(worker), batches, true, push.request.samples(), lines_of(push.request));
  return {};
}

Status State::apply_leave(const Record& record) {
  ASSIGN_OR_RETURN(const auto leave, valid_leave(record));
  const int worker = static_cast<int>(leave.caller().worker());
  members_->leave(worker, leave.round(), leave.has_ledger() ? &leave.ledger() : nullptr);
  if (!is_sync()) return {};
  sync_.leave(worker, leave.round(), leave.steps());
  sync_.end_rounds();
  publish_position();
  return {};
}

// The position is published when the tables have the step: until then nobody who waits for it goes on.
Status State::apply_step(const Record& record) {
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const auto request, valid_apply_step(record));
  std::vector<float> factors;
  for (const std::string& group : spec().clip_groups()) {
    for (const wire::Number& factor : request.factors()) {
      if (factor.name() == group) factors.push_back(factor.value());
    }
  }
  const std::unique_ptr<MergedStep> step = sync_.commit(factors);
  lock.unlock();
  RETURN_IF_ERROR(tables_->apply(step->gradients(), steps_, record.seconds, 0));
  lock.lock();
  ++steps_;
  sync_.end_rounds();
  publish_position();
  return {};
}

// ---- Tables.

Status State::apply_init_dense(const Record& record) {
  ASSIGN_OR_RETURN(const auto request, valid_init_dense(record));
  table::DenseTable* table = tables_->dense(request.table());
  if (table == nullptr) return {};
  return table->set_if_absent(floats_of(record.payload)).status();
}

Status State::apply_import_rows(const Record& record) {
  ASSIGN_OR_RETURN(const TableGradient rows, valid_import_rows(record));
  delta_base_.forget();
  return tables_->sparse(rows.table).set_rows(rows.keys, rows.values);
}

Status State::apply_import_dense(const Record& record) {
  ASSIGN_OR_RETURN(const auto request, valid_import_dense(record));
  table::DenseTable* table = tables_->dense(request.table());
  return table == nullptr ? Status() : table->set(floats_of(record.payload));
}

Status State::apply_import_state(const Record& record) {
  ASSIGN_OR_RETURN(const ValidState state, valid_import_state(record));
  const auto& [request, part, held] = state;
  if (!held) return {};
  delta_base_.forget();
  if (tables_->is_sparse(part.table)) return tables_->sparse(part.table).set_state(request.state(), part.keys, part.values);
  return tables_->dense(part.table)->set_state(request.state(), part.values);
}

Status State::apply_set_rate(const Record& record) {
  ASSIGN_OR_RETURN(const auto request, valid_set_rate(record));
  for (size_t i = 0; i < tables_->size(); ++i) {
    if (request.table() >= 0 && static_cast<size_t>(request.table()) != i) continue;
    tables_->set_rate(i, request.back_to_schedule() ? std::nullopt : std::optional<float>(request.rate()));
  }
  return {};
}

Status State::apply_shrink(const Record& record) {
  ASSIGN_OR_RETURN(const auto request, valid_shrink(record));
  delta_base_.begin_shrink();
  wire::ShrinkReply reply;
  for (size_t i = 0; i < tables_->size(); ++i) {
    if (!tables_->is_sparse(i) || (request.table() >= 0 && static_cast<size_t>(request.table()) != i)) continue;
    RETURN_IF_ERROR(shrink_table(i, request, record.seconds, reply));
  }
  delta_base_.answered(request, reply);
  return {};
}

Status State::shrink_table(size_t table, const wire::ShrinkRequest& request, uint32_t seconds, wire::ShrinkReply& reply) {
  Expiry expiry = spec().tables[table].expiry;
  if (request.has_score()) expiry.score = request.score();
  if (request.has_unseen_steps()) expiry.unseen_steps = request.unseen_steps();
  if (request.has_ttl_seconds()) expiry.ttl_seconds = request.ttl_seconds();
  table::SparseTable& rows = tables_->sparse(table);
  std::vector<uint64_t> erased;
  ASSIGN_OR_RETURN(const auto report, rows.shrink(expiry, seconds, &erased));
  reply.set_kept(reply.kept() + report.kept);
  reply.set_dropped(reply.dropped() + report.dropped);
  reply.set_dropped_waiting(reply.dropped_waiting() + report.dropped_waiting);
  delta_base_.shrunk(static_cast<uint32_t>(table), erased, rows.decays());
  return {};
}

Status State::apply_end_operation(const Record& record) {
  ASSIGN_OR_RETURN(auto request, valid_end_operation(record));
  operations_.end(request.caller().worker(), request.operation(), std::move(*request.mutable_answer()));
  return {};
}

Status State::apply_saved(const Record& record) {
  ASSIGN_OR_RETURN(auto saved, parse<wire::SavedRecord>(record));
  delta_base_.saved(std::move(saved));
  return {};
}

Status State::apply_import(const Record& record) {
  ASSIGN_OR_RETURN(const auto import, parse<wire::ImportRecord>(record));
  importing_ = !import.finished();
  return {};
}

const wire::LoadSnapshotReply* State::loaded(uint64_t id) const {
  const auto found = std::ranges::find(loaded_, id, &wire::Loaded::id);
  return found == loaded_.end() ? nullptr : &found->reply();
}

void State::set_loaded(uint64_t id, const wire::LoadSnapshotReply& reply) {
  wire::Loaded& one = loaded_.emplace_back();
  one.set_id(id);
  *one.mutable_reply() = reply;
  if (loaded_.size() > kMostLoaded) loaded_.pop_front();
  last_loaded_ = id;
}

// ---- Between workers.

Status State::apply_gather(const Record& record) {
  ASSIGN_OR_RETURN(const auto request, valid_gather(record));
  gatherings_.add_part(gather_call(request), text_of(record.payload));
  gatherings_.settle();
  return {};
}

Status State::apply_next_file(const Record& record) {
  ASSIGN_OR_RETURN(const auto request, valid_next_file(record));
  ASSIGN_OR_RETURN(const auto file, file_lists_.file(request));
  if (file.news) file_lists_.hand_out(request);
  return {};
}

Status State::apply_post(const Record& record) {
  ASSIGN_OR_RETURN(const auto request, valid_post(record));
  if (follows_) return {};
  mailboxes_.post(static_cast<int>(request.caller().worker()), static_cast<int>(request.to()), text_of(record.payload));
  return {};
}

void State::measure() const {
  names_.measure();
  gatherings_.measure();
  mailboxes_.measure();
}

}  // namespace argosy::ps
