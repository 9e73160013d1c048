#include "argosy/ps/client/servers.h"

#include <fmt/format.h>

#include <algorithm>

#include "argosy/base/mutex.h"
#include "argosy/base/notice.h"
#include "argosy/base/plant.h"
#include "argosy/base/wait_check.h"
#include "argosy/ps/client/pair_channel.h"
#include "argosy/ps/spec/worker_loss.h"

namespace argosy::ps {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{2}, kLongestPause{500};
constexpr std::chrono::seconds kLineEvery{5};
constexpr milliseconds kCheckEvery{200};  // whether a user wants the wait to end

size_t bytes_of(const rpc::Message& message) { return message.header.size() + rpc::payload_bytes(message.payload); }

}  // namespace

// One Servers::call: which of its messages are under way, wait to be sent again, or are answered.
class CallRun {
 public:
  CallRun(Servers& servers, std::vector<ServerCall> calls, std::optional<Deadline> held_until, const Servers::OnAnswer& answered,
          const Servers::Compare& compare)
      : servers_(servers),
        calls_(std::move(calls)),
        held_until_(held_until),
        answered_(answered),
        compare_(compare),
        slots_(calls_.size()) {}

  Result<std::vector<rpc::Received>> run() {
    if (servers_.ended_) return servers_.why_ended();
    for (size_t i = 0; i < calls_.size(); ++i) send(i);
    while (open_ > 0) {
      auto answers = next_answers();
      if (servers_.ended_) return servers_.why_ended();
      if (answers.empty() && wait_cancelled()) return Status::cancelled("the wait for {} was interrupted", unanswered());
      for (auto& [i, answer] : answers) RETURN_IF_ERROR(take(i, std::move(answer)));
      for (size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].send_again && *slots_[i].send_again <= SteadyClock::now()) {
          servers_.counters_.retries += 1;
          send(i);
        }
      }
      say_who_is_away();
    }
    std::vector<rpc::Received> answers;
    answers.reserve(slots_.size());
    for (Slot& slot : slots_) answers.push_back(std::move(*slot.answer));
    return answers;
  }

 private:
  // Where answers arrive. Shared with the callbacks: a caller that gives up early leaves them behind.
  struct Inbox {
    Mutex mutex;
    ConditionVariable arrived;
    std::vector<std::pair<size_t, Result<rpc::Received>>> answers ARGOSY_GUARDED_BY(mutex);
  };

  struct Slot {
    std::optional<SteadyClock::time_point> send_again;
    std::optional<SteadyClock::time_point> away_since;
    SteadyClock::duration pause = kFirstPause;
    double try_seconds = 0;  // how long the last one may take
    std::string last_error;
    std::optional<rpc::Received> answer;
  };

  void send(size_t i) {
    slots_[i].send_again.reset();
    servers_.counters_.calls += 1;
    servers_.counters_.bytes_sent += bytes_of(calls_[i].message);
    double seconds = servers_.options_.call_seconds;
    if (held_until_) seconds = std::clamp(held_until_->seconds_left(), 0.0, seconds);
    slots_[i].try_seconds = seconds;
    servers_.channel(calls_[i].server)
        .call(calls_[i].message, Deadline::after_seconds(seconds), [inbox = inbox_, i](Result<rpc::Received> answer) {
          MutexLock lock(inbox->mutex);
          inbox->answers.emplace_back(i, std::move(answer));
          inbox->arrived.notify_one();
        });
  }

  std::string unanswered() const {
    std::string names;
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].answer) names += (names.empty() ? "" : ", ") + servers_.name(calls_[i].server);
    }
    return names;
  }

  // Waits a little for answers, or until something is to be sent again.
  std::vector<std::pair<size_t, Result<rpc::Received>>> next_answers() {
    auto wake = SteadyClock::now() + kCheckEvery;
    for (const Slot& slot : slots_) {
      if (slot.send_again) wake = std::min(wake, *slot.send_again);
    }
    MutexLock lock(inbox_->mutex);
    inbox_->arrived.wait_until(lock, wake, [&]() ARGOSY_REQUIRES(inbox_->mutex) { return !inbox_->answers.empty(); });
    return std::exchange(inbox_->answers, {});
  }

  Status take(size_t i, Result<rpc::Received> answer) {
    Slot& slot = slots_[i];
    if (answer.ok()) {
      servers_.counters_.bytes_received += answer->header.size() + answer->payload.size();
      if (slot.away_since && said_) notice("{} answers again", servers_.name(calls_[i].server));
      slot.answer = std::move(*answer);
      open_ -= 1;
      return answered_ ? answered_(calls_[i].server, *slot.answer) : Status();
    }
    const Status& status = answer.status();
    if (status.code() == Code::deadline_exceeded && held_until_) return ask_again(i, status);
    if (ARGOSY_PLANTED("push_not_repeated") && !slot.away_since) slot.away_since = SteadyClock::now() - std::chrono::hours(1);
    if (status.code() == Code::unavailable || status.code() == Code::deadline_exceeded) return try_again(i, status);
    if (status.code() == Code::unauthenticated && compare_) return compare(i);
    if (const auto worker = lost_worker(status)) notice_consequence(*worker);
    return status.with_context("{}", servers_.name(calls_[i].server));
  }

  // The server is there and holds the answer back. It says why some time before the call's deadline (Call::give_up): near the
  // end there is nothing better to be had by asking again.
  Status ask_again(size_t i, const Status& status) {
    const double end = std::clamp(slots_[i].try_seconds / 2, 0.2, 10.0);
    if (held_until_->seconds_left() < end) return status.with_context("{}", servers_.name(calls_[i].server));
    slots_[i].send_again = SteadyClock::now();
    return {};
  }

  // The server is another process than before. It answers the same call once nothing is missing in it.
  Status compare(size_t i) {
    RETURN_IF_ERROR(compare_(calls_[i].server));
    slots_[i] = Slot{.send_again = SteadyClock::now()};  // it is there
    return {};
  }

  // The server is away.
  Status try_again(size_t i, const Status& status) {
    Slot& slot = slots_[i];
    const auto now = SteadyClock::now();
    if (!slot.away_since) slot.away_since = now;
    slot.last_error = status.message();
    const double away = std::chrono::duration<double>(now - *slot.away_since).count();
    const bool out_of_time = held_until_ && held_until_->passed();
    if (out_of_time || away >= servers_.options_.server_wait_seconds) {
      return Status(status.code(),
                    fmt::format("{} has not answered for {:.0f} s; it may have been killed: see its log. The last error: {}",
                                servers_.name(calls_[i].server), away, status.message()));
    }
    slot.send_again = now + slot.pause;
    slot.pause = std::min<SteadyClock::duration>(slot.pause * 2, kLongestPause);
    return {};
  }

  void say_who_is_away() {
    std::string names;
    const Slot* longest = nullptr;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      if (slot.answer || !slot.away_since) continue;
      names += (names.empty() ? "" : ", ") + servers_.name(calls_[i].server);
      if (longest == nullptr || *slot.away_since < *longest->away_since) longest = &slot;
    }
    if (longest == nullptr || SteadyClock::now() - *longest->away_since < kLineEvery || !servers_.line_due()) return;
    const double away = std::chrono::duration<double>(SteadyClock::now() - *longest->away_since).count();
    const std::string line = fmt::format("waiting for {} since {:.0f} s, {:.0f} s at most; the last error: {}", names, away,
                                         servers_.options_.server_wait_seconds, longest->last_error);
    if (std::exchange(said_, true)) return log_line(LogLevel::warning, line);
    notice_line(LogLevel::warning, line);
  }

  Servers& servers_;
  const std::vector<ServerCall> calls_;
  const std::optional<Deadline> held_until_;
  const Servers::OnAnswer& answered_;
  const Servers::Compare& compare_;
  std::vector<Slot> slots_;
  size_t open_ = calls_.size();
  bool said_ = false;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
};

