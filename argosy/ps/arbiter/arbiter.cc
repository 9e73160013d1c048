#include "argosy/ps/arbiter/arbiter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <set>
#include <utility>

#include "argosy/base/clock.h"
#include "argosy/base/counted.h"
#include "argosy/base/identity.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/text.h"
#include "argosy/base/thread.h"
#include "argosy/ps/arbiter/pair_judge.h"
#include "argosy/rpc/channel.h"

namespace argosy::ps {
namespace {

constexpr double kLookEverySeconds = 0.1;
constexpr double kAskSeconds = 1;     // for an answer how a process is
constexpr double kTellRoleSeconds = 5;  // for a process to become what it is told; it is told again
constexpr double kRefusedSeconds = 10;  // by a process, before this is an error: an arbiter that was killed is missed after 3

// Shared with answers that come late.
struct Watched {
  struct Seat {
    std::string endpoint;
    std::optional<wire::ReplicaStatus> said;
    Stopwatch heard;
    uint64_t dead_boot = 0;  // of the process that is known to have ended
    bool dead = false, gone = false;
    bool asked = false;
    Status refusal;  // what it has answered last, where that is not how it is
    Stopwatch refused_since;
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
  bool concluding ARGOSY_GUARDED_BY(mutex) = false;
  std::vector<Pair> pairs ARGOSY_GUARDED_BY(mutex);
};

SeatView view_of(const Watched::Seat& seat) {
  return {
      .endpoint = seat.endpoint, .said = seat.said, .silent_seconds = seat.heard.seconds(), .dead = seat.dead, .gone = seat.gone};
}

wire::ArbiterId draw_arbiter() {
  char host[256] = "";
  const bool named = ::gethostname(host, sizeof(host) - 1) == 0;
  wire::ArbiterId id;
  id.set_number(draw_identity());
  id.set_name(fmt::format("{}:{}", named ? host : "?", ::getpid()));
  return id;
}

// One that does not answer this arbiter is there all the same.
void note_refusal(Watched::Seat& seat, const Status& status) {
  if (status.code() == Code::deadline_exceeded) return;
  const bool refuses = status.code() == Code::failed_precondition;
  if (refuses && seat.refusal.ok()) seat.refused_since.restart();
  if (refuses) seat.heard.restart();
  seat.refusal = refuses ? status : Status();
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
      seat.refusal = {};
    });
  }
  void gone(int server, bool follower) override {
    note(server, [&](Watched::Pair& pair) {
      Watched::Seat& seat = pair.seats[follower ? 1 : 0];
      seat.dead = seat.gone = true;
      seat.refusal = {};
    });
  }
  void finished(int server) override {
    note(server, [](Watched::Pair& pair) { pair.finished = true; });
  }

  bool has_led(int server) const override {
    const MutexLock lock(watched_->mutex);
    return server >= 0 && static_cast<size_t>(server) < watched_->pairs.size() &&
           watched_->pairs[static_cast<size_t>(server)].judge.has_led();
  }

  void conclude() override {
    {
      const MutexLock lock(watched_->mutex);
      watched_->concluding = watched_->news = true;
    }
    watched_->changed.notify_all();
  }

  std::string not_told() const override {
    std::vector<std::string> endpoints;
    const MutexLock lock(watched_->mutex);
    for (const Watched::Pair& pair : watched_->pairs) {
      for (const Watched::Seat& seat : pair.seats) {
        if (pair.judge.may_come_back(view_of(seat))) endpoints.push_back(seat.endpoint);
      }
    }
    return join(endpoints, ", ");
  }

  std::string unheard() const override {
    std::vector<std::string> endpoints;
    const MutexLock lock(watched_->mutex);
    for (const Watched::Pair& pair : watched_->pairs) {
      for (const Watched::Seat& seat : pair.seats) {
        if (!seat.said && !seat.dead && !pair.finished) endpoints.push_back(seat.endpoint);
      }
    }
    return join(endpoints, ", ");
  }

