#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "argosy/launch/collective/node_job.h"
#include "argosy/launch/collective/node_link.h"
#include "argosy/launch/process/job_watch.h"
#include "argosy/launch/process/local_processes.h"
#include "argosy/launch/process/log_file.h"

namespace argosy::launch {

struct AgentOptions {
  std::vector<std::string> endpoints;  // of this node's processes
  int rank = -1;                       // of this node, where it is known beforehand
  std::string job;
  double grace_seconds = 5;  // between SIGTERM and SIGKILL
  int follow = 0;            // whose log is shown as it grows, by number on this node
  bool spare = false;           // a process that takes a lost rank's place, in a group that survives
  double silence_seconds = 30;  // after which a rank of a group that survives is killed
  JobWatchOptions watch = {};
};

// Runs this node's part of a collective job as the meeting place says: all processes of the job start together, and end
// together. When a process fails, its last lines are shown, the others of this node are stopped, and the meeting place decides
// whether the group starts again; one that says that it failed because of another (base/notice.h) is told to the meeting place,
// which waits a few seconds for the other one. The job's exit code is that of the process that failed first, on every node. A
// signal (launch/process/stop_signal.h) makes this node leave; a lost line ends it. No process is left behind in any case.
//
// Where the processes say that they survive each other's loss (on_rank_loss=survive), one that fails does not stop the others:
// the meeting place has it started again. One that is silent (stopped, or on a machine that does not answer) is killed first.
// Confined to one thread.
class Agent {
 public:
  // The link must outlive it.
  Agent(NodeLink& link, NodeJob job, AgentOptions options);

  int run();

 private:
  // A value is the job's result.
  std::optional<int> obey(const LauncherMessage& message);
  std::optional<int> end(const LauncherMessage& message);
  Status start(const Round& round);
  // Shows the job from its first start on. The ports of its processes' metrics are those of the first start.
  Status watch(std::vector<ProcessSpec>& specs);
  int finish(int exit_code);
  void show_start(const std::vector<ProcessSpec>& specs);
  void look_after_group();
  // Of a group whose ranks survive: a failure is told and stops nothing, and silence is one.
  void look_after_ranks();
  void kill_silent_ranks();
  void hear_ranks();
  void regroup(const LauncherMessage& message);
  Status start_again(size_t i);  // by the spare, where there is one
  void keep_spare();
  void tell_ranks(const LauncherMessage& message);  // what a rank hears in the words of base/notice.h
  void fail(size_t i, const ExitStatus& exit);
  void tell_failure(size_t i, const ExitStatus& exit, bool consequence);
  void tell_who_left();
  // The cause where there is one before `why`, and the process that `why` names where it is this node's and has no report yet.
  void report_blamed(const LauncherMessage& message);
  void stop_group();
  void wait();
  void hear();  // moves what has come to inbox_
  void tell(const std::string& kind, std::map<std::string, std::string> fields = {});

  NodeLink& link_;
  const NodeJob job_;
  const AgentOptions options_;
  std::deque<LauncherMessage> inbox_;
  std::unique_ptr<JobWatch> watch_;        // from the first round on
  std::unique_ptr<LocalProcesses> group_;  // of the round that runs
  std::set<size_t> left_;         // of them, those that have ended well, as the meeting place was told
  bool watched_ = false;          // its processes run, and nothing has been said about their end
  std::map<size_t, Stopwatch> ranks_;  // those that survive others' losses, since they gave a sign of life
  bool ranks_are_through_ = false;     // all have finished what they survive losses in, and give no signs of life any more
  std::optional<JobProcess> spare_;
  bool spare_failed_ = false;
  std::set<size_t> have_model_;  // of the ranks, as they said
  std::set<size_t> failed_;            // of them, those whose end was told and that have not been started again
  std::optional<size_t> blamed_;  // a process that failed because of another one, as the meeting place was told
  int round_ = 0;
  int signals_heeded_ = 0;
  std::optional<LogFollower> follower_;
};

}  // namespace argosy::launch