Servers::Servers(Channels channels, Channels heartbeats, const ServersOptions& options)
    : channels_(std::move(channels)), heartbeats_(std::move(heartbeats)), options_(options) {
  pairs_.resize(channels_.size());
  for (const Channels* all : {&channels_, &heartbeats_}) {
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (auto* pair = dynamic_cast<PairChannel*>((*all)[i].get())) pairs_[i].push_back(pair);
    }
  }
}

void Servers::met(int server, const wire::Caller& who) {
  for (PairChannel* pair : pairs_[static_cast<size_t>(server)]) pair->met(who);
}

void Servers::look() {
  for (const auto& pairs : pairs_) {
    for (PairChannel* pair : pairs) pair->look();
  }
}

std::string Servers::name(int server) const {
  return fmt::format("server {} ({})", server, channels_[static_cast<size_t>(server)]->peer());
}

Result<std::vector<rpc::Received>> Servers::call(std::vector<ServerCall> calls, std::optional<Deadline> held_until,
                                                 const OnAnswer& answered) {
  return CallRun(*this, std::move(calls), held_until, answered, compare_).run();
}

Result<std::vector<rpc::Received>> Servers::call_to_compare(std::vector<ServerCall> calls, Deadline held_until) {
  return CallRun(*this, std::move(calls), held_until, {}, {}).run();
}

Result<rpc::Received> Servers::call(int server, rpc::Message message, std::optional<Deadline> held_until) {
  std::vector<ServerCall> calls;
  calls.push_back({server, std::move(message)});
  ASSIGN_OR_RETURN(auto answers, call(std::move(calls), held_until));
  return std::move(answers.front());
}

void Servers::end(Status why) {
  MutexLock lock(end_mutex_);
  end_ = std::move(why);
  ended_ = true;
}

void Servers::go_on() { ended_ = false; }

Status Servers::why_ended() {
  MutexLock lock(end_mutex_);
  return end_;
}

bool Servers::line_due() {
  const int64_t now = SteadyClock::now().time_since_epoch().count();
  int64_t last = last_line_.load();
  const int64_t every = std::chrono::nanoseconds(kLineEvery).count();
  return (last == 0 || now - last >= every) && last_line_.compare_exchange_strong(last, now);
}

}  // namespace argosy::ps
