#include <algorithm>

#include "argosy/ps/answer_size.h"
#include "argosy/ps/job_spec_wire.h"
#include "argosy/ps/server_core.h"

namespace argosy::ps {

void Core::on_init_dense(const CallPtr& call) {
  change<wire::InitDenseRequest>(call, [this](State&, const auto&, Verdict verdict) {
    parking_.wake(Topic::initialised);
    if (verdict == Verdict::change) ++news_;
    wire::InitDenseReply reply;
    reply.set_had_values(verdict == Verdict::duplicate);
    return outgoing(reply);
  });
}

void Core::on_wait_initialised(const CallPtr& call) {
  const auto request = read<wire::WaitInitialisedRequest>(call);
  if (!request) return;
  State* state = admit(call, request->caller());
  if (state == nullptr) return;
  const uint64_t seen = parking_.version(Topic::initialised);
  if (!state->tables().uninitialised().empty()) return parking_.park(Topic::initialised, seen, call);
  call->send(outgoing(wire::WaitInitialisedReply()));
}

void Core::on_import_rows(const CallPtr& call) {
  change<wire::ImportRowsRequest>(call, [](State&, const auto&, Verdict) { return outgoing(wire::ImportRowsReply()); });
}

void Core::on_import_dense(const CallPtr& call) {
  change<wire::ImportDenseRequest>(call, [this](State&, const auto&, Verdict) {
    parking_.wake(Topic::initialised);
    return outgoing(wire::ImportDenseReply());
  });
}

void Core::on_import_state(const CallPtr& call) {
  change<wire::ImportStateRequest>(call, [](State&, const auto&, Verdict) { return outgoing(wire::ImportStateReply()); });
}

void Core::on_pull_state(const CallPtr& call) {
  const auto request = read<wire::PullStateRequest>(call);
  if (!request) return;
  State* state = admit(call, request->caller(), Allow::observers);
  if (state == nullptr) return;
  if (const Status s = send_state(*state, *request, call); !s.ok()) call->fail(s);
}

Status Core::send_state(State& state, const wire::PullStateRequest& request, const CallPtr& call) {
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

void Core::on_set_rate(const CallPtr& call) {
  change<wire::SetRateRequest>(call, [](State&, const auto&, Verdict) { return outgoing(wire::SetRateReply()); });
}

void Core::on_shrink(const CallPtr& call) {
  change<wire::ShrinkRequest>(call, [](State& state, const auto& request, Verdict) {
    const wire::ShrinkReply* reply = state.shrink_reply(request);
    return outgoing(reply == nullptr ? wire::ShrinkReply() : *reply);
  });
}

// ---- Rows, piece by piece.

struct Core::ExportSession {
  explicit ExportSession(table::SparseTable::Export of, uint32_t table_number) : table(table_number), rows(std::move(of)) {}

  const uint32_t table;
  std::mutex mutex;  // guards what follows
  std::optional<table::SparseTable::Export> rows;  // nothing after the last piece
  uint64_t number = 0;           // of the piece in `header` and `payload`
  wire::ExportRowsReply header;  // empty before the first piece
  std::vector<rpc::Slice> payload;
  Stopwatch idle;
};

namespace {

constexpr double kExportIdleSeconds = 60;
constexpr uint64_t kMaxExportBytes = uint64_t{64} << 20;

// The admitted rows of `records` as keys and values.
Status split_records(const table::RowCodec& codec, std::string_view records, std::vector<uint64_t>& keys,
                     std::vector<float>& values) {
  ASSIGN_OR_RETURN(const size_t count, codec.count(records));
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const auto row, codec.decode(records.substr(i * codec.record_bytes(), codec.record_bytes())));
    if (!row.admitted) continue;
    keys.push_back(row.key);
    values.insert(values.end(), row.value.begin(), row.value.end());
  }
  return {};
}

}  // namespace

void Core::on_export_rows(const CallPtr& call) {
  const auto request = read<wire::ExportRowsRequest>(call);
  if (!request) return;
  State* state = admit(call, request->caller(), Allow::observers);
  if (state == nullptr) return;
  if (const Status s = export_piece(*state, *request, call); !s.ok()) call->fail(s);
}

