#include "argosy/observe/job_place.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "argosy/base/address.h"
#include "argosy/base/clock.h"
#include "argosy/base/fd.h"
#include "argosy/base/file.h"
#include "argosy/base/poll.h"
#include "argosy/base/text.h"
#include "argosy/base/uri.h"
#include "argosy/observe/http_server.h"

namespace argosy::observe {
namespace {

namespace fs = std::filesystem;

constexpr double kAnswerSeconds = 5;
constexpr std::string_view kHttp = "http://";

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// When a process began, in ticks since the machine did; 0: there is none. Two processes of one number differ in it.
int64_t start_of(int64_t pid) {
  std::string stat;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", pid)), stat);
  if (stat.rfind(')') == std::string::npos) return 0;
  const auto fields = split(stat.substr(stat.rfind(')') + 1), ' ');  // the name before it may have spaces
  constexpr size_t kStart = 20;                                      // the 22nd of all
  return fields.size() > kStart ? parse_integer(fields[kStart]).value_or(0) : 0;
}

std::string value_of(const std::string& lines, std::string_view key) {
  for (const std::string& line : split(lines, '\n')) {
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == '=') return line.substr(key.size() + 1);
  }
  return "";
}

// "host:port" of a page's URL; empty: it is none.
std::string authority_of(const std::string& url) {
  if (!url.starts_with(kHttp)) return "";
  return url.substr(kHttp.size(), url.find('/', kHttp.size()) - kHttp.size());
}

}  // namespace

std::string launcher_file(const std::string& url) {
  return fmt::format("pid={}\nstart={}\nhost={}\nurl={}\n", ::getpid(), start_of(::getpid()), host_name(), url);
}

Result<JobPlace> JobPlace::find(std::string folder_or_url) {
  if (is_uri(folder_or_url)) {
    if (!Address::parse(authority_of(folder_or_url)).ok())
      return Status::invalid_argument(
          "'{}' is no page of a job; expected http://host:port, as its launcher says it (--status_port)", folder_or_url);
    while (folder_or_url.ends_with('/')) folder_or_url.pop_back();
    return JobPlace(std::move(folder_or_url));
  }
  const std::vector<std::string> folders =
      folder_or_url.empty() ? std::vector<std::string>{"logs", "log"} : std::vector<std::string>{folder_or_url};
  for (const std::string& folder : folders) {
    if (fs::exists(fs::path(folder) / "launcher")) return JobPlace(folder);
  }
  return Status::not_found(
      "no job is known in '{}': a launcher leaves a file 'launcher' in its log folder (--log_dir). Name that folder, or the URL "
      "of "
      "the job's status page (--status_port)",
      join(folders, "' or '"));
}

Result<std::string> JobPlace::read(const std::string& name) const {
  return is_url() ? http_get(where_ + "/" + name, kAnswerSeconds) : read_file(fs::path(where_) / name);
}

bool JobPlace::Launcher::runs_here() const { return host == host_name() && start != 0 && start_of(pid) == start; }

Result<JobPlace::Launcher> JobPlace::launcher() const {
  ASSIGN_OR_RETURN(const std::string lines, read("launcher"));
  Launcher launcher{.pid = parse_integer(value_of(lines, "pid")).value_or(0),
                    .start = parse_integer(value_of(lines, "start")).value_or(0),
                    .host = value_of(lines, "host")};
  if (launcher.pid <= 1 || launcher.host.empty())
    return Status::data_loss("'{}' of {} does not say which process the launcher is", "launcher", where_);
  return launcher;
}

Result<std::string> JobPlace::json() const { return read("status.json"); }

Result<std::string> JobPlace::text() const {
  ASSIGN_OR_RETURN(std::string text, read("status.txt"));
  if (is_url()) return text;
  ASSIGN_OR_RETURN(const Launcher known, launcher());
  const std::string first = text.substr(0, text.find('\n'));
  const bool said_running = first.find(": running,") != std::string::npos || first.find(": starting,") != std::string::npos ||
                            first.find(": stopping,") != std::string::npos;
  if (!said_running || known.host != host_name() || known.runs_here()) return text;
  return fmt::format("the launcher (pid {}) was killed; this is what it said last, and no process of the job runs any more\n{}",
                     known.pid, text);
}

bool JobPlace::has_ended() const {
  const auto known = launcher();
  return !known.ok() || (known->host == host_name() && !known->runs_here());
}

Status JobPlace::stop(double seconds) const {
  ASSIGN_OR_RETURN(const Launcher known, launcher());
  if (known.host != host_name()) {
    return Status::failed_precondition("the launcher of {} runs on {}, and this is {}; stop it there", where_, known.host,
                                       host_name());
  }
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(known.pid), 0)));
  if (!process.open() || !known.runs_here())
    return Status::failed_precondition("the launcher of {} (pid {}) does not run any more: there is nothing to stop", where_,
                                       known.pid);
  if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) != 0)
    return Status::permission_denied("pid {} of {} cannot be stopped: {}", known.pid, where_, std::strerror(errno));
  std::vector<pollfd> waited = {{.fd = process.get(), .events = POLLIN, .revents = 0}};
  poll_until(waited, Deadline::after_seconds(seconds));
  if ((waited[0].revents & POLLIN) != 0) return {};
  return Status::deadline_exceeded("pid {} of {} has not ended in {} s; it was asked to, and its log says what it waits for",
                                   known.pid, where_, seconds);
}

}  // namespace argosy::observe
