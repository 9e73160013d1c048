// What a client does for tables as a whole: first values, export and import, rates, shrinking, snapshots.
#include <algorithm>
#include <map>

#include "argosy/base/identity.h"
#include "argosy/ps/client_impl.h"
#include "argosy/ps/job_spec_wire.h"

namespace argosy::ps {
namespace {

constexpr int kExportTries = 5;
constexpr size_t kImportBytes = size_t{16} << 20;  // of one message

wire::SnapshotKind wire_kind(SnapshotKind kind) {
  switch (kind) {
    case SnapshotKind::full: return wire::FULL;
    case SnapshotKind::delta: return wire::DELTA;
    case SnapshotKind::base: return wire::BASE;
  }
  return wire::FULL;
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
                            .nonfinite = table.nonfinite()});
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
Status ClientImpl::send_dense(wire::Method method, int table, std::span<const float> values) {
  RETURN_IF_ERROR(check_dense(table, values.size()));
  std::vector<ServerCall> calls;
  for (int server = 0; server < servers_->size(); ++server) {
    const Range range = dense_range(spec_, static_cast<size_t>(table), servers_->size(), server);
    if (range.size() == 0) continue;
    wire::InitDenseRequest request;  // ImportDenseRequest has the same fields
    request.set_table(static_cast<uint32_t>(table));
    PayloadWriter payload(bytes_, range.size() * sizeof(float));
    payload.copy(values.subspan(range.begin, range.size()));
    calls.push_back({server, message(method, server, std::move(request))});
    calls.back().message.payload = payload.finish();
  }
  return servers_->call(std::move(calls)).status();
}

Status ClientImpl::init_dense(int table, std::span<const float> values) { return send_dense(wire::INIT_DENSE, table, values); }

Status ClientImpl::import_dense(int table, std::span<const float> values) {
  return send_dense(wire::IMPORT_DENSE, table, values);
}

Status ClientImpl::wait_initialised(Deadline deadline) {
  return servers_->call(to_all(wire::WAIT_INITIALISED, wire::WaitInitialisedRequest()), deadline).status();
}

Status ClientImpl::for_each_row(int table, const RowVisitor& visit, size_t max_bytes) {
  RETURN_IF_ERROR(check_table(table, true));
  for (int server = 0; server < servers_->size(); ++server) {
    Status status = export_rows(server, table, visit, max_bytes);
    // A server that was started again has forgotten the session.
    for (int tries = 1; status.code() == Code::not_found && tries < kExportTries; ++tries) {
      status = export_rows(server, table, visit, max_bytes);
    }
    RETURN_IF_ERROR(status);
  }
  return {};
}

Status ClientImpl::export_rows(int server, int table, const RowVisitor& visit, size_t max_bytes) {
  const TableSpec& spec = spec_.tables[static_cast<size_t>(table)];
  uint64_t session = 0;
  for (uint64_t number = 0;; ++number) {
    wire::ExportRowsRequest request;
    request.set_table(static_cast<uint32_t>(table));
    request.set_session(session);
    request.set_number(number);
    request.set_max_bytes(max_bytes);
    ASSIGN_OR_RETURN(const auto received, servers_->call(server, message(wire::EXPORT_ROWS, server, std::move(request))));
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::ExportRowsReply>(received));
    const auto keys = received.payload.values<uint64_t>(0, reply.count());
    const auto rows = received.payload.values<float>(keys.size_bytes(), keys.size() * spec.width);
    if (keys.size() != reply.count() || rows.size() != keys.size() * spec.width) {
      return Status::data_loss("{}: a piece of table '{}' says {} rows and has {} bytes", servers_->name(server), spec.name,
                               reply.count(), received.payload.size());
    }
    if (!keys.empty()) RETURN_IF_ERROR(visit(keys, rows));
    if (reply.done()) return {};
    session = reply.session();
  }
}