  Status lost() const override {
    const MutexLock lock(watched_->mutex);
    for (size_t i = 0; i < watched_->pairs.size(); ++i) {
      const Watched::Pair& pair = watched_->pairs[i];
      if (const Status& lost = pair.judge.lost(); !lost.ok()) return lost.with_context("server {}", i);
      for (const Watched::Seat& seat : pair.seats) {
        if (!seat.refusal.ok() && seat.refused_since.seconds() > kRefusedSeconds)
          return seat.refusal.with_context("server {}: the process at {} refuses this arbiter", i, seat.endpoint);
      }
    }
    return {};
  }

 private:
  struct Told {
    size_t pair = 0;
    RoleDecision decision;
  };

  explicit RunningArbiter(ArbiterOptions options) : options_(std::move(options)) {
    caller_.set_job(options_.job);
    caller_.set_run(options_.run);
  }

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

  template <typename Request>
  std::string signed_by_this(Request request) const {
    *request.mutable_caller() = caller_;
    *request.mutable_arbiter() = id_;
    return request.SerializeAsString();
  }

  void ask_all() {
    for (size_t i = 0; i < channels_.size(); ++i) {
      {
        const MutexLock lock(watched_->mutex);
        Watched::Pair& pair = watched_->pairs[i / 2];
        const bool over = pair.finished && !watched_->concluding;
        if (over || pair.seats[i % 2].gone || std::exchange(pair.seats[i % 2].asked, true)) continue;
      }
      channels_[i]->call({static_cast<uint16_t>(wire::REPLICA_STATUS), signed_by_this(wire::ReplicaStatusRequest()), {}},
                         Deadline::after_seconds(kAskSeconds), [watched = watched_, i](const Result<rpc::Received>& answer) {
                           {
                             const MutexLock lock(watched->mutex);
                             Watched::Seat& seat = watched->pairs[i / 2].seats[i % 2];
                             seat.asked = false;
                             note_refusal(seat, answer.status());
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
      if (pair.told || (pair.finished && !watched_->concluding)) continue;
      if (!pair.seats[0].refusal.ok() || !pair.seats[1].refusal.ok()) continue;  // another arbiter may decide
      const std::array<SeatView, 2> seats{view_of(pair.seats[0]), view_of(pair.seats[1])};
      auto decision = watched_->concluding ? pair.judge.conclude(seats) : pair.judge.decide(seats);
      if (!decision) continue;
      pair.told = true;
      decisions.push_back({i, std::move(*decision)});
    }
    return decisions;
  }

  void tell(const Told& told) {
    say(told);
    const size_t index = 2 * told.pair + static_cast<size_t>(told.decision.seat);
    channels_[index]->call({static_cast<uint16_t>(wire::TAKE_ROLE), signed_by_this(told.decision.role), {}},
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

  static std::string line_of(const Told& told, const std::string& endpoint) {
    const wire::TakeRoleRequest& role = told.decision.role;
    if (role.role() == wire::ReplicaStatus::ENDED)
      return fmt::format("server {}: the process at {} is told to end: {}", told.pair, endpoint, told.decision.why);
    return fmt::format("server {}: the process at {} is the {} from epoch {} on: {}", told.pair, endpoint,
                       role.role() == wire::ReplicaStatus::PRIMARY ? "primary" : "follower", role.epoch(), told.decision.why);
  }

  // Once each; what is told again is not said again.
  void say(const Told& told) {
    std::string endpoint, line;
    {
      const MutexLock lock(watched_->mutex);
      Watched::Pair& pair = watched_->pairs[told.pair];
      endpoint = pair.seats[static_cast<size_t>(told.decision.seat)].endpoint;
      line = line_of(told, endpoint);
      if (std::exchange(pair.last_line, line) == line) return;
    }
    if (options_.tell) options_.tell(line);
  }

  const ArbiterOptions options_;
  const wire::ArbiterId id_ = draw_arbiter();
  wire::Caller caller_;  // constant
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
