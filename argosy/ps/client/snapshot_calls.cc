#include "argosy/ps/client/snapshot_calls.h"

#include <fmt/format.h>

#include <map>

#include "argosy/base/identity.h"
#include "argosy/base/progress.h"
#include "argosy/base/text.h"
#include "argosy/ps/client/reply.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

constexpr double kCancelSeconds = 5;

wire::SnapshotKind wire_kind(SnapshotKind kind) {
  switch (kind) {
    case SnapshotKind::full: return wire::FULL;
    case SnapshotKind::delta: return wire::DELTA;
    case SnapshotKind::base: return wire::BASE;
  }
  return wire::FULL;
}

}  // namespace

template <typename Reply, typename Request>
Result<std::vector<Reply>> SnapshotCalls::until_done(wire::Method method, Request request, std::vector<int> servers,
                                                     std::string_view what) {
  if (request.attempt() == 0) request.set_attempt(draw_identity());
  const Deadline deadline = Deadline::after_seconds(session_.options().operation_seconds);
  Progress progress(method == wire::SAVE_SNAPSHOT ? "save" : "load");
  std::vector<Reply> replies(servers.size());
  for (Reply& reply : replies) reply.set_running(true);
  for (;;) {
    std::vector<size_t> asked;
    std::vector<ServerCall> calls;
    for (size_t i = 0; i < servers.size(); ++i) {
      if (!replies[i].running()) continue;
      asked.push_back(i);
      calls.push_back({servers[i], session_.message(method, servers[i], request)});
    }
    auto answers = session_.servers().call(std::move(calls));
    if (!answers.ok()) {
      cancel_operation(request.id(), request.attempt());
      return answers.status().with_context("{}", what);
    }
    uint64_t done = 0, total = 0;
    bool running = false;
    for (size_t i = 0; i < asked.size(); ++i) {
      ASSIGN_OR_RETURN(replies[asked[i]], parse_reply<Reply>((*answers)[i]));
      running |= replies[asked[i]].running();
      done += replies[asked[i]].rows_done();
      total += replies[asked[i]].rows_total();
    }
    if (!running) return replies;
    if (deadline.passed()) {
      cancel_operation(request.id(), request.attempt());
      return Status::deadline_exceeded("{} is not done after {:.0f} s (operation_seconds) and was cancelled at {} of {} rows",
                                       what, session_.options().operation_seconds, with_thousands(static_cast<int64_t>(done)),
                                       with_thousands(static_cast<int64_t>(total)));
    }
    if (total > 0) progress.set(static_cast<double>(done) / static_cast<double>(total));
  }
}

template Result<std::vector<wire::SaveSnapshotReply>> SnapshotCalls::until_done(wire::Method, wire::SaveSnapshotRequest,
                                                                                std::vector<int>, std::string_view);
template Result<std::vector<wire::LoadSnapshotReply>> SnapshotCalls::until_done(wire::Method, wire::LoadSnapshotRequest,
                                                                                std::vector<int>, std::string_view);

// Of a load that has failed and was cancelled: who asks again in the same attempt begins nothing, and is told how it went.
std::string SnapshotCalls::where_loaded(const wire::LoadSnapshotRequest& request) {
  std::vector<std::string> loaded, as_before, unknown;
  const Deadline deadline = Deadline::after_seconds(kCancelSeconds);
  for (const int server : session_.all()) {
    Status status;
    bool running = true;
    while (status.ok() && running && !deadline.passed()) {
      const auto answer = servers().call(server, session_.message(wire::LOAD_SNAPSHOT, server, request), deadline);
      const auto reply =
          answer.ok() ? parse_reply<wire::LoadSnapshotReply>(*answer) : Result<wire::LoadSnapshotReply>(answer.status());
      status = reply.status();
      running = reply.ok() && reply->running();
    }
    const bool away = status.code() == Code::unavailable || status.code() == Code::deadline_exceeded || (status.ok() && running);
    (away ? unknown : status.ok() ? loaded : as_before).push_back(servers().name(server));
  }
  std::string text = loaded.empty() ? "no server is known to have the new values" : "the new values are on " + join(loaded, ", ");
  if (!as_before.empty()) text += "; as before: " + join(as_before, ", ");
  if (!unknown.empty()) text += "; not known: " + join(unknown, ", ");
  return text + ". Load again, or start the job again: until then servers hold values of different times";
}

// As well as it can be: a server that does not hear of it gives up by itself when nobody asks any more.
void SnapshotCalls::cancel_operation(uint64_t id, uint64_t attempt) {
  wire::CancelOperationRequest request;
  request.set_id(id);
  request.set_attempt(attempt);
  (void)session_.servers().call(session_.to_all(wire::CANCEL_OPERATION, request), Deadline::after_seconds(kCancelSeconds));
}

Result<std::vector<ServerSnapshotPart>> SnapshotCalls::save_snapshot(const std::string& folder, SnapshotKind kind,
                                                                     std::string_view extra, uint64_t number) {
  wire::SaveSnapshotRequest request;
  request.set_folder(folder);
  request.set_kind(wire_kind(kind));
  request.set_extra(std::string(extra));
  request.set_id(number != 0 ? number : draw_identity());
  const std::string what = fmt::format("saving snapshot '{}'", folder);
  ASSIGN_OR_RETURN(const auto replies, until_done<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, request, session_.all(), what));
  std::vector<ServerSnapshotPart> parts;
  for (const wire::SaveSnapshotReply& reply : replies) {
    parts.push_back({.part = reply.part(), .rows = reply.rows(), .bytes = reply.bytes(), .pause_seconds = reply.pause_seconds()});
  }
  request.set_publish(true);
  RETURN_IF_ERROR(until_done<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, request, {0}, what).status());
  RETURN_IF_ERROR(until_done<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, request, session_.all(), what).status());
  return parts;
}

Result<SnapshotLoadReport> SnapshotCalls::load_snapshot(const std::string& folder, uint64_t number) {
  wire::LoadSnapshotRequest request;
  request.set_folder(folder);
  request.set_id(number != 0 ? number : draw_identity());
  request.set_attempt(draw_identity());
  const std::string what = fmt::format("loading snapshot '{}'", folder);
  const auto replies = until_done<wire::LoadSnapshotReply>(wire::LOAD_SNAPSHOT, request, session_.all(), what);
  if (!replies.ok() && servers().size() > 1)
    return Status(replies.status().code(), fmt::format("{}; {}", replies.status().message(), where_loaded(request)));
  RETURN_IF_ERROR(replies.status());
  SnapshotLoadReport report;
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

}  // namespace argosy::ps
