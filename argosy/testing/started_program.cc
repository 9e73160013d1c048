#include "argosy/testing/started_program.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace argosy::testing {
namespace {

constexpr double kEndSeconds = 60;

}  // namespace

Result<StartedProgram> StartedProgram::start(ChildOptions options) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Status::internal("no pipe");
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  options.output = writing.get();
  ASSIGN_OR_RETURN(auto child, ChildProcess::start(options));
  writing.close();
  std::string line;
  char c = 0;
  while (::read(reading.get(), &c, 1) == 1 && c != '\n') line += c;
  if (c != '\n') return Status::unavailable("'{}' has ended before it said where it listens", options.command[0]);
  return StartedProgram(std::move(child), std::move(line));
}

ExitStatus StartedProgram::end() {
  child_.signal(SIGTERM);
  return child_.wait(Deadline::after_seconds(kEndSeconds)).value_or(ExitStatus{.code = 128 + SIGKILL, .signal = SIGKILL});
}

}  // namespace argosy::testing
