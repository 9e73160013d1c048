#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "argosy/launch/process.h"

namespace argosy::launch {

struct SupervisorOptions {
  int max_restarts = 0;        // of any one process, after it has failed
  double grace_seconds = 10;   // between SIGTERM and SIGKILL when processes are stopped
  int tail_lines = 20;         // of a failed process's log that are shown
};

// Runs a job: some processes whose end ends it (workers), some that serve them (servers). Confined to one thread.
//
// The job ends when every worker has ended well: servers are then stopped, and the result is 0. When a process fails and may
// not be restarted, all others are stopped, its last lines are shown, and its exit code is the result. stop() from a signal
// handler ends the job with 128 + the signal. No process is left behind in any case.
class Supervisor {
 public:
  Supervisor(std::vector<ProcessSpec> servers, std::vector<ProcessSpec> workers, SupervisorOptions options);

  int run();
  static void stop_from_signal(int number);  // async-signal-safe; ends every Supervisor of the process

 private:
  struct Member {
    ProcessSpec spec;
    std::unique_ptr<Process> process;
    int restarts = 0;
    bool is_worker = false;
    bool done = false;  // ended well
  };

  Status start(Member& member);
  int watch();
  // Handles a process that has ended; a value is the job's result.
  std::optional<int> ended(Member& member, const Exit& exit);
  void stop_all();
  bool workers_done() const;

  std::vector<Member> members_;
  const SupervisorOptions options_;
};

}  // namespace argosy::launch
