#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/launch/job.h"
#include "argosy/launch/log_file.h"
#include "argosy/launch/process.h"

namespace argosy::launch {

struct SupervisorOptions {
  int max_restarts = 0;       // of any one process, after it has failed
  double grace_seconds = 10;  // between SIGTERM and SIGKILL when processes are stopped
  int tail_lines = 20;        // of a failed process's log that are shown
  std::string follow;         // "worker 0": its log is shown as it grows; empty: none
};

// Runs a job: some processes whose end ends it (workers), some that serve them (servers). Confined to one thread.
//
// The job ends when every worker has ended well: servers are then stopped, and the result is 0. Where the job has workers on
// other machines, servers are waited for instead: they end when all workers have. When a process fails and may not be started
// again, all others are stopped, its last lines are shown, and its exit code is the result. A signal (see stop_from_signal) ends
// the job with 128 + the signal; a second one ends the grace too. No process is left behind in any case.
class Supervisor {
 public:
  Supervisor(Job job, SupervisorOptions options);

  int run();
  static void stop_from_signal(int number);  // async-signal-safe; ends every Supervisor of the process

 private:
  struct Member {
    ProcessSpec spec;
    std::unique_ptr<Process> process;
    int restarts = 0;
    bool awaited = false;  // its end ends the job
    bool done = false;     // ended well
  };

  Status start(Member& member);
  Status start_all();
  int watch();
  // Handles a process that has ended; a value is the job's result.
  std::optional<int> ended(Member& member, const Exit& exit);
  void report(const Member& member, const Exit& exit) const;
  void stop_all();
  bool all_done() const;
  bool all_stopped();

  std::vector<Member> members_;
  const SupervisorOptions options_;
  std::optional<LogFollower> follower_;
};

}  // namespace argosy::launch
