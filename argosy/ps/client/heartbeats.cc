#include "argosy/ps/client/heartbeats.h"

#include <algorithm>

#include "argosy/base/mutex.h"
#include "argosy/ps/client/reply.h"

namespace argosy::ps {
namespace {

constexpr double kShortestBeat = 0.01, kLongestBeat = 5;  // seconds between two signs of life, whatever the lease
constexpr double kLookSeconds = 0.2;                      // between two looks at what heartbeats have found

}  // namespace

Heartbeats::Heartbeats(Session& session, Comparison& comparison)
    : session_(session), comparison_(comparison), settler_(std::make_shared<LossSettler>(session.size())) {
  thread_ = Thread("ps-heartbeat", [this] { run(); });
}

void Heartbeats::add(int server) {
  {
    MutexLock lock(mutex_);
    servers_.insert(server);
  }
  changed_.notify_all();
}

bool Heartbeats::stop() {
  {
    MutexLock lock(mutex_);
    if (stopping_) return false;
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  return true;
}

// A heartbeat that is lost is made up for by the next; one that is refused says what every other call will be told.
void Heartbeats::run() {
  std::set<int> known;
  Deadline next = Deadline::after_seconds(kLongestBeat);
  for (double every = kLongestBeat;;) {
    session_.servers().look();
    {
      MutexLock lock(mutex_);
      const auto wake = std::min(next.when(), Deadline::after_seconds(kLookSeconds).when());
      changed_.wait_until(lock, wake, [&]() ARGOSY_REQUIRES(mutex_) { return stopping_ || servers_.size() > known.size(); });
      if (stopping_) return;
      if (servers_.size() == known.size() && !next.passed()) {
        lock.unlock();
        (void)comparison_.act_on_losses();
        continue;
      }
      known = servers_;
    }
    for (const int server : known) {
      every = std::min(every, std::max(session_.lease_seconds(server) / 4, kShortestBeat));
      beat(server);
    }
    if (static_cast<int>(known.size()) == session_.size()) settle_losses(Deadline::after_seconds(every));
    next = Deadline::after_seconds(every);
  }
}

// With the heartbeats, because every worker that is alive has them and nothing waits for them.
void Heartbeats::settle_losses(Deadline deadline) {
  for (auto& [server, request] : settler_->due()) {
    const auto answered = [settler = settler_, to = server, loss = request.loss()](const Result<rpc::Received>& answer) {
      if (!answer.ok()) return;
      if (const auto reply = parse_reply<wire::SettleLossReply>(*answer); reply.ok()) settler->answered(to, loss, *reply);
    };
    session_.servers().channel(server).call(session_.message(wire::SETTLE_LOSS, server, std::move(request)), deadline, answered);
  }
}

void Heartbeats::beat(int server) {
  const double seconds = std::clamp(session_.lease_seconds(server) / 4, kShortestBeat, kLongestBeat);
  const auto answered = [settler = settler_, look = comparison_.on_beat(server)](const Result<rpc::Received>& answer) {
    const auto reply = answer.ok() ? parse_reply<wire::HeartbeatReply>(*answer) : Result<wire::HeartbeatReply>(answer.status());
    if (reply.ok()) settler->heard(*reply);
    look(answer, reply.ok() ? &*reply : nullptr);
  };
  session_.servers().heartbeats(server).call(session_.message(wire::HEARTBEAT, server, comparison_.beat(server)),
                                             Deadline::after_seconds(seconds), answered);
}

}  // namespace argosy::ps
