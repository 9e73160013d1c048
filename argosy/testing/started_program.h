#pragma once

#include <string>

#include "argosy/base/child_process.h"

namespace argosy::testing {

// A program that says where it listens in the first line of its output, as argosy-server does. The destructor kills it.
// Thread-compatible.
class StartedProgram {
 public:
  // Returns when it has said its line; an error where it cannot be started, or ends before. The options' output is this one's.
  static Result<StartedProgram> start(ChildOptions options);

  const std::string& line() const { return line_; }
  pid_t pid() const { return child_.pid(); }
  // SIGTERM, and how it ended; a program that takes longer than a minute is killed.
  ExitStatus end();

 private:
  StartedProgram(ChildProcess child, std::string line) : child_(std::move(child)), line_(std::move(line)) {}

  ChildProcess child_;
  std::string line_;
};

}  // namespace argosy::testing
