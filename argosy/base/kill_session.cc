#include "argosy/base/kill_session.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "argosy/base/fd.h"
#include "argosy/base/file.h"
#include "argosy/base/poll.h"
#include "argosy/base/text.h"

namespace argosy {
namespace {

// Whether process `pid` runs and is of the session, from /proc/<pid>/stat: "pid (name) state ppid pgrp session …".
bool runs_in(pid_t session, const std::filesystem::path& folder) {
  const auto stat = read_file(folder / "stat");
  if (!stat.ok()) return false;
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 2 > stat->size()) return false;
  const auto fields = split(std::string_view(*stat).substr(name_end + 2), ' ');
  return fields.size() >= 4 && parse_integer(fields[3]) == session && fields[0] != "Z" && fields[0] != "X";
}

// The processes that run of the session. A number that is given anew between the two looks is another session's at the second.
std::vector<Fd> members_of(pid_t session) {
  std::vector<Fd> members;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const auto pid = parse_integer(entry.path().filename().string());
    if (!pid || !runs_in(session, entry.path())) continue;
    Fd member(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(*pid), 0)));
    if (member.open() && runs_in(session, entry.path())) members.push_back(std::move(member));
  }
  return members;
}

}  // namespace

bool kill_session(pid_t session, Deadline deadline) {
  // A process that is killed may have started another since the look: hence again, until there is none.
  for (;;) {
    const std::vector<Fd> members = members_of(session);
    if (members.empty()) return true;
    for (const Fd& member : members) ::syscall(SYS_pidfd_send_signal, member.get(), SIGKILL, nullptr, 0);
    for (const Fd& member : members) wait_readable(member.get(), deadline);
    if (deadline.passed()) return false;
  }
}

}  // namespace argosy