Status ClientImpl::import_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) {
  RETURN_IF_ERROR(check_table(table, true));
  const TableSpec& spec = spec_.tables[static_cast<size_t>(table)];
  if (values.size() != keys.size() * spec.width) {
    return Status::invalid_argument("table '{}': {} values for {} rows of width {}", spec.name, values.size(), keys.size(),
                                    spec.width);
  }
  const auto scratch = scratch_.take();
  const size_t piece = std::max<size_t>(1, kImportBytes / (sizeof(uint64_t) + spec.width * sizeof(float)));
  for (size_t first = 0; first < keys.size(); first += piece) {
    const auto some = keys.subspan(first, std::min(piece, keys.size() - first));
    scratch->split.assign(std::span(&some, 1), servers_->size());
    std::vector<ServerCall> calls;
    for (int server = 0; server < servers_->size(); ++server) {
      const size_t count = scratch->split.count(server);
      if (count == 0) continue;
      wire::ImportRowsRequest request;
      request.set_table(static_cast<uint32_t>(table));
      request.set_count(count);
      PayloadWriter payload(bytes_, count * (sizeof(uint64_t) + spec.width * sizeof(float)));
      scratch->split.copy_keys(server, 0, some, payload.room<uint64_t>(count));
      scratch->split.gather(server, 0, values.data() + first * spec.width, spec.width, payload.room<float>(count * spec.width));
      calls.push_back({server, message(wire::IMPORT_ROWS, server, std::move(request))});
      calls.back().message.payload = payload.finish();
    }
    RETURN_IF_ERROR(servers_->call(std::move(calls)).status());
  }
  return {};
}

Status ClientImpl::set_rate(int table, std::optional<float> rate) {
  wire::SetRateRequest request;
  request.set_table(table);
  request.set_rate(rate.value_or(0));
  request.set_back_to_schedule(!rate);
  return servers_->call(to_all(wire::SET_RATE, request)).status();
}

Result<ShrinkReport> ClientImpl::shrink(int table, const ShrinkLimits& limits, uint64_t number) {
  wire::ShrinkRequest request;
  request.set_table(table);
  if (limits.score) request.set_score(*limits.score);
  if (limits.unseen_steps) request.set_unseen_steps(*limits.unseen_steps);
  if (limits.ttl_seconds) request.set_ttl_seconds(*limits.ttl_seconds);
  request.set_number(number);
  ASSIGN_OR_RETURN(const auto answers, servers_->call(to_all(wire::SHRINK, request)));
  ShrinkReport report;
  for (const rpc::Received& answer : answers) {
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::ShrinkReply>(answer));
    report.kept += reply.kept();
    report.dropped += reply.dropped();
    report.dropped_waiting += reply.dropped_waiting();
  }
  return report;
}

Result<std::vector<SnapshotPart>> ClientImpl::save_snapshot(const std::string& folder, SnapshotKind kind, std::string_view extra,
                                                            uint64_t number) {
  wire::SaveSnapshotRequest request;
  request.set_folder(folder);
  request.set_kind(wire_kind(kind));
  request.set_extra(std::string(extra));
  request.set_id(number != 0 ? number : draw_identity());
  const std::string what = fmt::format("saving snapshot '{}'", folder);
  ASSIGN_OR_RETURN(const auto replies, until_done<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, request, all_servers(), what));
  std::vector<SnapshotPart> parts;
  for (const wire::SaveSnapshotReply& reply : replies) {
    parts.push_back({.part = reply.part(), .rows = reply.rows(), .bytes = reply.bytes(), .pause_seconds = reply.pause_seconds()});
  }
  request.set_publish(true);
  RETURN_IF_ERROR(until_done<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, request, {0}, what).status());
  RETURN_IF_ERROR(until_done<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, request, all_servers(), what).status());
  return parts;
}

Result<LoadReport> ClientImpl::load_snapshot(const std::string& folder, uint64_t number) {
  wire::LoadSnapshotRequest request;
  request.set_folder(folder);
  request.set_id(number != 0 ? number : draw_identity());
  request.set_attempt(draw_identity());
  const std::string what = fmt::format("loading snapshot '{}'", folder);
  const auto replies = until_done<wire::LoadSnapshotReply>(wire::LOAD_SNAPSHOT, request, all_servers(), what);
  if (!replies.ok() && servers_->size() > 1)
    return Status(replies.status().code(), fmt::format("{}; {}", replies.status().message(), where_loaded(request)));
  RETURN_IF_ERROR(replies.status());
  LoadReport report;
  std::map<std::string, size_t> places;
  for (const wire::LoadSnapshotReply& reply : *replies) {
    report.extra = reply.extra();
    for (const wire::TableReport& table : reply.tables()) {
      const auto [place, is_new] = places.emplace(table.table(), report.tables.size());
      if (is_new)
        report.tables.push_back(from_wire(table));
      else
        report.tables[place->second].rows += table.rows();
    }
  }
  return report;
}

Result<std::vector<ServerStats>> ClientImpl::stats() {
  ASSIGN_OR_RETURN(const auto answers, servers_->call(to_all(wire::STATS, wire::StatsRequest())));
  std::vector<ServerStats> stats;
  for (const rpc::Received& answer : answers) {
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::StatsReply>(answer));
    stats.push_back(plain(reply));
  }
  return stats;
}

}  // namespace argosy::ps
