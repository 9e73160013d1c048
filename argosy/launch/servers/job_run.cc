#include "argosy/launch/servers/job_run.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <map>

#include "argosy/base/counted.h"
#include "argosy/base/env.h"
#include "argosy/base/log.h"
#include "argosy/base/run_id.h"
#include "argosy/base/run_record.h"
#include "argosy/base/settings.h"
#include "argosy/base/text.h"
#include "argosy/launch/process/log_file.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;

std::vector<ProcessSpec*> all_processes(ServerJob& job) {
  std::vector<ProcessSpec*> all;
  for (auto* list : {&job.servers, &job.workers}) {
    for (ProcessSpec& process : *list) all.push_back(&process);
  }
  return all;
}

// What a process will find in a variable of the job: a flag's value, or else the launcher's own.
std::string job_variable(ServerJob& job, const std::string& name) {
  const auto& flags = all_processes(job).front()->environment;
  const auto flag = flags.find(name);
  return flag != flags.end() ? flag->second : env_text(name.c_str()).value_or("");
}

// A launcher inside a process of another run has that run's id in its environment.
bool is_nested() { return env_text("ARGOSY_LAUNCH").has_value(); }

std::string given_run(ServerJob& job) {
  const auto& flags = all_processes(job).front()->environment;
  const auto flag = flags.find("ARGOSY_RUN_ID");
  if (flag != flags.end()) return known_run_id(flag->second);
  const auto own = env_text("ARGOSY_RUN_ID");
  return own && !own->empty() && !is_nested() ? known_run_id(*own) : "";
}

const std::map<std::string, std::string>& any_environment(const ServerJob& job) {
  return (job.servers.empty() ? job.workers : job.servers).front().environment;
}

int all_servers(const ServerJob& job) {
  return static_cast<int>(split(any_environment(job).at("PADDLE_PSERVERS_IP_PORT_LIST"), ',').size());
}

int all_workers(const ServerJob& job) {
  return static_cast<int>(parse_integer(any_environment(job).at("PADDLE_TRAINERS_NUM")).value_or(0));
}

Status check_unused(const fs::path& directory, const std::vector<RunRecord>& records) {
  for (const RunRecord& record : records)
    RETURN_IF_ERROR(lock_server_folder(server_folder_in(directory, record.server)).status());
  return {};
}

// A run goes on with as many servers and workers as it had.
Status check_numbers(const fs::path& directory, const std::vector<RunRecord>& records, int servers, int workers) {
  const RunRecord& first = records.front();
  const bool other_servers = first.servers != 0 && first.servers != servers;
  const bool other_workers = first.workers != 0 && first.workers != workers;
  if (!other_servers && !other_workers) return {};
  const bool finished = std::ranges::none_of(records, [](const RunRecord& record) { return record.finished.empty(); });
  const std::string its_workers = first.workers == 0 ? "" : fmt::format(", of {}", counted(first.workers, "worker"));
  const std::string here = fmt::format("'{}' holds {}{}, and this job has {} and {}", directory.string(), describe_runs(records),
                                       its_workers, counted(servers, "server"), counted(workers, "worker"));
  if (other_workers && !finished)
    return Status::failed_precondition(
        "{}. Go on with as many workers as it had; another number can take over when it has "
        "finished",
        here);
  return Status::failed_precondition("{}. To go on with it, deal its tables out first: argosy reshard {} --servers {}{}", here,
                                     directory.string(), servers, other_workers ? fmt::format(" --workers {}", workers) : "");
}

// What a launch without followers would not look at, or followers of another run, may be newer than what would go on.
Status check_followers(const ServerJob& job, const fs::path& directory, const std::vector<RunRecord>& servers,
                       const std::vector<RunRecord>& followers) {
  const std::string beside = followers_in(directory).string();
  if (job.all_followers.empty())
    return Status::failed_precondition(
        "'{}' holds {}, of which it may have more than '{}': go on with --replicas 1, or move '{}' away where it is known to be "
        "older",
        beside, describe_runs(followers), directory.string(), beside);
  for (const RunRecord& follower : followers) {
    const auto server = std::ranges::find(servers, follower.server, &RunRecord::server);
    if (server == servers.end() || follower.run.empty() || server->run == follower.run) continue;
    return Status::failed_precondition(
        "'{}' holds {}, and the follower of server {} in '{}' is of {}: move the one away that is not to go on",
        directory.string(), describe_runs({&*server, 1}), follower.server, beside, describe_runs({&follower, 1}));
  }
  return {};
}

// A whole job goes on with all of its servers' folders, or with those of followers in the place of lost ones: a server that began
// with nothing would have forgotten what it had, and nobody would know.
Status check_all_there(const ServerJob& job, const fs::path& directory, const std::vector<RunRecord>& followers) {
  for (int server = 0; job.is_whole && server < all_servers(job); ++server) {
    const fs::path folder = server_folder_in(directory, server), beside = server_folder_in(followers_in(directory), server);
    ASSIGN_OR_RETURN(const auto found, read_run_record(folder));
    const auto follower = std::ranges::find(followers, server, &RunRecord::server);
    if (found || (follower != followers.end() && !is_part_of_run(beside))) continue;
    const std::string part =
        follower == followers.end()
            ? ""
            : fmt::format(", and '{}' holds a part only: its process still caught up when it ended", beside.string());
    return Status::data_loss("'{}', which server {} would go on with, is not there{}; put it back, or begin anew with --fresh",
                             folder.string(), server, part);
  }
  return {};
}

