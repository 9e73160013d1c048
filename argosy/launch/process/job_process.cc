#include "argosy/launch/process/job_process.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "argosy/base/fd.h"

extern char** environ;

namespace argosy::launch {
namespace {

std::vector<std::string> environment_of(const ProcessSpec& spec, const NoticeReceiver& notices) {
  std::vector<std::string> entries = {fmt::format("{}={}", NoticeReceiver::kVariable, notices.variable_value())};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    const bool own = name == NoticeReceiver::kVariable;  // a launcher may itself be a process of a job
    if (!own && !spec.environment.contains(name) && !spec.without.contains(name)) entries.emplace_back(text);
  }
  for (const auto& [name, value] : spec.environment) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

Result<Fd> open_log(const ProcessSpec& spec) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(spec.log).parent_path(), error);
  if (error) return Status::unavailable("{}: cannot make the folder of its log '{}': {}", spec.name, spec.log, error.message());
  Fd log(::open(spec.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!log.open()) return Status::unavailable("{}: cannot write its log '{}': {}", spec.name, spec.log, std::strerror(errno));
  return log;
}

}  // namespace

Result<JobProcess> JobProcess::start(const ProcessSpec& spec) {
  ASSIGN_OR_RETURN(const Fd log, open_log(spec));
  ASSIGN_OR_RETURN(NoticeReceiver notices, NoticeReceiver::open());
  auto child = ChildProcess::start({.command = spec.command,
                                    .environment = environment_of(spec, notices),
                                    .output = log.get(),
                                    .errors = log.get(),
                                    .inherited = notices.process_end(),
                                    .group = ChildOptions::Group::session,
                                    .death_signal = SIGKILL});
  if (!child.ok()) return child.status().with_context("{}", spec.name);
  notices.close_process_end();
  return JobProcess(std::move(*child), std::move(notices));
}

}  // namespace argosy::launch
