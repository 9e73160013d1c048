#include "argosy/ps/client/loss_settler.h"

#include <algorithm>

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"

namespace argosy::ps {

void LossSettler::heard(const wire::HeartbeatReply& reply) {
  MutexLock lock(mutex_);
  for (const wire::UnsettledLoss& loss : reply.unsettled()) {
    Loss& known = losses_[loss.SerializeAsString()];
    if (known.has.empty()) known = {loss, std::vector<std::optional<bool>>(static_cast<size_t>(servers_))};
  }
}

void LossSettler::answered(int server, const wire::UnsettledLoss& loss, const wire::SettleLossReply& reply) {
  MutexLock lock(mutex_);
  const auto known = losses_.find(loss.SerializeAsString());
  if (known == losses_.end()) return;
  if (reply.superseded()) {
    losses_.erase(known);
    return;
  }
  known->second.has[static_cast<size_t>(server)] = reply.has();
}

std::vector<LossSettler::Call> LossSettler::due() {
  MutexLock lock(mutex_);
  std::vector<Call> calls;
  for (auto entry = losses_.begin(); entry != losses_.end();) {
    const Loss& loss = entry->second;
    const bool all_answered = std::ranges::all_of(loss.has, [](const auto& answer) { return answer.has_value(); });
    const bool keep = all_answered && std::ranges::all_of(loss.has, [](const auto& answer) { return *answer; });
    for (int server = 0; server < servers_; ++server) {
      if (!all_answered && loss.has[static_cast<size_t>(server)]) continue;
      wire::SettleLossRequest request;
      request.set_phase(!all_answered ? wire::SettleLossRequest::ASK
                        : keep        ? wire::SettleLossRequest::KEEP
                                      : wire::SettleLossRequest::DROP);
      *request.mutable_loss() = loss.what;
      calls.push_back({server, std::move(request)});
    }
    if (all_answered) {
      log_info("the last push of worker {}, which is lost, is {} every server", loss.what.worker(),
               keep ? "on all servers, and counts on" : "not on all servers, and is dropped on");
    }
    entry = all_answered ? losses_.erase(entry) : std::next(entry);  // where the decision does not arrive it is listed again
  }
  return calls;
}

}  // namespace argosy::ps
