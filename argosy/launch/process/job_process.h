#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/child_process.h"
#include "argosy/base/notice.h"
#include "argosy/base/status.h"

namespace argosy::launch {

// How a process of a job is started. A plain value.
struct ProcessSpec {
  std::string name;                                // "worker 0", for messages
  std::vector<std::string> command;                // argv; looked up on PATH
  std::map<std::string, std::string> environment;  // on top of the launcher's own
  std::set<std::string> without;                   // variables of the launcher's own that are not handed down
  std::string log;                                 // stdout and stderr go there; opened for appending
};

// Where the process listens, or is known, as its environment says: of a follower (replicas=1) its own endpoint, not its server's;
// empty where it does not say.
std::string listening_endpoint(const ProcessSpec& spec);

// A process of a job on this machine: a child in a session of its own, which is killed when the thread that started it ends in
// any way, and whose notices reach the launcher. The destructor kills what still runs of the session: also what the child has
// started and moved to a group of its own, such as the pipe command of a dataset. Confined to one thread.
class JobProcess {
 public:
  static Result<JobProcess> start(const ProcessSpec& spec);

  pid_t pid() const { return child_.pid(); }
  std::optional<ExitStatus> poll() { return child_.poll(); }  // nullopt while it runs
  void signal(int number) { child_.signal(number); }          // to the child and those it started that are in its group
  std::vector<Notice> notices() { return notices_.receive(); }  // what it has said since the last call (base/notice.h)
  bool tell(std::string_view word) const { return notices_.tell(word); }

  int end_fd() const { return child_.pidfd(); }    // readable once it has ended
  int notice_fd() const { return notices_.fd(); }  // readable where it has said something

 private:
  JobProcess(ChildProcess child, NoticeReceiver notices) : child_(std::move(child)), notices_(std::move(notices)) {}

  ChildProcess child_;
  NoticeReceiver notices_;
};

}  // namespace argosy::launch
