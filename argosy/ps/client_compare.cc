// How a client finds out that a server has less than it should: by heartbeats, by servers that ask for it after a restart, and at
// barriers. messages.proto (Compare) has the protocol.
#include <algorithm>

#include "argosy/base/notice.h"
#include "argosy/base/plant.h"
#include "argosy/ps/client_impl.h"
#include "argosy/ps/job_spec_wire.h"

namespace argosy::ps {

void ClientImpl::Watch::compare(int server, const Window& had, const Window& found, uint64_t boot, bool again) {
  std::lock_guard lock(mutex);
  if (const auto loss = acknowledged.compare(server, had, found, boot, again)) losses.push_back(*loss);
}

void ClientImpl::Watch::refused(const Status& status, uint64_t when) {
  std::lock_guard lock(mutex);
  if (when == resumed) refusal = status;  // else it was meant for who this worker was before
}

// The answer also says whether the server was started again, and what it has then: no less than it had acknowledged before it
// was asked, or batches are lost.
void ClientImpl::beat(int server) {
  wire::HeartbeatRequest request;
  request.set_boot(watch_->acknowledged.boot(server));
  const double seconds = std::max(introductions_[static_cast<size_t>(server)].lease_seconds / 4, kShortestBeat);
  const auto answered = [watch = watch_, settler = settler_, server, resumed = watch_->resumed.load(),
                         name = servers_->name(server),
                         had = watch_->acknowledged.window(server)](const Result<rpc::Received>& answer) {
    if (answer.status().code() == Code::failed_precondition) watch->refused(answer.status().with_context("{}", name), resumed);
    if (!answer.ok()) return;
    const auto reply = parse_reply<wire::HeartbeatReply>(*answer);
    if (!reply.ok()) return;
    settler->heard(*reply);
    if (reply->has_window()) watch->compare(server, had, from_wire(reply->window()), reply->boot());
  };
  servers_->heartbeats(server).call(message(wire::HEARTBEAT, server, request),
                                    Deadline::after_seconds(std::min(seconds, kLongestBeat)), answered);
}

Status ClientImpl::act_on_losses() {
  std::vector<std::pair<LogLevel, std::string>> lines;
  Status end;
  {
    std::lock_guard lock(watch_->mutex);
    end = std::exchange(watch_->refusal, Status());
    for (const Acknowledged::Loss& loss : std::exchange(watch_->losses, {})) {
      const std::string what = Acknowledged::describe(loss);
      if (loss.allowed || ARGOSY_PLANTED("loss_not_noticed")) {
        lines.emplace_back(LogLevel::warning,
                           fmt::format("{} was started again and has lost {}, of worker {}; its durability allows that",
                                       servers_->name(loss.server), what, options_.worker));
        continue;
      }
      went_back_ = true;
      end = Status::data_loss(
          "{} was started again without {}, of worker {}: its log was cut short, as by a power cut (durability=wal_sync keeps "
          "what is acknowledged), or its directory was changed",
          servers_->name(loss.server), what, options_.worker);
    }
    if (!end.ok()) servers_->end(end);
  }
  if (!end.ok()) lines.emplace_back(LogLevel::warning, end.message());
  for (const auto& [level, line] : lines) notice_line(level, line);
  return end;
}

rpc::Message ClientImpl::compare_message(int server, uint64_t boot) const {
  wire::CompareRequest request;
  request.set_boot(boot);
  for (const Window& window : frontier_.expected(server)) *request.add_expected() = to_wire(window);
  return message(wire::COMPARE, server, std::move(request));
}

Status ClientImpl::compare_with(int server, bool again) {
  const Deadline deadline = Deadline::after_seconds(options_.server_wait_seconds);
  for (;;) {
    const Window had = watch_->acknowledged.window(server);
    const uint64_t boot = again ? 0 : watch_->acknowledged.boot(server);
    std::vector<ServerCall> calls;
    calls.push_back({server, compare_message(server, boot)});
    ASSIGN_OR_RETURN(const auto answers, servers_->call_to_compare(std::move(calls), deadline));
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::CompareReply>(answers.front()));
    if (!reply.has_window()) return {};
    watch_->compare(server, had, from_wire(reply.window()), reply.boot(), again);
    RETURN_IF_ERROR(act_on_losses());
    again = false;
  }
}

Status ClientImpl::compare_after_barrier(Deadline deadline) {
  const std::vector<int> servers = frontier_.take_unasked();
  if (servers.empty()) return {};
  std::vector<ServerCall> calls;
  for (const int server : servers) calls.push_back({server, compare_message(server, watch_->acknowledged.boot(server))});
  const auto answers = servers_->call_to_compare(std::move(calls), deadline);
  Status status = answers.status();
  for (size_t i = 0; status.ok() && i < servers.size(); ++i) {
    const auto reply = parse_reply<wire::CompareReply>((*answers)[i]);
    status = reply.status();
    if (reply.ok() && reply->has_window()) status = compare_with(servers[i]);
  }
  if (!status.ok()) frontier_.not_asked(servers);
  return status;
}

}  // namespace argosy::ps