Status Core::export_piece(State& state, const wire::ExportRowsRequest& request, const CallPtr& call) {
  RETURN_IF_ERROR(state.tables().check_sparse(request.table()));
  const table::SparseTable& table = state.tables().sparse(request.table());
  std::shared_ptr<ExportSession> session;
  uint64_t id = request.session();
  {
    std::lock_guard lock(exports_mutex_);
    if (id == 0) {
      RETURN_IF_ERROR(make_room_for_export());
      id = next_export_++;
      exports_[id] = std::make_shared<ExportSession>(table.begin_export(), request.table());
    }
    const auto known = exports_.find(id);
    if (known == exports_.end() || known->second->table != request.table()) {
      return Status::not_found(
          "{} has no export {} of table '{}': it was idle for too long, or this process is a new one; begin anew", name_, id,
          table.spec().name);
    }
    session = known->second;
  }
  std::unique_lock lock(session->mutex);
  session->idle.restart();
  const bool again = request.number() == session->number && session->header.session() != 0;
  if (!again) {
    const uint64_t next = session->header.session() == 0 ? 0 : session->number + 1;
    if (request.number() != next || !session->rows) {
      return Status::invalid_argument("piece {} of an export was asked for; the next is {}", request.number(), next);
    }
    std::string records;
    // One record more than asked for may come.
    const uint64_t most = std::min(kMaxExportBytes, limits_.answer.most() / 2);
    const uint64_t max_bytes = std::clamp<uint64_t>(request.max_bytes(), 1, std::max<uint64_t>(most, 1));
    ASSIGN_OR_RETURN(const bool more, session->rows->next(max_bytes, records));
    std::vector<uint64_t> keys;
    std::vector<float> values;
    RETURN_IF_ERROR(split_records(table.codec(), records, keys, values));
    if (!more) session->rows.reset();
    session->number = next;
    session->header.set_session(id);
    session->header.set_count(keys.size());
    session->header.set_done(!more);
    session->payload = {rpc::Slice::own(std::move(keys)), rpc::Slice::own(std::move(values))};
  }
  Outgoing answer = outgoing(session->header, session->payload);
  lock.unlock();
  call->send(std::move(answer));
  return {};
}

// A finished session stays for a minute too, for a repeated call, unless others need its place. REQUIRES: exports_mutex_ is
// held.
Status Core::make_room_for_export() {
  if (exports_.size() >= limits_.exports.most()) {
    const auto over = [](const auto& entry) {
      std::unique_lock session(entry.second->mutex, std::try_to_lock);
      return session.owns_lock() && !entry.second->rows;
    };
    if (const auto oldest = std::ranges::find_if(exports_, over); oldest != exports_.end()) exports_.erase(oldest);
  }
  limits_.exports.set_now(exports_.size());
  return exports_.size() < limits_.exports.most() ? Status() : limits_.exports.refuse(1);
}

void Core::drop_idle_exports() {
  std::lock_guard lock(exports_mutex_);
  std::erase_if(exports_, [](const auto& entry) {
    std::unique_lock session(entry.second->mutex, std::try_to_lock);
    return session.owns_lock() && entry.second->idle.seconds() > kExportIdleSeconds;
  });
  limits_.exports.set_now(exports_.size());
}

void Core::on_stats(const CallPtr& call) {
  const auto request = read<wire::StatsRequest>(call);
  if (!request) return;
  State* state = admit(call, request->caller(), Allow::observers);
  if (state == nullptr) return;
  wire::StatsReply reply;
  *reply.mutable_position() = to_wire(state->position());
  reply.set_batches(state->batches());
  reply.set_pushes(state->pushes());
  reply.set_duplicates(duplicates_);
  reply.set_log_bytes(journal_ == nullptr ? 0 : static_cast<uint64_t>(journal_->log().bytes()));
  reply.set_snapshots(snapshotter_.snapshots());
  reply.set_last_pause_seconds(snapshotter_.last_pause_seconds());
  const rpc::ServerCounters counters = counters_ ? counters_() : rpc::ServerCounters();
  reply.set_bytes_in(counters.bytes_in);
  reply.set_bytes_out(counters.bytes_out);
  for (size_t i = 0; i < state->tables().size(); ++i) {
    wire::StatsReply::Table* table = reply.add_tables();
    table->set_name(state->spec().tables[i].name);
    table->set_rate(state->tables().rate(i, state->rate_step()));
    table->set_nonfinite(state->tables().nonfinite(i));
    if (state->tables().is_sparse(i)) {
      const table::TableSize size = state->tables().sparse(i).size();
      table->set_rows(size.rows);
      table->set_cold_rows(size.cold_rows);
      table->set_memory_bytes(size.memory_bytes);
    } else if (const table::DenseTable* dense = state->tables().dense(i)) {
      table->set_memory_bytes(dense->memory_bytes());
    }
  }
  for (int i = 0; i < state->members().workers(); ++i) {
    const Membership::Worker worker = state->members().worker(i);
    wire::StatsReply::Worker* out = reply.add_workers();
    out->set_incarnation(worker.incarnation);
    out->set_state(std::string(phase_name(worker.phase)));
    out->set_silent_seconds(state->members().silent_seconds(i));
    *out->mutable_window() = to_wire(worker.window);
    out->set_given_up(worker.given_up.size());
  }
  add_limits(*state, reply);
  call->send(outgoing(reply));
}

void Core::add_limits(State& state, wire::StatsReply& reply) {
  {
    std::lock_guard lock(state.mutex());
    state.exchange().measure();
  }
  const auto add = [&](std::string_view name, uint64_t now, uint64_t most, uint64_t refused) {
    wire::StatsReply::Limit* row = reply.add_limits();
    row->set_name(std::string(name));
    row->set_now(now);
    row->set_most(most);
    row->set_refused(refused);
  };
  for (const Limit* limit : limits_.all()) add(limit->name(), limit->now(), limit->most(), limit->refused());
  for (const rpc::LimitCount& count : counters_ ? counters_().limits : std::vector<rpc::LimitCount>()) {
    add(count.name, count.now, count.most, count.refused);
  }
}

}  // namespace argosy::ps
