#include "argosy/ps/client/table_calls.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "argosy/ps/client/payload.h"
#include "argosy/ps/client/reply.h"
#include "argosy/ps/client/table_check.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/spec/pass_book.h"
#include "argosy/ps/spec/staleness.h"

namespace argosy::ps {
namespace {

constexpr int kExportTries = 5;
constexpr size_t kImportBytes = size_t{16} << 20;  // of one message

std::map<double, uint64_t> by_bound(const wire::StatsReply::Table& table) {
  std::map<double, uint64_t> staleness;
  for (int i = 0; i < table.staleness_size(); ++i) {
    const auto place = static_cast<size_t>(i);
    const double bound = place < kStalenessBounds.size() ? static_cast<double>(kStalenessBounds[place]) : HUGE_VAL;
    if (table.staleness(i) > 0) staleness[bound] += table.staleness(i);
  }
  return staleness;
}

ServerStats plain(const wire::StatsReply& reply) {
  ServerStats stats{.position = from_wire(reply.position()),
                    .batches = reply.batches(),
                    .pushes = reply.pushes(),
                    .duplicates = reply.duplicates(),
                    .log_bytes = reply.log_bytes(),
                    .snapshots = reply.snapshots(),
                    .last_pause_seconds = reply.last_pause_seconds(),
                    .bytes_in = reply.bytes_in(),
                    .bytes_out = reply.bytes_out()};
  for (const auto& table : reply.tables()) {
    stats.tables.push_back({.name = table.name(),
                            .rows = table.rows(),
                            .cold_rows = table.cold_rows(),
                            .memory_bytes = table.memory_bytes(),
                            .rate = table.rate(),
                            .nonfinite = table.nonfinite(),
                            .staleness = by_bound(table),
                            .staleness_sum = table.staleness_sum()});
  }
  for (const auto& worker : reply.workers()) {
    stats.workers.push_back({.incarnation = worker.incarnation(),
                             .state = worker.state(),
                             .silent_seconds = worker.silent_seconds(),
                             .window = from_wire(worker.window()),
                             .given_up = worker.given_up()});
  }
  for (const auto& limit : reply.limits()) {
    stats.limits.push_back({.name = limit.name(), .now = limit.now(), .most = limit.most(), .refused = limit.refused()});
  }
  return stats;
}

}  // namespace

// Each server's range of a dense table.
Status TableCalls::send_dense(wire::Method method, int table, std::span<const float> values) {
  RETURN_IF_ERROR(check_dense_size(job(), table, values.size()));
  std::vector<ServerCall> calls;
  for (int server = 0; server < servers().size(); ++server) {
    const Range range = dense_range(job(), static_cast<size_t>(table), servers().size(), server);
    if (range.size() == 0) continue;
    wire::InitDenseRequest request;  // ImportDenseRequest has the same fields
    request.set_table(static_cast<uint32_t>(table));
    PayloadWriter payload(bytes_, range.size() * sizeof(float));
    payload.copy(values.subspan(range.begin, range.size()));
    calls.push_back({server, session_.message(method, server, std::move(request))});
    calls.back().message.payload = payload.finish();
  }
  return servers().call(std::move(calls)).status();
}

Status TableCalls::init_dense(int table, std::span<const float> values) { return send_dense(wire::INIT_DENSE, table, values); }

Status TableCalls::import_dense(int table, std::span<const float> values) {
  return send_dense(wire::IMPORT_DENSE, table, values);
}

Status TableCalls::wait_initialised(Deadline deadline) {
  return servers().call(session_.to_all(wire::WAIT_INITIALISED, wire::WaitInitialisedRequest()), deadline).status();
}

Status TableCalls::for_each_row(int table, const RowVisitor& visit, size_t max_bytes) {
  RETURN_IF_ERROR(check_table_kind(job(), table, true));
  for (int server = 0; server < servers().size(); ++server) {
    Status status = export_rows(server, table, visit, max_bytes);
    // A server that was started again has forgotten the session.
    for (int tries = 1; status.code() == Code::not_found && tries < kExportTries; ++tries) {
      status = export_rows(server, table, visit, max_bytes);
    }
    RETURN_IF_ERROR(status);
  }
  return {};
}

Status TableCalls::export_rows(int server, int table, const RowVisitor& visit, size_t max_bytes) {
  const TableSpec& spec = job().tables[static_cast<size_t>(table)];
  uint64_t session = 0;
  for (uint64_t number = 0;; ++number) {
    wire::ExportRowsRequest request;
    request.set_table(static_cast<uint32_t>(table));
    request.set_session(session);
    request.set_number(number);
    request.set_max_bytes(max_bytes);
    ASSIGN_OR_RETURN(const auto received,
                     servers().call(server, session_.message(wire::EXPORT_ROWS, server, std::move(request))));
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::ExportRowsReply>(received));
    const auto keys = received.payload.values<uint64_t>(0, reply.count());
    const auto rows = received.payload.values<float>(keys.size_bytes(), keys.size() * spec.width);
    if (keys.size() != reply.count() || rows.size() != keys.size() * spec.width) {
      return Status::data_loss("{}: a piece of table '{}' says {} rows and has {} bytes", servers().name(server), spec.name,
                               reply.count(), received.payload.size());
    }
    if (!keys.empty()) RETURN_IF_ERROR(visit(keys, rows));
    if (reply.done()) return {};
    session = reply.session();
  }
}

