#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "argosy/launch/process/job_process.h"

namespace argosy::launch {

// The processes of a job on this machine, by number. Confined to one thread; the destructor kills what still runs.
class LocalProcesses {
 public:
  explicit LocalProcesses(std::vector<ProcessSpec> specs);

  size_t size() const { return members_.size(); }
  const ProcessSpec& spec(size_t i) const { return members_[i].spec; }

  // Starts process i, again where it has ended.
  Status start(size_t i);
  Status start_all();

  std::optional<ExitStatus> poll(size_t i);  // nullopt while it runs and before it is started

  // Shows on stderr what the processes have said for the launcher's terminal since the last call (base/notice.h).
  void show_notices();
  // The process whose failure is the cause of process i's own, as i says; empty: i has said nothing.
  const std::string& consequence_of(size_t i) const { return members_[i].consequence_of; }

  // Waits until a process ends or says something, a stop signal comes (launch/process/stop_signal.h), one of `others` is
  // readable, or the deadline passes.
  void wait(Deadline deadline, std::span<const int> others = {});

  // Shows on stderr how process i ended, with the last lines of its log.
  void report(size_t i, const ExitStatus& exit);

  // SIGTERM to all, and SIGKILL to those that still run after the grace, or after more stop signals of the launcher's own than
  // those that made it stop: `signals_heeded`, 1 where it stops because of one and 0 otherwise. `meanwhile` is called again and
  // again while it waits, 20 times a second at least.
  void stop(double grace_seconds, int signals_heeded, const std::function<void()>& meanwhile = [] {});

 private:
  struct Member {
    ProcessSpec spec;
    std::unique_ptr<JobProcess> process;
    std::string consequence_of;
  };
  bool show_notices(Member& member);  // whether there were any
  void show_last_notices(Member& member);  // of a process that says no more
  bool all_stopped();

  std::vector<Member> members_;
};

}  // namespace argosy::launch
