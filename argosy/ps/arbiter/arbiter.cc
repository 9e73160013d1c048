#include "argosy/ps/arbiter/arbiter.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "argosy/base/clock.h"
#include "argosy/base/counted.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/ps/arbiter/pair_judge.h"
#include "argosy/rpc/channel.h"

namespace argosy::ps {
namespace {

constexpr double kLookEverySeconds = 0.1;
constexpr double kAskSeconds = 1;     // for an answer how a process is
constexpr double kTellRoleSeconds = 5;  // for a process to become what it is told; it is told again

// Shared with answers that come late.
struct Watched {
  struct Seat {
    std::string endpoint;
    std::optional<wire::ReplicaStatus> said;
    Stopwatch heard;
    uint64_t dead_boot = 0;  // of the process that is known to have ended
    bool dead = false, gone = false;
    bool asked = false;
  };
  struct Pair {
    std::array<Seat, 2> seats;
    PairJudge judge;
    bool told = false;  // a role, and has not answered
    bool finished = false;
    std::string last_line;
  };

  Mutex mutex;
  ConditionVariable changed;
  bool news ARGOSY_GUARDED_BY(mutex) = false;
  bool stopping ARGOSY_GUARDED_BY(mutex) = false;
  std::vector<Pair> pairs ARGOSY_GUARDED_BY(mutex);
};

SeatView view_of(const Watched::Seat& seat) {
  return {
      .endpoint = seat.endpoint, .said = seat.said, .silent_seconds = seat.heard.seconds(), .dead = seat.dead, .gone = seat.gone};
}

// An answer of a process that has ended since says nothing.
void note_answer(Watched::Seat& seat, const Result<rpc::Received>& answer) {
  wire::ReplicaStatus status;
  if (!answer.ok() || !status.ParseFromString(answer->header) || (status.boot() == seat.dead_boot && status.boot() != 0)) return;
  seat.said = std::move(status);
  seat.heard.restart();
  seat.dead = false;
}

class RunningArbiter final : public Arbiter {
 public:
  static Result<std::unique_ptr<RunningArbiter>> make(ArbiterOptions options) {
    std::unique_ptr<RunningArbiter> arbiter(new RunningArbiter(std::move(options)));
    RETURN_IF_ERROR(arbiter->connect());
    arbiter->thread_ = Thread("ps-arbiter", [here = arbiter.get()] { here->run(); });
    return arbiter;
  }

  ~RunningArbiter() override {
    {
      const MutexLock lock(watched_->mutex);
      watched_->stopping = true;
    }
    watched_->changed.notify_all();
    thread_.join();
  }

  void ended(int server, bool follower) override {
    note(server, [&](Watched::Pair& pair) {
      Watched::Seat& seat = pair.seats[follower ? 1 : 0];
      seat.dead_boot = seat.said ? seat.said->boot() : 0;
      seat.dead = true;
    });
  }
  void gone(int server, bool follower) override {
    note(server, [&](Watched::Pair& pair) {
      Watched::Seat& seat = pair.seats[follower ? 1 : 0];
      seat.dead = seat.gone = true;
    });
  }
  void finished(int server) override {
    note(server, [](Watched::Pair& pair) { pair.finished = true; });
  }

  Status lost() const override {
    const MutexLock lock(watched_->mutex);
    for (size_t i = 0; i < watched_->pairs.size(); ++i) {
      if (const Status& lost = watched_->pairs[i].judge.lost(); !lost.ok()) return lost.with_context("server {}", i);
    }
    return {};
  }

 private:
  struct Told {
    size_t pair = 0;
    RoleDecision decision;
  };

  explicit RunningArbiter(ArbiterOptions options) : options_(std::move(options)) {}

  Status connect() {
    if (options_.servers.empty() || options_.servers.size() != options_.followers.size()) {
      return Status::invalid_argument("{} and {}: an arbiter needs one follower per server",
                                      counted(options_.servers.size(), "server"), counted(options_.followers.size(), "follower"));
    }
    const MutexLock lock(watched_->mutex);
    for (size_t i = 0; i < options_.servers.size(); ++i) {
      Watched::Pair& pair = watched_->pairs.emplace_back();
      for (const std::string& endpoint : {options_.servers[i], options_.followers[i]}) {
        pair.seats[channels_.size() % 2].endpoint = endpoint;
        ASSIGN_OR_RETURN(auto channel, rpc::connect_channel(endpoint, {.security = options_.security}));
        channels_.push_back(std::move(channel));
      }
    }
    return {};
  }

