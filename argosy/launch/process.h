#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/notice.h"
#include "argosy/base/status.h"

namespace argosy::launch {

// How a process is started. A plain value.
struct ProcessSpec {
  std::string name;                                // "worker 0", for messages
  std::vector<std::string> command;                // argv; looked up on PATH
  std::map<std::string, std::string> environment;  // on top of the launcher's own
  std::set<std::string> without;                   // variables of the launcher's own that are not handed down
  std::string log;                                 // stdout and stderr go there; opened for appending
};

// How a process ended.
struct Exit {
  int code = 0;    // of exit(), or 128 + the signal
  int signal = 0;  // 0 where it ended by itself
  bool ok() const { return code == 0; }
  std::string to_string() const;  // "exit status 3", "killed by signal 9 (Killed)"
};

// A child in a session of its own, which is killed when the thread that started it ends in any way. Its number is kept from being
// used again until the destructor, which kills what still runs of the session: also what the child has started and moved to a
// group of its own, such as the pipe command of a dataset. Confined to one thread.
class Process {
 public:
  static Result<Process> start(const ProcessSpec& spec);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  std::optional<Exit> poll();  // nullopt while it runs
  void signal(int number);     // to the child and those it started that are in its group
  std::vector<Notice> notices() { return notices_.receive(); }  // what it has said since the last call (base/notice.h)

 private:
  Process(pid_t pid, NoticeReceiver notices) : pid_(pid), notices_(std::move(notices)) {}

  pid_t pid_;
  NoticeReceiver notices_;
  std::optional<Exit> exit_;
};

}  // namespace argosy::launch