Status TableCalls::import_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) {
  RETURN_IF_ERROR(check_table_kind(job(), table, true));
  const TableSpec& spec = job().tables[static_cast<size_t>(table)];
  if (values.size() != keys.size() * spec.width) {
    return Status::invalid_argument("table '{}': {} values for {} rows of width {}", spec.name, values.size(), keys.size(),
                                    spec.width);
  }
  const auto split = splits_.take();
  const size_t piece = std::max<size_t>(1, kImportBytes / (sizeof(uint64_t) + spec.width * sizeof(float)));
  for (size_t first = 0; first < keys.size(); first += piece) {
    const auto some = keys.subspan(first, std::min(piece, keys.size() - first));
    split->assign(std::span(&some, 1), servers().size());
    std::vector<ServerCall> calls;
    for (int server = 0; server < servers().size(); ++server) {
      const size_t count = split->count(server);
      if (count == 0) continue;
      wire::ImportRowsRequest request;
      request.set_table(static_cast<uint32_t>(table));
      request.set_count(count);
      PayloadWriter payload(bytes_, count * (sizeof(uint64_t) + spec.width * sizeof(float)));
      split->copy_keys(server, 0, some, payload.room<uint64_t>(count));
      split->gather(server, 0, values.data() + first * spec.width, spec.width, payload.room<float>(count * spec.width));
      calls.push_back({server, session_.message(wire::IMPORT_ROWS, server, std::move(request))});
      calls.back().message.payload = payload.finish();
    }
    RETURN_IF_ERROR(servers().call(std::move(calls)).status());
  }
  return {};
}

Status TableCalls::set_rate(int table, std::optional<float> rate) {
  wire::SetRateRequest request;
  request.set_table(table);
  request.set_rate(rate.value_or(0));
  request.set_back_to_schedule(!rate);
  return servers().call(session_.to_all(wire::SET_RATE, request)).status();
}

Result<ShrinkReport> TableCalls::shrink(int table, const ShrinkLimits& limits, uint64_t number) {
  wire::ShrinkRequest request;
  request.set_table(table);
  if (limits.score) request.set_score(*limits.score);
  if (limits.unseen_steps) request.set_unseen_steps(*limits.unseen_steps);
  if (limits.ttl_seconds) request.set_ttl_seconds(*limits.ttl_seconds);
  request.set_number(number);
  ASSIGN_OR_RETURN(const auto answers, servers().call(session_.to_all(wire::SHRINK, request)));
  ShrinkReport report;
  for (const rpc::Received& answer : answers) {
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::ShrinkReply>(answer));
    report.kept += reply.kept();
    report.dropped += reply.dropped();
    report.dropped_waiting += reply.dropped_waiting();
  }
  return report;
}

Result<std::vector<ServerStats>> TableCalls::stats() {
  ASSIGN_OR_RETURN(const auto answers, servers().call(session_.to_all(wire::STATS, wire::StatsRequest())));
  std::vector<ServerStats> stats;
  for (const rpc::Received& answer : answers) {
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::StatsReply>(answer));
    stats.push_back(plain(reply));
  }
  return stats;
}

Result<JobLedger> TableCalls::ledger() {
  ASSIGN_OR_RETURN(const auto answers, servers().call(session_.to_all(wire::LEDGER, wire::LedgerRequest())));
  std::vector<wire::LedgerReply> replies;
  for (const rpc::Received& answer : answers) {
    ASSIGN_OR_RETURN(auto reply, parse_reply<wire::LedgerReply>(answer));
    replies.push_back(std::move(reply));
  }
  return join_ledgers(replies);
}

}  // namespace argosy::ps
