#include "argosy/ps/server/training_handlers.h"

#include <fmt/format.h>

#include <algorithm>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/observe/trace.h"
#include "argosy/ps/server/answer_size.h"
#include "argosy/ps/server/observers.h"
#include "argosy/ps/server/packed_answer.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/spec/packed.h"
#include "argosy/ps/state/nonfinite.h"

namespace argosy::ps {
namespace {

using Verdict = State::Verdict;

wire::Outcome outcome_of(State::Verdict verdict) {
  switch (verdict) {
    case State::Verdict::change: return wire::APPLIED;
    case State::Verdict::duplicate: return wire::DUPLICATE;
    case State::Verdict::late: return wire::LATE;
  }
  return wire::APPLIED;
}

// Before anything is made for them: there are few tables, and a message has room for millions of numbers.
Status check_each_once(const google::protobuf::RepeatedField<uint32_t>& tables, const JobSpec& spec) {
  std::vector<bool> named(spec.tables.size());
  for (const uint32_t table : tables) {
    if (table >= named.size()) return Status::invalid_argument("there is no table {}; the job has {}", table, named.size());
    if (named[table]) {
      return Status::invalid_argument("table '{}' is asked for twice; name each table once", spec.tables[table].name);
    }
    named[table] = true;
  }
  return {};
}

// What a packed push unpacks to; nothing where it is plain.
Result<std::optional<UnpackedPush>> unpacked(const State& state, const wire::PushRequest& push, const Record& record,
                                             uint64_t most_bytes) {
  if (!push.packed()) return std::optional<UnpackedPush>();
  auto plain = unpack_push(state.spec(), push, record.payload, most_bytes);
  if (!plain.ok()) return plain.status().with_context("push {} of worker {}", push.sequence(), push.caller().worker());
  return std::optional<UnpackedPush>(std::move(*plain));
}

}  // namespace

void TrainingHandlers::push(const CallPtr& call, State& state, const wire::PushRequest& request) {
  const observe::TraceSpan span("apply");
  const Stopwatch since_begin;
  const Changes::Inside inside(changes_, call);
  if (!inside) return;
  const Limit& waiting = limits_.waiting_keys;
  if (waiting.now() > waiting.most()) return call->fail(limits_.waiting_keys.refuse(call->bytes()));
  Record record = record_of(call, Changes::now_seconds());
  const auto plain = unpacked(state, request, record, limits_.answer.most());
  if (!plain.ok()) return call->fail(plain.status());
  if (*plain) record = {wire::PUSH, record.seconds, (*plain)->header, (*plain)->bytes(), (*plain)->payload};
  std::optional<FinitePush> finite;
  if (options_.nonfinite != Nonfinite::refuse) finite = make_finite(state.tables(), record, options_.nonfinite);
  if (finite) record = finite->record(record.seconds);
  std::unique_lock<Turn> turn;  // none is needed but for sync steps
  if (state.is_sync()) {
    turn = changes_.turn(call->request.deadline);
    if (!turn.owns_lock()) return call->fail(changes_.no_turn(*call));
  }
  const uint64_t arrived = TableStaleness::read_at(state);
  const auto verdict = changes_.commit(record);
  if (verdict.ok() && *verdict == Verdict::change) staleness_.observe(state, request, arrived);
  if (verdict.ok() && state.is_sync()) changes_.advance();
  if (turn.owns_lock()) {
    turn.unlock();
    changes_.advance_if_due();
  }
  for (const Topic topic : {Topic::quiet, Topic::batches}) {
    if (parking_.has(topic)) parking_.wake(topic);
  }
  if (!verdict.ok()) return call->fail(verdict.status());
  wire::PushReply reply;
  reply.set_outcome(outcome_of(*verdict));
  push_seconds_.observe(since_begin.seconds());
  call->send(outgoing(reply));
}

void TrainingHandlers::leave(const CallPtr& call, State& state, const wire::LeaveRequest& request) {
  changes_.change(call, [&](Verdict verdict) {
    changes_.advance();
    wire::LeaveReply reply;
    if (const auto pass = state.members().finished(static_cast<int>(request.caller().worker()), request.round())) {
      reply.set_lost_batches(pass->lost_batches());
      reply.set_lost_samples(pass->lost_samples());
    }
    if (verdict == Verdict::change) reports_.report_pass(state, request.round());
    parking_.wake(Topic::batches);
    return outgoing(reply);
  });
}

// Frees those who wait for the worker, as on_worker_loss says; nothing is recorded.
void TrainingHandlers::abandon(const CallPtr& call, State& state, const wire::AbandonRequest& request) {
  state.members().abandon(static_cast<int>(request.caller().worker()),
                          fmt::format("failed in pass {}: {}", request.round(), request.why()), options_.lease_seconds);
  call->send(outgoing(wire::AbandonReply()));
}

void TrainingHandlers::ledger(const CallPtr& call, State& state, const wire::LedgerRequest& request) {
  if (Status s = check_settled(state, request.lost()); !s.ok()) return call->fail(s);
  call->send(outgoing(PassReports::ledger_of(state)));
}

// Whether what is here of these workers can change no more.
Status TrainingHandlers::check_settled(State& state, const google::protobuf::RepeatedField<uint32_t>& lost) {
  for (const uint32_t worker : lost) {
    const int index = static_cast<int>(worker);
    if (worker >= static_cast<uint32_t>(state.members().workers()))
      return Status::invalid_argument("there is no worker {}", worker);
    if (state.members().is_awaited(index)) return Status::unavailable("worker {} is not lost here; try again", worker);
    if (!state.members().is_quiet(index)) return Status::unavailable("pushes of worker {} are under way; try again", worker);
    const MutexLock lock(state.mutex());
    const auto of_worker = [&](const Contribution* held) { return held->worker == worker; };
    if (std::ranges::any_of(state.sync().unsettled(), of_worker))
      return Status::unavailable("the last step of worker {}, which is lost, is not settled; try again", worker);
  }
  return {};
}

void TrainingHandlers::step_norms(const CallPtr& call, State& state, const wire::StepNormsRequest& request) {
  const std::vector<std::string> groups = state.spec().clip_groups();
  if (!state.is_sync() || groups.empty()) {
    return call->fail(Status::failed_precondition("norms are asked of a job that has no clip groups, or is not a sync job"));
  }
  const Position step = from_wire(request.step());
  const uint64_t seen = parking_.version(Topic::position);
  MutexLock lock(state.mutex());
  state.sync().confirm(static_cast<int>(request.caller().worker()), {step.round, step.step + 1});
  const auto norms = state.sync().norms(step);
  const bool applied = step < state.sync().position();
  lock.unlock();
  if (!norms && !applied) return parking_.park(Topic::position, seen, call);
  wire::StepNormsReply reply;
  reply.set_applied(applied);
  for (size_t i = 0; norms && i < groups.size(); ++i) {
    wire::GroupNorm* norm = reply.add_norms();
    norm->set_group(groups[i]);
    norm->set_sum_of_squares((*norms)[i]);
  }
  call->send(outgoing(reply));
}

void TrainingHandlers::apply_step(const CallPtr& call, State&, const wire::ApplyStepRequest&) {
  changes_.change(call, [&](Verdict verdict) {
    changes_.advance();
    wire::ApplyStepReply reply;
    reply.set_duplicate(verdict == Verdict::duplicate);
    return outgoing(reply);
  });
}

bool TrainingHandlers::reached(const CallPtr& call, State& state, const wire::Caller& caller, bool has_min_step,
                               Position min_step) {
  if (!has_min_step || !state.is_sync()) return true;
  const uint64_t seen = parking_.version(Topic::position);
  if (state.tables().servers() > 1 && !Observers::is_number(caller.incarnation())) {
    const Changes::Inside inside(changes_, call);
    if (!inside) return false;
    MutexLock lock(state.mutex());
    const int worker = static_cast<int>(caller.worker());
    if (!state.sync().is_confirmed(worker, min_step)) {
      state.sync().confirm(worker, min_step);
      if (state.sync().may_commit()) changes_.step_due();
    }
    lock.unlock();
    changes_.advance_if_due();
  }
  if (state.position() >= min_step) return true;
  // advance() may have woken the topic for this very call, which then only looks again. While another thread advances, it
  // wakes the topic when it has.
  parking_.park(Topic::position, seen, call);
  return false;
}

void TrainingHandlers::pull_dense(const CallPtr& call, State& state, const wire::PullDenseRequest& request) {
  if (!reached(call, state, request.caller(), request.has_min_step(), from_wire(request.min_step()))) return;
  const Tables& tables = state.tables();
  if (Status s = check_each_once(request.tables(), state.spec()); !s.ok()) return call->fail(s);
  wire::PullDenseReply reply;
  reply.set_read_at(TableStaleness::read_at(state));
  AnswerSize size(limits_.answer);
  for (const uint32_t table : request.tables()) {
    if (Status s = tables.check_dense(table); !s.ok()) return call->fail(s);
    if (Status s = size.add(tables.range(table).size(), sizeof(float)); !s.ok()) return call->fail(s);
    wire::Section* section = reply.add_sections();
    section->set_table(table);
    section->set_count(tables.range(table).size());
    reply.add_rates(tables.rate(table, state.rate_step()));
  }
  PackedAnswer answer(state.spec(), reply.sections(), request.packed());
  for (const wire::Section& section : reply.sections()) {
    if (section.count() == 0) continue;
    const Status copied = answer.add(section.table(), section.count(),
                                     [&](std::span<float> values) { return tables.dense(section.table())->copy_out(values); });
    if (!copied.ok()) return call->fail(copied.with_context("table '{}'", state.spec().tables[section.table()].name));
  }
  *reply.mutable_position() = to_wire(state.position());
  reply.set_batches(state.batches());
  pulls_.add();
  call->send(outgoing(reply, {answer.finish()}));
}

void TrainingHandlers::pull_rows(const CallPtr& call, State& state, const wire::PullRowsRequest& request) {
  if (!reached(call, state, request.caller(), request.has_min_step(), from_wire(request.min_step()))) return;
  Tables& tables = state.tables();
  const Record record = record_of(call, 0);
  std::vector<uint64_t> unpacked;
  std::span<const std::byte> keys = record.payload;
  if (request.packed()) {
    auto all = unpack_keys(request.sections(), record.payload, limits_.answer.most());
    if (!all.ok()) return call->fail(all.status());
    unpacked = std::move(*all);
    keys = std::as_bytes(std::span(unpacked));
  }
  const auto pulls = tables.lay_out_keys(request.sections(), keys);
  if (!pulls.ok()) return call->fail(pulls.status());
  AnswerSize size(limits_.answer);
  for (const TableGradient& pull : *pulls) {
    const uint64_t row_bytes = state.spec().tables[pull.table].width * sizeof(float);
    if (Status s = size.add(pull.keys.size(), row_bytes); !s.ok()) return call->fail(s);
  }
  PackedAnswer answer(state.spec(), request.sections(), request.packed());
  wire::PullRowsReply reply;
  reply.set_read_at(TableStaleness::read_at(state));
  size_t keys_before = 0;
  for (const TableGradient& pull : *pulls) {
    std::vector<uint64_t> missing;
    const Status pulled = answer.add(pull.table, pull.keys.size(), [&](std::span<float> rows) {
      return tables.sparse(pull.table).pull(pull.keys, rows, request.create(), request.tell_missing() ? &missing : nullptr);
    });
    if (!pulled.ok()) return call->fail(pulled.with_context("table '{}'", state.spec().tables[pull.table].name));
    for (const uint64_t place : missing) reply.add_missing(keys_before + place);
    keys_before += pull.keys.size();
  }
  *reply.mutable_position() = to_wire(state.position());
  pulls_.add();
  call->send(outgoing(reply, {answer.finish()}));
}

void TrainingHandlers::pull_changed(const CallPtr& call, State& state, const wire::PullChangedRequest& request) {
  if (Status s = check_each_once(request.tables(), state.spec()); !s.ok()) return call->fail(s);
  wire::PullChangedReply reply;
  reply.set_read_at(TableStaleness::read_at(state));
  std::vector<rpc::Slice> keys, rows;
  AnswerSize size(limits_.answer);
  for (const uint32_t table : request.tables()) {
    if (Status s = state.tables().check_sparse(table); !s.ok()) return call->fail(s);
    if (!state.spec().tables[table].geo) {
      return call->fail(Status::invalid_argument("table '{}' is no geo table", state.spec().tables[table].name));
    }
    // Half of what is left for each: so every table moves on with every call, however many rows one has.
    const uint64_t row_bytes = sizeof(uint64_t) + state.spec().tables[table].width * sizeof(float);
    const uint64_t most = std::max<uint64_t>(size.left() / 2 / row_bytes, 1);
    std::vector<uint64_t> table_keys;
    std::vector<float> table_rows;
    const auto more =
        state.tables().sparse(table).take_changed(request.caller().worker(), request.number(), most, table_keys, table_rows);
    if (!more.ok()) return call->fail(more.status());
    if (Status s = size.add(table_keys.size(), row_bytes); !s.ok()) return call->fail(s);
    if (*more) reply.set_more(true);
    wire::Section* section = reply.add_sections();
    section->set_table(table);
    section->set_count(table_keys.size());
    keys.push_back(rpc::Slice::own(std::move(table_keys)));
    rows.push_back(rpc::Slice::own(std::move(table_rows)));
  }
  keys.insert(keys.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  call->send(outgoing(reply, std::move(keys)));
}

}  // namespace argosy::ps
