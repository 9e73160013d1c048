#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy {

// How a child process is started. A plain value.
struct ChildOptions {
  // What the child becomes the leader of. Killing the child kills this with it.
  enum class Group {
    process_group,  // in this process's session
    session,        // of its own, so that Ctrl-C at the terminal does not reach it
  };

  std::vector<std::string> command;                     // argv; the first is looked up on this process's PATH
  std::optional<std::vector<std::string>> environment;  // all of it, "NAME=value" each; none: this process's own
  int input = -1;                                       // a descriptor for its stdin; -1: /dev/null
  int output = -1, errors = -1;                         // for its stdout and stderr; -1: this process's own
  int inherited = -1;                                   // one more that it keeps, under the same number; above 2; -1: none
  Group group = Group::process_group;
  int death_signal = 0;  // sent to it when the thread that starts it ends in any way; 0: none
};

// How a process ended.
struct ExitStatus {
  int code = 0;    // of exit(), or 128 + the signal
  int signal = 0;  // 0 where it ended by itself
  bool ok() const { return code == 0; }
  std::string to_string() const;  // "exit status 3", "killed by signal 9 (Killed)"
};

// A child process: the one place where this project starts programs. It begins with no signal blocked and with the default
// action of those that a parent may ignore. Descriptors other than those of the options reach it where they are not
// close-on-exec.
//
// The child is not reaped before the destructor, so that its number means it, and no other process, for as long as this object
// lives. The destructor kills what still runs: of a process group, its members; of a session, everything in it, also what has
// moved to a group of its own since. It waits 10 s at most for them to be gone. Thread-compatible. Started by vfork: no copy of
// this process's memory is made, and no handler of fork() runs.
class ChildProcess {
 public:
  // Returns when the program runs; an error says why it does not. REQUIRES: a command.
  static Result<ChildProcess> start(const ChildOptions& options);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  // becomes readable when the child has ended; see pidfd_open(2)

  std::optional<ExitStatus> poll();                   // nullopt while it runs
  std::optional<ExitStatus> wait(Deadline deadline);  // the same, once it has ended or at the deadline
  void signal(int number);                            // to the child and the others of its process group
  // Reaps it, and lets what it has started live on. REQUIRES: it has ended. Nothing but the destructor may be called after this.
  void leave();

 private:
  ChildProcess(pid_t pid, Fd pidfd, ChildOptions::Group group) : pid_(pid), pidfd_(std::move(pidfd)), group_(group) {}
  bool kill(Deadline deadline);  // whether all that it kills is gone

  pid_t pid_;  // -1 once moved from
  Fd pidfd_;
  ChildOptions::Group group_;
  std::optional<ExitStatus> exit_;
};

}  // namespace argosy
