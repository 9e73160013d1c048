#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/launch/process/job_process.h"
#include "argosy/observe/job_board.h"

namespace argosy::launch {

// The processes of a job on this machine, by number. Confined to one thread; the destructor kills what still runs.
class LocalProcesses {
 public:
  // `board` is told of them by their numbers, where it is given; it must outlive this.
  explicit LocalProcesses(std::vector<ProcessSpec> specs, observe::JobBoard* board = nullptr);

  size_t size() const { return members_.size(); }
  const ProcessSpec& spec(size_t i) const { return members_[i].spec; }

  // Starts process i, again where it has ended.
  Status start(size_t i);
  Status start_all();
  // Has a process that runs already in the place of process i, which has ended.
  void replace(size_t i, JobProcess process);

  // A variable that process i has when it is started again.
  void set_variable(size_t i, const std::string& name, const std::string& value);

  std::optional<ExitStatus> poll(size_t i);  // nullopt while it runs and before it is started

  // What the processes have said as ranks of a group that survives (base/notice.h, notice_rank()) since the last call, in order;
  // with their numbers. show_notices() collects it.
  std::vector<std::pair<size_t, std::string>> take_words();
  // Says something to process i (hear_launcher()). False: it does not listen.
  bool tell(size_t i, const std::string& word);
  void kill(size_t i);  // at once

  // Shows on stderr what the processes have said for the launcher's terminal since the last call (base/notice.h).
  void show_notices();
  // The process whose failure is the cause of process i's own, as i says; empty: i has said nothing.
  const std::string& consequence_of(size_t i) const { return members_[i].consequence_of; }
  // Whether process i is a worker of a job that it has not left, as it says.
  bool in_job(size_t i) const { return members_[i].jobs > 0; }
  // Whether it has been one, and has left it.
  bool has_left(size_t i) const { return members_[i].left && members_[i].jobs <= 0; }

  // How process i ended. In order: its exit status is 0, and it was a worker of no job any more.
  struct Ending {
    bool in_order = true;
    int code = 0;  // 0 only where it ended in order
    std::string text;  // "exit status 3"
  };
  Ending ending(size_t i, const ExitStatus& exit);

  // Waits until a process ends or says something, a stop signal comes (launch/process/stop_signal.h), one of `others` is
  // readable, or the deadline passes.
  void wait(Deadline deadline, std::span<const int> others = {});

  // Shows on stderr how process i ended, with the last lines of its log, or why its log has none.
  void report(size_t i, const std::string& how);

  // Says, every few seconds at most and once each, that the logs can no longer be written, and that they can again.
  void watch_logs();

  // Saves the stacks of those that run (launch/process/stacks.h), in the folder of the logs, and says on stderr where they are.
  // It takes some seconds; gdb, where it is installed, is given `gdb_seconds` and as long again for the last process. 0: it is
  // not asked, for who cannot wait.
  void save_stacks(const std::string& why, double gdb_seconds = 15);

  // SIGTERM to all, and SIGKILL to those that still run after the grace, or after more stop signals of the launcher's own than
  // those that made it stop: `signals_heeded`, 1 where it stops because of one and 0 otherwise. `meanwhile` is called again and
  // again while it waits, 20 times per second at least. The stacks of those that are killed after the grace are saved before.
  void stop(double grace_seconds, int signals_heeded, const std::function<void()>& meanwhile = [] {});

 private:
  struct Member {
    size_t number = 0;
    ProcessSpec spec;
    std::unique_ptr<JobProcess> process;
    std::string consequence_of;
    int jobs = 0;  // that it is a worker of, as it says
    bool left = false;  // one of them
    std::set<std::string> folders;  // that it has written in, as it says
  };
  static std::optional<ExitStatus> poll(Member& member, observe::JobBoard* board);
  bool show_notices(Member& member);  // whether there were any
  void show_last_notices(Member& member);  // of a process that says no more
  // Ends the process, and removes what it was writing.
  void end(Member& member);
  bool all_stopped();

  observe::JobBoard* const board_;
  std::vector<Member> members_;
  std::vector<std::pair<size_t, std::string>> words_;
  Stopwatch since_log_check_;
  bool logs_fail_ = false;  // as was said last
};

}  // namespace argosy::launch
