#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/launch/collective/launcher_message.h"
#include "argosy/launch/collective/survival.h"

namespace argosy::launch {

struct RoundsOptions {
  int least = 1, most = 1;       // nodes of the job; alike: neither more nor fewer
  int max_restarts = 0;          // of the whole group, after a process has failed or a node was lost that must be there
  double last_call_seconds = 2;  // how long more than `least` nodes are waited for, since the last one came
  double join_seconds = 600;     // how long nodes are waited for that must be there
  double cause_seconds = 5;      // how long the process that failed first is waited for, where one failed because of another
  double stop_seconds = 30;      // how long a node may take to stop its processes before it counts as lost
  std::string job;               // who says another name is refused
  std::string token;             // of the run, for the processes of all nodes; empty: they have one
  std::function<std::string()> checkpoint = [] { return std::string(); };  // to go on from
};

// What the meeting place of a job's launchers decides: who takes part, when all start, stop and start again, how the job ends.
// It does no I/O and has no clock. Members, one per node, are numbers that the caller gives; one of them is the first node, which
// must stay. Thread-compatible.
//
// A round: all members gather; each is told "start", and starts its processes. When a process fails, or nodes come or go in a job
// that allows it (least < most), each is told "stop", answers "stopped", and a new round begins from the last checkpoint. A
// process that failed only because another one was gone ("failed … consequence=yes") is not the cause: that one is waited for, on
// any node, for a few seconds; where none fails, those that had ended well before it ("left") are named as the cause. Members say
// "join job rank endpoints", "left round who", "failed round code why consequence", "done round", "stopped round", "leave code";
// they hear "start round node restart resume nodes", "stop round why cause" and, last, "end code why cause"; the first node also
// hears what its user wants to know, "note text". Members of one round get node numbers: the first node 0, then by the
// ranks that they asked for, then in order of arrival.
//
// Ranks that say that they are ready go on where one of them fails ("failed … rank"): that one alone is started again, which
// counts as a restart. Members then also say "ready round rank", "host round rank generation address", "finished round rank
// generation", and hear "regroup round generation host again why", "meet round generation address", "over round"; see survival.h.
class Rounds {
 public:
  using Time = SteadyClock::time_point;

  Rounds(RoundsOptions options, Time now);

  // Whether `member` has joined.
  bool knows(int member) const { return members_.contains(member); }
  void hear(int member, const LauncherMessage& message, bool is_first, Time now);
  void lose(int member, const std::string& why, Time now);  // its connection is gone
  void tick(Time now);

  // What is to be sent, and to whom, since the last call.
  std::vector<std::pair<int, LauncherMessage>> take();

  bool over() const { return state_ == State::over; }

 private:
  enum class State { gathering, running, stopping, over };
  struct Member {
    std::string name;  // for messages: the host of its first endpoint
    int rank = -1;     // that it asked for; -1: any
    int order = 0;     // of arrival
    bool first = false;
    bool in_round = false;  // was told to start, and has not stopped
    bool done = false;      // its processes of this round have ended well
    std::vector<std::string> endpoints;
  };

  bool elastic() const { return options_.least < options_.most; }
  void join(int member, const LauncherMessage& message, bool is_first, Time now);
  Status may_join(const LauncherMessage& message, const Member& wanted) const;
  void leave(int member, const LauncherMessage& message, Time now);
  void failed(int member, const LauncherMessage& message, Time now);
  void done(int member);
  void stopped(int member, Time now);
  // True: the ranks go on without the one that has failed.
  bool survive(const LauncherMessage& message, const std::string& what);
  void heard_of_rank(const LauncherMessage& message);
  void say_to_round(LauncherMessage message);
  // One that failed because of another, with nobody found to blame, is taken for the cause.
  void give_up_on_cause(Time now);
  // The group loses `what` and is started again, where that is allowed; otherwise the job ends with the code.
  void restart_or_end(int code, const std::string& what, Time now, const std::string& cause = "");
  void remove(int member, const std::string& why, int code, Time now);
  // `cause`: what comes first, where `why` is its consequence.
  void begin_stop(const std::string& why, Time now, const std::string& cause = "");
  void gather(Time now);
  void try_start(Time now);
  void start();
  void end_if_done();
  void end(int code, const std::string& why, const std::string& cause = "");
  void refuse(int member, const std::string& why);
  void note(const std::string& text);
  std::vector<int> by_node() const;  // members in the order of their node numbers
  std::string missing() const;
  void say(int member, LauncherMessage message) { out_.emplace_back(member, std::move(message)); }

  const RoundsOptions options_;
  State state_ = State::gathering;
  std::map<int, Member> members_;
  int round_ = 0, restarts_ = 0, arrivals_ = 0;
  Time gathering_since_, last_arrival_, stopping_since_;

  // The first failure of this round that is the consequence of another one; the other one may still be told.
  struct Consequence {
    int code = 1;
    std::string what;
    Time since;
  };
  std::optional<Consequence> consequence_;
  std::optional<Survival> survival_;  // of the round that runs
  std::vector<std::string> left_;  // processes of this round that have ended well
  std::vector<std::pair<int, LauncherMessage>> out_;
};

}  // namespace argosy::launch
