#include "argosy/launch/servers/step_job.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "argosy/base/address.h"
#include "argosy/base/env_variable.h"
#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/run_id.h"
#include "argosy/base/settings.h"
#include "argosy/base/system_error.h"
#include "argosy/base/text.h"
#include "argosy/launch/process/slurm_step.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;

// How many there are of each kind.
struct Numbers {
  int servers = 0, workers = 0;
};

Result<Numbers> numbers_of(const ServerJobOptions& options, const EnclosingJob& step) {
  const int servers = options.server_num.value_or(step.launchers - options.worker_num.value_or(0));
  const int workers = options.worker_num.value_or(step.launchers - servers);
  if (servers >= 1 && workers >= 1 && servers + workers == step.launchers) return Numbers{servers, workers};
  return Status::invalid_argument(
      "this is {}, and each task is one process of the job: --server_num={} and --worker_num={} are not {}. Start as many tasks "
      "as "
      "there are servers and workers (srun -n), or list the processes with --servers and --workers; {}",
      step.who, servers, workers, step.launchers, kOwnJob);
}

// The same in all tasks of a step, and in no other start of it.
std::string name_of_step() {
  const SlurmStep step = slurm_step().value_or(SlurmStep());
  return fmt::format("slurm-{}.{}.{}", step.job, step.step, step.restarts);
}

// What the first task to come here has drawn: a file appears whole under its name, or is there already.
Result<std::string> token_in(const fs::path& folder) {
  const fs::path token = folder / "token", drawn = folder / ("token." + draw_run_id());
  const int fd = ::open(drawn.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return system_error("cannot write", drawn);
  const std::string text = draw_token();
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool kept = ::close(fd) == 0 && written && (::link(drawn.c_str(), token.c_str()) == 0 || errno == EEXIST);
  const Status why = kept ? Status() : system_error("cannot write", token);
  ::unlink(drawn.c_str());
  RETURN_IF_ERROR(why);
  return read_file(token);
}

std::string names_of_servers(const fs::path& folder, int servers) {
  std::vector<std::string> names;
  for (int i = 0; i < servers; ++i) names.push_back(fmt::format("file:{}", (folder / fmt::format("server-{}", i)).string()));
  return join(names, ",");
}

// Everything that role makers read besides: nothing of it is this job's.
const std::set<std::string> kOthersVariables = {"PADDLE_TRAINING_ROLE",    "PADDLE_PSERVER_IPS",      "PADDLE_PSERVER_PORT",
                                                "PADDLE_TRAINERS",         "PADDLE_CURRENT_IP",       "PADDLE_PORT",
                                                "PADDLE_CURRENT_ENDPOINT", "PADDLE_TRAINER_ENDPOINTS"};

ProcessSpec process_of(int task, const Numbers& numbers, const fs::path& folder, const TrainingProgram& program) {
  const bool server = task < numbers.servers;
  const int index = server ? task : task - numbers.servers;
  ProcessSpec spec{.name = fmt::format("{} {}", server ? "server" : "worker", index), .command = program.argv()};
  spec.environment = program.environment;
  spec.without = kOthersVariables;
  spec.without.insert(server ? "PADDLE_TRAINER_ID" : "PADDLE_PSERVER_ID");
  spec.environment.insert({{"TRAINING_ROLE", server ? "PSERVER" : "TRAINER"},
                           {"PADDLE_PSERVERS_IP_PORT_LIST", names_of_servers(folder, numbers.servers)},
                           {"PADDLE_TRAINERS_NUM", std::to_string(numbers.workers)},
                           {"POD_IP", own_address()},
                           {"ARGOSY_LAUNCH", name_of_step()},
                           {server ? "PADDLE_PSERVER_ID" : "PADDLE_TRAINER_ID", std::to_string(index)}});
  return spec;
}

// A job that was preempted and runs again goes on, without being asked.
void go_on_where_requeued(const TrainingProgram& program, ProcessSpec& spec) {
  const SlurmStep step = slurm_step().value_or(SlurmStep());
  if (!step.requeued() || !program.setting("ARGOSY_ON_OLD_STATE").empty()) return;
  spec.environment["ARGOSY_ON_OLD_STATE"] = "resume";
  log_info("Slurm has requeued this job (SLURM_RESTART_COUNT={}): it goes on with what its servers' directory holds",
           step.restarts);
}

}  // namespace

bool is_task_of_step(const ServerJobOptions& options, const EnclosingJob& enclosing) {
  return enclosing.kind == EnclosingJob::Kind::launchers && enclosing.is_step && (options.server_num || options.worker_num) &&
         options.servers.empty() && options.workers.empty() && options.hosts.empty();
}

Result<ServerJob> job_of_task(const ServerJobOptions& options, const TrainingProgram& program, const EnclosingJob& enclosing) {
  RETURN_IF_ERROR(program.check());
  if (program.setting("ARGOSY_REPLICAS") == "1") {
    return Status::unimplemented(
        "--replicas 1 as the tasks of {}: each task is a server or a worker, and none would be a follower. Leave it out, or "
        "start "
        "one launcher per machine with --servers, --followers and --workers",
        enclosing.who);
  }
  ASSIGN_OR_RETURN(const Numbers numbers, numbers_of(options, enclosing));
  const fs::path logs = fs::absolute(options.log_dir), folder = logs / name_of_step();
  RETURN_IF_ERROR(make_folder(folder));
  ProcessSpec spec = process_of(enclosing.launcher, numbers, folder, program);
  std::string file = spec.name;
  spec.log = logs / file.replace(file.find(' '), 1, "log.");
  if (program.setting("ARGOSY_TOKEN").empty()) {
    ASSIGN_OR_RETURN(spec.environment["ARGOSY_TOKEN"], token_in(folder));
  }
  go_on_where_requeued(program, spec);
  ServerJob job{.has_other_workers = true};
  (enclosing.launcher < numbers.servers ? job.servers : job.workers).push_back(std::move(spec));
  return job;
}

}  // namespace argosy::launch