  void note(int server, const std::function<void(Watched::Pair&)>& change) {
    {
      const MutexLock lock(watched_->mutex);
      if (server < 0 || static_cast<size_t>(server) >= watched_->pairs.size()) return;
      change(watched_->pairs[static_cast<size_t>(server)]);
      watched_->news = true;
    }
    watched_->changed.notify_all();
  }

  void run() {
    for (;;) {
      ask_all();
      for (Told& one : judge_all()) tell(one);
      Watched& watched = *watched_;
      MutexLock lock(watched.mutex);
      watched.changed.wait_until(lock, Deadline::after_seconds(kLookEverySeconds).when(),
                                 [&]() ARGOSY_REQUIRES(watched.mutex) { return watched.news || watched.stopping; });
      watched.news = false;
      if (watched.stopping) return;
    }
  }

  void ask_all() {
    for (size_t i = 0; i < channels_.size(); ++i) {
      {
        const MutexLock lock(watched_->mutex);
        Watched::Pair& pair = watched_->pairs[i / 2];
        if (pair.finished || pair.seats[i % 2].gone || std::exchange(pair.seats[i % 2].asked, true)) continue;
      }
      channels_[i]->call({static_cast<uint16_t>(wire::REPLICA_STATUS), wire::ReplicaStatusRequest().SerializeAsString(), {}},
                         Deadline::after_seconds(kAskSeconds), [watched = watched_, i](const Result<rpc::Received>& answer) {
                           {
                             const MutexLock lock(watched->mutex);
                             Watched::Seat& seat = watched->pairs[i / 2].seats[i % 2];
                             seat.asked = false;
                             note_answer(seat, answer);
                           }
                         });
    }
  }

  std::vector<Told> judge_all() {
    std::vector<Told> decisions;
    const MutexLock lock(watched_->mutex);
    for (size_t i = 0; i < watched_->pairs.size(); ++i) {
      Watched::Pair& pair = watched_->pairs[i];
      if (pair.told || pair.finished) continue;
      auto decision = pair.judge.decide({view_of(pair.seats[0]), view_of(pair.seats[1])});
      if (!decision) continue;
      pair.told = true;
      decisions.push_back({i, std::move(*decision)});
    }
    return decisions;
  }

  void tell(const Told& told) {
    say(told);
    const size_t index = 2 * told.pair + static_cast<size_t>(told.decision.seat);
    channels_[index]->call({static_cast<uint16_t>(wire::TAKE_ROLE), told.decision.role.SerializeAsString(), {}},
                           Deadline::after_seconds(kTellRoleSeconds),
                           [watched = watched_, index](const Result<rpc::Received>& answer) {
                             {
                               const MutexLock lock(watched->mutex);
                               Watched::Pair& pair = watched->pairs[index / 2];
                               pair.told = false;
                               note_answer(pair.seats[index % 2], answer);
                               watched->news = answer.ok();
                             }
                             watched->changed.notify_all();
                             if (!answer.ok()) log_debug("the arbiter's message was not taken: {}", answer.status().message());
                           });
  }

  // Once each; what is told again is not said again.
  void say(const Told& told) {
    std::string endpoint, line;
    {
      const MutexLock lock(watched_->mutex);
      Watched::Pair& pair = watched_->pairs[told.pair];
      endpoint = pair.seats[static_cast<size_t>(told.decision.seat)].endpoint;
      const bool primary = told.decision.role.role() == wire::ReplicaStatus::PRIMARY;
      line = fmt::format("server {}: the process at {} is the {} from epoch {} on: {}", told.pair, endpoint,
                         primary ? "primary" : "follower", told.decision.role.epoch(), told.decision.why);
      if (std::exchange(pair.last_line, line) == line) return;
    }
    if (options_.tell) options_.tell(line);
  }

  const ArbiterOptions options_;
  const std::shared_ptr<Watched> watched_ = std::make_shared<Watched>();
  std::vector<std::unique_ptr<rpc::Channel>> channels_;  // of server 0, its follower, server 1, …
  Thread thread_;
};

}  // namespace

Result<std::unique_ptr<Arbiter>> Arbiter::start(ArbiterOptions options) {
  ASSIGN_OR_RETURN(auto arbiter, RunningArbiter::make(std::move(options)));
  return std::unique_ptr<Arbiter>(std::move(arbiter));
}

}  // namespace argosy::ps
