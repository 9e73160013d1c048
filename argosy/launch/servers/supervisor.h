#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/launch/process/job_watch.h"
#include "argosy/launch/process/local_processes.h"
#include "argosy/launch/process/log_file.h"
#include "argosy/launch/servers/replica_watch.h"
#include "argosy/launch/servers/server_job.h"

namespace argosy::launch {

struct SupervisorOptions {
  int max_restarts = 0;       // of any one process, after failures of its own
  double grace_seconds = 10;  // between SIGTERM and SIGKILL when processes are stopped
  std::string follow;         // "worker 0": its log is shown as it grows; empty: none
  bool shrink = false;        // go on without a worker that has failed, as long as there is another
  ReplicaWatch* replicas = nullptr;  // told of servers and followers; null: nobody is. Outlives the Supervisor
};

// Runs a parameter-server job: some processes whose end ends it (workers), some that serve them (servers). Confined to one
// thread.
//
// The job ends when every worker has ended well: servers are then stopped, and the result is 0. Where the job has workers on
// other machines, servers are waited for instead: they end when all workers have. When a process fails and may not be started
// again, all others are stopped, its last lines are shown, and its exit code is the result; one that failed because another was
// lost (base/notice.h) is passed over for that other one, if it ends within moments, and is started again with it at no cost. A
// worker that ends with status 0 in the middle of its job has failed, and so has a server that ends while a worker is in its job.
// With `shrink` a worker is left out instead, and the job ends well when another one has; not worker 0, which saves the model. A
// A server with a follower (replicas=1) is two processes, either of which the job can do without. A
// signal (launch/process/stop_signal.h) ends the job with 128 + the signal; a second one ends the grace too. No process is left
// behind in any case.
class Supervisor {
 public:
  // `watch` shows the job, where it is given; it must outlive this.
  Supervisor(const ServerJob& job, SupervisorOptions options, JobWatch* watch = nullptr);

  int run();

 private:
  struct Member {
    bool worker = false;
    bool first = false;    // worker 0
    bool awaited = false;  // its end ends the job
    bool done = false;     // ended well, or left out
    int restarts = 0;      // after failures of its own
    // Which failure was its last own one, and how many there were when it was started, counted over all processes.
    int last_failure = 0, failures_before = 0;
    std::optional<Stopwatch> ended_early;      // with status 0, while workers are in their job
    std::optional<Stopwatch> failed_late;      // when it had left its job
    int server = -1;           // of which this is a process, where servers have two
    bool follower = false;     // in the follower's seat
    bool told = false;         // `replicas` knows of its end
    bool gone = false;         // `replicas` knows that it comes back no more
    std::optional<Stopwatch> waits_for_cause;  // it has failed, and says that another process did so before
  };

  Status start_all();
  int watch();
  // After a good end: until who else waits for a role knows of it. A value is the job's result.
  std::optional<int> conclude();
  // Which processes are left to tell, as `replicas` says: those of this machine that have ended are none.
  std::string left_to_tell();
  // Handles a process that has ended; a value is the job's result.
  std::optional<int> ended(size_t i, const ExitStatus& exit);
  // Makes a failure of the end of server i, where a worker that still needs it is not done within moments.
  // False: those are not over.
  bool judge_server(size_t i, LocalProcesses::Ending& end);
  // A worker that servers have to serve, as far as this machine's workers say; null: they may end.
  const std::string* who_needs_servers() const;
  // Whether this worker, which has failed, had left a job whose servers have all ended.
  bool came_too_late(size_t i) const;
  // Whether worker i, which has failed, may come too late in a moment: it had left its job, as all workers of this machine have.
  bool waits_for_servers(size_t i);
  // The process that the failure of i is a consequence of, as i says; null where it is i's own.
  const Member* cause_of(size_t i) const;
  // Whether process i, which has failed, did so because of another one that is still to end: that one's error is the cause.
  bool waits_for_cause(size_t i);
  // Starts process i again, where that is still allowed: whether it runs.
  bool restarts(size_t i, const std::string& how);
  // The job goes on without process i, which has failed, or a value is the job's result.
  std::optional<int> give_up(size_t i, const LocalProcesses::Ending& end);
  void tell_of_end(size_t i, bool in_order);
  // Of a process that has ended, and is not started again. Once.
  void tell_that_gone(Member& member);
  // The other process of its server; null: there is none on this machine.
  const Member* other_of(const Member& member) const;
  // Whether the job goes on without this process of a server of two, which has failed: not where none of them has been the
  // primary yet, because what has kept this one from it is what the job fails of.
  bool has_another(const Member& failed) const;
  // Whether the job goes on without this one, which has failed: another worker still runs, or has ended well.
  bool can_do_without(const Member& failed) const;
  bool all_done() const;

  JobWatch* const watch_;
  LocalProcesses group_;
  std::vector<Member> members_;  // as those of the group
  std::vector<std::string> left_out_;
  const SupervisorOptions options_;
  std::optional<LogFollower> follower_;
  int failures_ = 0;  // that were a process's own
  int signals_heeded_ = 0;
};

}  // namespace argosy::launch
