#include "argosy/launch/collective/rounds.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "argosy/base/address.h"
#include "argosy/base/counted.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

constexpr size_t kMostNamed = 8;  // of the processes that a message lists

bool has_passed(Rounds::Time since, double seconds, Rounds::Time now) {
  return std::chrono::duration<double>(now - since).count() >= seconds;
}

}  // namespace

Rounds::Rounds(RoundsOptions options, Time now)
    : options_(std::move(options)), gathering_since_(now), last_arrival_(now), stopping_since_(now) {}

std::vector<std::pair<int, LauncherMessage>> Rounds::take() { return std::exchange(out_, {}); }

void Rounds::hear(int member, const LauncherMessage& message, bool is_first, Time now) {
  if (!knows(member)) {
    if (message.kind == "join") return join(member, message, is_first, now);
    return refuse(member, fmt::format("a launcher says 'join' first; found '{}'", message.kind));
  }
  if (message.kind == "leave") return leave(member, message, now);
  const auto round = message.number("round");
  // What is said of a round that is over must not touch the one that runs: messages cross on the wire.
  if (!round.ok() || *round != round_ || !members_[member].in_round) return;
  if (message.kind == "left" && left_.size() < kMostNamed) left_.push_back(message.text("who"));
  if (message.kind == "ready" || message.kind == "host" || message.kind == "finished") heard_of_rank(message);
  if (message.kind == "failed") failed(member, message, now);
  if (message.kind == "done") done(member);
  if (message.kind == "stopped") stopped(member, now);
}

// A node that is admitted is in the next round at the latest: what would make a round impossible (a rank or an endpoint twice) is
// refused here, where there is one to blame.
Status Rounds::may_join(const LauncherMessage& message, const Member& wanted) const {
  if (message.text("job") != options_.job)
    return Status::invalid_argument("this is the meeting place of job '{}', not of '{}'", options_.job, message.text("job"));
  if (over()) return Status::failed_precondition("the job is over");
  if (static_cast<int>(members_.size()) >= options_.most)
    return Status::resource_exhausted("the job has its {} already", counted(options_.most, "node"));
  if (wanted.rank >= options_.most)
    return Status::out_of_range("node rank {}: the job has at most {}, numbered from 0", wanted.rank,
                                counted(options_.most, "node"));
  if (wanted.endpoints.empty()) return Status::invalid_argument("a node has at least one process");
  std::set<std::string> taken;
  for (const auto& [other, there] : members_) {
    if (there.rank >= 0 && there.rank == wanted.rank)
      return Status::already_exists("node rank {} is that of {} already", wanted.rank, there.name);
    if (there.done) return Status::failed_precondition("the job is about to end");
    taken.insert(there.endpoints.begin(), there.endpoints.end());
  }
  for (const std::string& endpoint : wanted.endpoints) {
    const auto address = Address::parse(endpoint);
    if (!address.ok() || address->port == 0) return Status::invalid_argument("endpoint '{}' is not host:port", endpoint);
    if (!taken.insert(endpoint).second)
      return Status::already_exists(
          "endpoint {} is another process's already; each node needs its own --node_ip or --started_port", endpoint);
  }
  return {};
}

void Rounds::join(int member, const LauncherMessage& message, bool is_first, Time now) {
  Member wanted{.rank = message.number("rank").ok() ? *message.number("rank") : -1,
                .order = arrivals_++,
                .first = is_first,
                .endpoints = message.list("endpoints")};
  if (const Status status = may_join(message, wanted); !status.ok()) return refuse(member, status.message());
  wanted.name = Address::parse(wanted.endpoints[0])->host;
  if (!is_first)
    note(fmt::format("node {} joins, with {}", wanted.name, counted(wanted.endpoints.size(), "process", "processes")));
  const std::string name = wanted.name;
  members_.emplace(member, std::move(wanted));
  last_arrival_ = now;
  if (state_ == State::running) begin_stop(fmt::format("node {} joins", name), now);
  tick(now);
}

void Rounds::leave(int member, const LauncherMessage& message, Time now) {
  const auto code = message.number("code");
  remove(member, "was told to end", code.ok() && *code > 0 ? *code : 1, now);
}

void Rounds::lose(int member, const std::string& why, Time now) {
  if (knows(member)) remove(member, why, 1, now);
}

