#include "argosy/launch/process/job_process.h"

#include <fcntl.h>
#include <signal.h>

#include <utility>

#include "argosy/base/text.h"
#include "argosy/launch/process/log_file.h"

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

std::string variable_of(const ProcessSpec& spec, const char* name) {
  const auto found = spec.environment.find(name);
  return found == spec.environment.end() ? "" : found->second;
}

}  // namespace

std::string listening_endpoint(const ProcessSpec& spec) {
  if (variable_of(spec, "ARGOSY_SEAT") != "follower") return variable_of(spec, "PADDLE_CURRENT_ENDPOINT");
  const auto index = parse_integer(variable_of(spec, "PADDLE_PSERVER_ID")).value_or(-1);
  const std::vector<std::string> followers = split(variable_of(spec, "ARGOSY_FOLLOWERS"), ',');
  return index >= 0 && static_cast<size_t>(index) < followers.size() ? followers[static_cast<size_t>(index)] : "";
}

Result<JobProcess> JobProcess::start(const ProcessSpec& spec) {
  auto log = open_log(spec.log, O_WRONLY | O_APPEND);
  if (!log.ok()) return log.status().with_context("{}", spec.name);
  ASSIGN_OR_RETURN(NoticeReceiver notices, NoticeReceiver::open());
  auto child = ChildProcess::start({.command = spec.command,
                                    .environment = environment_of(spec, notices),
                                    .output = log->get(),
                                    .errors = log->get(),
                                    .inherited = notices.process_end(),
                                    .group = ChildOptions::Group::session,
                                    .death_signal = SIGKILL});
  if (!child.ok()) return child.status().with_context("{}", spec.name);
  notices.close_process_end();
  return JobProcess(std::move(*child), std::move(notices));
}

}  // namespace argosy::launch
