#include "argosy/ps/client/comparison.h"

#include <fmt/format.h>

#include <utility>

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/notice.h"
#include "argosy/base/plant.h"
#include "argosy/ps/client/reply.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {

void Comparison::Watch::compare(int server, const Window& had, const Window& found, uint64_t boot, bool again) {
  MutexLock lock(mutex);
  if (const auto loss = acknowledged.compare(server, had, found, boot, again)) losses.push_back(*loss);
}

void Comparison::Watch::refused(const Status& status, uint64_t when) {
  MutexLock lock(mutex);
  if (when == resumed) refusal = status;  // else it was meant for who this worker was before
}

Comparison::Comparison(Session& session)
    : session_(session), watch_(std::make_shared<Watch>(session.size())), frontier_(session.size(), session.worker()) {
  session_.servers().set_compare([this](int server) { return compare_with(server); });
}

void Comparison::greeted(int server, const wire::HelloReply& reply) {
  const Window window = from_wire(reply.window());
  Acknowledged& known = watch_->acknowledged;
  if (const auto loss = known.compare(server, known.window(server), window, reply.boot())) {
    log_warning("{} was started again without {}, of worker {}", session_.servers().name(server), Acknowledged::describe(*loss),
                session_.worker());
  }
  known.greeted(server, window, reply.boot(), reply.may_lose());
}

void Comparison::resume() {
  MutexLock lock(watch_->mutex);
  ++watch_->resumed;
  watch_->losses.clear();
  watch_->refusal = Status();
  went_back_ = false;
  session_.servers().go_on();
}

std::string Comparison::pack(std::string_view bytes) const { return Frontier::pack(bytes, watch_->acknowledged.windows()); }

wire::HeartbeatRequest Comparison::beat(int server) const {
  wire::HeartbeatRequest request;
  request.set_boot(watch_->acknowledged.boot(server));
  return request;
}

// The answer says whether the server was started again, and what it has then: no less than it had acknowledged before it was
// asked, or batches are lost.
std::function<void(const Result<rpc::Received>&, const wire::HeartbeatReply*)> Comparison::on_beat(int server) const {
  return [watch = watch_, server, resumed = watch_->resumed.load(), name = session_.servers().name(server),
          had = watch_->acknowledged.window(server)](const Result<rpc::Received>& answer, const wire::HeartbeatReply* reply) {
    if (answer.status().code() == Code::failed_precondition) watch->refused(answer.status().with_context("{}", name), resumed);
    if (reply != nullptr && reply->has_window()) watch->compare(server, had, from_wire(reply->window()), reply->boot());
  };
}

Status Comparison::act_on_losses() {
  std::vector<std::pair<LogLevel, std::string>> lines;
  Status end;
  {
    MutexLock lock(watch_->mutex);
    end = std::exchange(watch_->refusal, Status());
    for (const Acknowledged::Loss& loss : std::exchange(watch_->losses, {})) {
      const std::string what = Acknowledged::describe(loss);
      if (loss.allowed || ARGOSY_PLANTED("loss_not_noticed")) {
        lines.emplace_back(LogLevel::warning,
                           fmt::format("{} was started again and has lost {}, of worker {}; its durability allows that",
                                       session_.servers().name(loss.server), what, session_.worker()));
        continue;
      }
      went_back_ = true;
      end = Status::data_loss(
          "{} was started again without {}, of worker {}: its log was cut short, as by a power cut (durability=wal_sync keeps "
          "what is acknowledged), or its directory was changed",
          session_.servers().name(loss.server), what, session_.worker());
    }
    if (!end.ok()) session_.servers().end(end);
  }
  if (!end.ok()) lines.emplace_back(LogLevel::warning, end.message());
  for (const auto& [level, line] : lines) notice_line(level, line);
  return end;
}

rpc::Message Comparison::compare_message(int server, uint64_t boot) const {
  wire::CompareRequest request;
  request.set_boot(boot);
  for (const Window& window : frontier_.expected(server)) *request.add_expected() = to_wire(window);
  return session_.message(wire::COMPARE, server, std::move(request));
}

Status Comparison::compare_with(int server, bool again) {
  const Deadline deadline = Deadline::after_seconds(session_.options().server_wait_seconds);
  for (;;) {
    const Window had = watch_->acknowledged.window(server);
    const uint64_t boot = again ? 0 : watch_->acknowledged.boot(server);
    std::vector<ServerCall> calls;
    calls.push_back({server, compare_message(server, boot)});
    ASSIGN_OR_RETURN(const auto answers, session_.servers().call_to_compare(std::move(calls), deadline));
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::CompareReply>(answers.front()));
    session_.met(server, reply.epoch());
    if (!reply.has_window()) return {};
    watch_->compare(server, had, from_wire(reply.window()), reply.boot(), again);
    RETURN_IF_ERROR(act_on_losses());
    again = false;
  }
}

Status Comparison::after_barrier(Deadline deadline) {
  const std::vector<int> servers = frontier_.take_unasked();
  if (servers.empty()) return {};
  std::vector<ServerCall> calls;
  for (const int server : servers) calls.push_back({server, compare_message(server, watch_->acknowledged.boot(server))});
  const auto answers = session_.servers().call_to_compare(std::move(calls), deadline);
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