// The one place where a member goes. The first node's loss ends the job, because it alone knows the rounds; one that was done is
// no loss; one that takes part costs a restart, which a job that allows its nodes to come and go does not count as a failure.
void Rounds::remove(int member, const std::string& why, int code, Time now) {
  const Member gone = std::move(members_[member]);
  members_.erase(member);
  if (over()) return;
  const std::string what = fmt::format("node {} {}", gone.name, why);
  if (gone.first) return end(code, what);
  if (gone.done) return end_if_done();
  if (state_ == State::running && gone.in_round) {
    if (elastic()) {
      begin_stop(what, now);
    } else {
      restart_or_end(code, what, now);
    }
  }
  tick(now);
}

void Rounds::failed(int member, const LauncherMessage& message, Time now) {
  if (state_ != State::running) return;  // the first failure of a round decides; the others are its consequences
  const auto given = message.number("code");
  const int code = given.ok() && *given > 0 ? *given : 1;
  const std::string what = fmt::format("{} of node {}", message.text("why"), members_[member].name);
  if (survive(message, what)) return;
  const std::string alone = survival_->why_not();
  if (!alone.empty()) return restart_or_end(code, what + "; " + alone, now);
  if (message.text("consequence") != "yes") return restart_or_end(code, what, now);
  if (!consequence_) consequence_ = {.code = code, .what = what, .since = now};
}

bool Rounds::survive(const LauncherMessage& message, const std::string& what) {
  const auto rank = message.number("rank");
  if (!survival_->lose(rank.ok() ? *rank : -1) || restarts_ >= options_.max_restarts) return false;
  ++restarts_;
  const std::string why =
      fmt::format("{}; it starts again alone, and the others go on with it ({} of {})", what, restarts_, options_.max_restarts);
  const int generation = survival_->begin_generation();
  say_to_round({.kind = "regroup",
                .fields = {{"generation", std::to_string(generation)},
                           {"host", std::to_string(survival_->host())},
                           {"again", std::to_string(*rank)},
                           {"why", why}}});
  return true;
}

void Rounds::heard_of_rank(const LauncherMessage& message) {
  const auto rank = message.number("rank"), generation = message.number("generation");
  if (state_ != State::running || !rank.ok()) return;
  if (message.kind == "ready") return survival_->ready(*rank);
  if (!generation.ok() || *generation != survival_->generation()) return;
  if (message.kind == "host")
    say_to_round({.kind = "meet", .fields = {{"generation", message.text("generation")}, {"address", message.text("address")}}});
  if (message.kind == "finished" && survival_->finish(*rank, *generation)) say_to_round({.kind = "over"});
}

void Rounds::say_to_round(LauncherMessage message) {
  message.fields["round"] = std::to_string(round_);
  for (const auto& [member, there] : members_) {
    if (there.in_round) say(member, message);
  }
}

void Rounds::give_up_on_cause(Time now) {
  if (state_ != State::running || !consequence_ || !has_passed(consequence_->since, options_.cause_seconds, now)) return;
  const Consequence last = *consequence_;
  const std::string cause =
      left_.empty()
          ? ""
          : fmt::format("{} left with status 0 while the others went on; all ranks of a job take the same number of steps",
                        argosy::join(left_, ", "));
  restart_or_end(last.code, last.what, now, cause);
}

// `restarts_` counts failures over the life of the job, in whatever round they were.
void Rounds::restart_or_end(int code, const std::string& what, Time now, const std::string& cause) {
  if (restarts_ >= options_.max_restarts) return end(code, what, cause);
  ++restarts_;
  begin_stop(fmt::format("{}; the whole group starts again ({} of {})", what, restarts_, options_.max_restarts), now, cause);
}

// The job ends well when every member's processes of this round have; who is done stays a member until then, because a failure
// elsewhere starts its processes again too.
void Rounds::done(int member) {
  members_[member].done = true;
  end_if_done();
}

void Rounds::end_if_done() {
  if (std::all_of(members_.begin(), members_.end(), [](const auto& one) { return one.second.done; })) end(0, "");
}

// Those who gathered for the next round while this one ran were never told to start, and are not told to stop.
void Rounds::begin_stop(const std::string& why, Time now, const std::string& cause) {
  state_ = State::stopping;
  stopping_since_ = now;
  consequence_.reset();
  for (const auto& [member, there] : members_) {
    if (!there.in_round) continue;
    say(member, {.kind = "stop", .fields = {{"round", std::to_string(round_)}, {"why", why}, {"cause", cause}}});
  }
}

void Rounds::stopped(int member, Time now) {
  members_[member].in_round = members_[member].done = false;
  tick(now);
}