// Begins anew: servers move their own folders aside; the followers' may be those of a job that has none any more.
Status move_followers_aside(const ServerJob& job, const fs::path& directory, const std::vector<RunRecord>& followers) {
  if (followers.empty()) return {};
  if (!job.is_whole)
    return Status::failed_precondition("'{}' holds {}; move it away, since no launcher of several machines can do it alone",
                                       followers_in(directory).string(), describe_runs(followers));
  ASSIGN_OR_RETURN(const fs::path name, move_aside(followers_in(directory), followers.front().run));
  log_info("'{}' is now '{}'", followers_in(directory).string(), name.string());
  return {};
}

// Opens a log and takes its lock; nothing where another launch has it.
Result<std::optional<Fd>> hold_log(const std::string& path) {
  ASSIGN_OR_RETURN(Fd file, open_log(path, O_RDWR));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::optional<Fd>();
  if (::lseek(file.get(), 0, SEEK_END) == 0) return std::optional<Fd>(std::move(file));
  // What an earlier job has left goes, and its lock with it: the new file is locked before anybody else knows that it is there,
  // or is another launch's.
  set_aside(path);
  ASSIGN_OR_RETURN(Fd fresh, open_log(path, O_RDWR));
  if (::flock(fresh.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::optional<Fd>();
  return std::optional<Fd>(std::move(fresh));  // a file system without locks is no reason not to start
}

Result<std::optional<LogHold>> hold_all(const std::vector<ProcessSpec*>& processes) {
  LogHold hold;
  for (const ProcessSpec* process : processes) {
    ASSIGN_OR_RETURN(auto file, hold_log(process->log));
    if (!file) return std::optional<LogHold>();
    hold.files.push_back(std::move(*file));
  }
  return std::optional<LogHold>(std::move(hold));
}

}  // namespace

void name_run(ServerJob& job) {
  const std::string launch = draw_run_id();
  std::string run = job.run.empty() ? given_run(job) : job.run;
  if (run.empty() && job.is_whole) run = draw_run_id();
  job.run = run;
  for (ProcessSpec* process : all_processes(job)) {
    process->environment["ARGOSY_LAUNCH"] = launch;
    if (!run.empty()) process->environment["ARGOSY_RUN_ID"] = run;
    if (run.empty()) process->without.insert("ARGOSY_RUN_ID");
  }
}

Status hold_directory(ServerJob& job) {
  const fs::path directory = job_variable(job, "ARGOSY_DIRECTORY");
  if (!job.is_whole || directory.empty() || job_variable(job, "ARGOSY_DURABILITY") == "none") return {};
  ASSIGN_OR_RETURN(job.directory_lock, lock_launch(directory));
  return {};
}

Status check_directory(ServerJob& job) {
  const fs::path directory = job_variable(job, "ARGOSY_DIRECTORY");
  const std::string wanted = job_variable(job, "ARGOSY_ON_OLD_STATE");
  if (wanted == "resume" && directory.empty())
    return Status::invalid_argument("--resume goes on with the run in a directory, and this job has none; give --directory");
  if (directory.empty() || job_variable(job, "ARGOSY_DURABILITY") == "none") return {};
  ASSIGN_OR_RETURN(std::vector<RunRecord> records, find_old_runs(directory));
  ASSIGN_OR_RETURN(const std::vector<RunRecord> followers, find_old_runs(followers_in(directory)));
  RETURN_IF_ERROR(check_unused(directory, records));
  RETURN_IF_ERROR(check_unused(followers_in(directory), followers));
  if (wanted == "fresh") return move_followers_aside(job, directory, followers);
  std::vector<RunRecord> whole;
  std::ranges::copy_if(followers, std::back_inserter(whole), [&](const RunRecord& follower) {
    return !is_part_of_run(server_folder_in(followers_in(directory), follower.server));
  });
  if (!whole.empty() && wanted == "resume") RETURN_IF_ERROR(check_followers(job, directory, records, whole));
  if (records.empty()) records = whole.empty() ? followers : whole;
  if (records.empty()) {
    if (wanted == "resume") log_warning("'{}' holds no run to go on with (--resume): this one begins anew", directory.string());
    return {};
  }
  if (wanted != "resume") return stopped_by_old_run(directory, records);
  RETURN_IF_ERROR(check_numbers(directory, records, all_servers(job), all_workers(job)));
  RETURN_IF_ERROR(check_all_there(job, directory, followers));
  const RunRecord& first = records.front();
  const auto unfinished = [&](const RunRecord& record) { return record.finished.empty() && record.run == first.run; };
  if (job.is_whole && std::ranges::all_of(records, unfinished) && given_run(job).empty()) job.run = first.run;
  log_info("going on with {}", describe_runs(records));
  return {};
}

Result<LogHold> hold_logs(ServerJob& job) {
  const std::vector<ProcessSpec*> processes = all_processes(job);
  ASSIGN_OR_RETURN(auto hold, hold_all(processes));
  if (hold) return std::move(*hold);
  const std::string name = job.run.empty() ? draw_run_id() : job.run;
  for (ProcessSpec* process : processes) {
    const fs::path log = process->log;
    process->log = (log.parent_path() / name / log.filename()).string();
  }
  const fs::path folder = fs::path(processes.front()->log).parent_path();
  log_info("another launch writes to '{}'; this one's logs are in '{}'", folder.parent_path().string(), folder.string());
  ASSIGN_OR_RETURN(hold, hold_all(processes));
  if (hold) return std::move(*hold);
  return Status::already_exists("another launch of run {} writes to the logs in '{}'", name, folder.string());
}

}  // namespace argosy::launch
