// Long operations, from the side of who asks for them.
#include <numeric>

#include "argosy/base/identity.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/ps/client_impl.h"

namespace argosy::ps {
namespace {

constexpr double kQuietSeconds = 2;   // nothing is said of what takes no longer
constexpr double kLineSeconds = 10;   // from one line to the next
constexpr double kCancelSeconds = 5;

}  // namespace

std::vector<int> ClientImpl::all_servers() const {
  std::vector<int> servers(static_cast<size_t>(servers_->size()));
  std::iota(servers.begin(), servers.end(), 0);
  return servers;
}

template <typename Reply, typename Request>
Result<std::vector<Reply>> ClientImpl::until_done(wire::Method method, Request request, std::vector<int> servers,
                                                  std::string_view what) {
  if (request.attempt() == 0) request.set_attempt(draw_identity());
  const Deadline deadline = Deadline::after_seconds(options_.operation_seconds);
  Stopwatch since_start, since_line;
  std::vector<Reply> replies(servers.size());
  for (Reply& reply : replies) reply.set_running(true);
  bool said = false;
  for (;;) {
    std::vector<size_t> asked;
    std::vector<ServerCall> calls;
    for (size_t i = 0; i < servers.size(); ++i) {
      if (!replies[i].running()) continue;
      asked.push_back(i);
      calls.push_back({servers[i], message(method, servers[i], request)});
    }
    auto answers = servers_->call(std::move(calls));
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
    if (!running) {
      if (said) log_info("{}: done after {:.0f} s", what, since_start.seconds());
      return replies;
    }
    if (deadline.passed()) {
      cancel_operation(request.id(), request.attempt());
      return Status::deadline_exceeded("{} is not done after {:.0f} s (operation_seconds) and was cancelled at {} of {} rows",
                                       what, options_.operation_seconds, with_thousands(static_cast<int64_t>(done)),
                                       with_thousands(static_cast<int64_t>(total)));
    }
    if (since_start.seconds() > kQuietSeconds && (!said || since_line.seconds() > kLineSeconds)) {
      log_info("{}: {} of {} rows after {:.0f} s", what, with_thousands(static_cast<int64_t>(done)),
               with_thousands(static_cast<int64_t>(total)), since_start.seconds());
      said = true;
      since_line.restart();
    }
  }
}

template Result<std::vector<wire::SaveSnapshotReply>> ClientImpl::until_done(wire::Method, wire::SaveSnapshotRequest,
                                                                             std::vector<int>, std::string_view);
template Result<std::vector<wire::LoadSnapshotReply>> ClientImpl::until_done(wire::Method, wire::LoadSnapshotRequest,
                                                                             std::vector<int>, std::string_view);

// Of a load that has failed and was cancelled: who asks again in the same attempt begins nothing, and is told how it went.
std::string ClientImpl::where_loaded(const wire::LoadSnapshotRequest& request) {
  std::vector<std::string> loaded, as_before, unknown;
  const Deadline deadline = Deadline::after_seconds(kCancelSeconds);
  for (const int server : all_servers()) {
    Status status;
    bool running = true;
    while (status.ok() && running && !deadline.passed()) {
      const auto answer = servers_->call(server, message(wire::LOAD_SNAPSHOT, server, request), deadline);
      const auto reply =
          answer.ok() ? parse_reply<wire::LoadSnapshotReply>(*answer) : Result<wire::LoadSnapshotReply>(answer.status());
      status = reply.status();
      running = reply.ok() && reply->running();
    }
    const bool away = status.code() == Code::unavailable || status.code() == Code::deadline_exceeded || (status.ok() && running);
    (away ? unknown : status.ok() ? loaded : as_before).push_back(servers_->name(server));
  }
  std::string text = loaded.empty() ? "no server is known to have the new values" : "the new values are on " + join(loaded, ", ");
  if (!as_before.empty()) text += "; as before: " + join(as_before, ", ");
  if (!unknown.empty()) text += "; not known: " + join(unknown, ", ");
  return text + ". Load again, or start the job again: until then servers hold values of different times";
}

// As well as it can be: a server that does not hear of it gives up by itself when nobody asks any more.
void ClientImpl::cancel_operation(uint64_t id, uint64_t attempt) {
  wire::CancelOperationRequest request;
  request.set_id(id);
  request.set_attempt(attempt);
  (void)servers_->call(to_all(wire::CANCEL_OPERATION, request), Deadline::after_seconds(kCancelSeconds));
}

}  // namespace argosy::ps