// Everything that depends on time. Each state is left by one way only: running by begin_stop() or end(); stopping when nobody is
// in the round any more; gathering by start() or end(). A member that does not stop in time is removed first, so that it cannot
// keep the others from gathering.
void Rounds::tick(Time now) {
  give_up_on_cause(now);
  if (state_ == State::stopping) {
    std::vector<int> late;
    bool waiting = false;
    for (const auto& [member, there] : members_) {
      waiting |= there.in_round;
      if (there.in_round && has_passed(stopping_since_, options_.stop_seconds, now)) late.push_back(member);
    }
    if (!waiting) {
      state_ = State::gathering;
      gathering_since_ = now;
    } else if (!late.empty()) {
      for (int member : late) refuse(member, "its processes did not stop in time");
      for (int member : late) remove(member, "did not stop its processes in time", 1, now);
      return;
    }
  }
  if (state_ == State::gathering) try_start(now);
}

// All that can come are here; or enough are, and nobody has come for a moment. Time counts from the last arrival, so that nodes
// that come one after the other make one round and not several.
void Rounds::try_start(Time now) {
  const int count = static_cast<int>(members_.size());
  const bool first_is_here = std::any_of(members_.begin(), members_.end(), [](const auto& one) { return one.second.first; });
  const bool enough =
      count == options_.most || (count >= options_.least && has_passed(last_arrival_, options_.last_call_seconds, now));
  if (first_is_here && enough) return start();
  if (has_passed(gathering_since_, options_.join_seconds, now) && count < options_.least) {
    end(1, fmt::format("{} of {} came in {} s; {}", count, counted(options_.least, "node"), options_.join_seconds, missing()));
  }
}

std::string Rounds::missing() const {
  std::vector<std::string> names, ranks;
  std::set<int> here;
  for (const auto& [member, there] : members_) {
    names.push_back(there.name);
    here.insert(there.rank);
  }
  for (int rank = 0; !here.contains(-1) && rank < options_.least; ++rank) {
    if (!here.contains(rank)) ranks.push_back(std::to_string(rank));
  }
  return fmt::format("here: {}{}; start the launcher on the others, or look whether they can reach this one",
                     names.empty() ? "none" : argosy::join(names, ", "),
                     ranks.empty() ? "" : ", missing: node " + argosy::join(ranks, ", "));
}

std::vector<int> Rounds::by_node() const {
  std::vector<int> order;
  order.reserve(members_.size());
  for (const auto& [member, there] : members_) order.push_back(member);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const auto key = [&](int member) {
      const Member& one = members_.at(member);
      return std::tuple(!one.first, one.rank < 0, one.rank, one.order);
    };
    return key(a) < key(b);
  });
  return order;
}

// From here on the members of the round are fixed: who comes later makes a new one. All are told the same list in the same order,
// so that each process computes the same ranks.
void Rounds::start() {
  state_ = State::running;
  consequence_.reset();
  left_.clear();
  ++round_;
  const std::vector<int> order = by_node();
  std::vector<std::string> nodes;
  nodes.reserve(order.size());
  for (int member : order) nodes.push_back(argosy::join(members_[member].endpoints, ","));
  int ranks = 0;
  for (int member : order) ranks += static_cast<int>(members_[member].endpoints.size());
  survival_.emplace(ranks);
  const std::string resume = options_.checkpoint();
  for (size_t i = 0; i < order.size(); ++i) {
    members_[order[i]].in_round = true;
    say(order[i], {.kind = "start",
                   .fields = {{"round", std::to_string(round_)},
                              {"node", std::to_string(i)},
                              {"restart", std::to_string(round_ - 1)},
                              {"resume", resume},
                              {"token", options_.token},
                              {"nodes", argosy::join(nodes, ";")}}});
  }
}

void Rounds::refuse(int member, const std::string& why) { say(member, {.kind = "end", .fields = {{"code", "1"}, {"why", why}}}); }

void Rounds::note(const std::string& text) {
  for (const auto& [member, there] : members_) {
    if (there.first) say(member, {.kind = "note", .fields = {{"text", text}}});
  }
}

// Final: nothing is said to anybody afterwards, and hear() finds no state to change.
void Rounds::end(int code, const std::string& why, const std::string& cause) {
  state_ = State::over;
  for (const auto& [member, there] : members_)
    say(member, {.kind = "end", .fields = {{"code", std::to_string(code)}, {"why", why}, {"cause", cause}}});
}

}  // namespace argosy::launch
