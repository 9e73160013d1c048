// The launcher: `fleetrun`, and behind `python -m paddle.distributed.launch` and `launch_ps`.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "argosy/apps/replicas.h"
#include "argosy/base/log.h"
#include "argosy/base/settings.h"
#include "argosy/base/text.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/launch/command/command_line.h"
#include "argosy/launch/process/interpreter.h"
#include "argosy/launch/process/stop_signal.h"
#include "argosy/launch/servers/job_run.h"
#include "argosy/launch/servers/job_token.h"
#include "argosy/launch/servers/role_job.h"
#include "argosy/launch/servers/step_job.h"

namespace {

using argosy::Result;
using argosy::Status;
using namespace argosy::launch;

int fail(const Status& status) {
  std::fprintf(stderr, "fleetrun: %s\n", status.message().c_str());
  return argosy::cli::kUsageError;
}

// Shows the job while it runs.
Result<int> supervise(ServerJob& job, const CommandLine& line) {
  ASSIGN_OR_RETURN(const argosy::Settings settings, argosy::Settings::from_environment());
  std::vector<ProcessSpec*> processes;
  for (auto* list : {&job.servers, &job.workers}) {
    for (ProcessSpec& process : *list) processes.push_back(&process);
  }
  RETURN_IF_ERROR(choose_metrics_ports(processes, settings));
  ASSIGN_OR_RETURN(const auto watch,
                   JobWatch::start({.name = settings.text("job"),
                                    .run = job.run,
                                    .folder = std::filesystem::path(processes.front()->log).parent_path().string(),
                                    .command = argosy::join(line.program.argv(), " ")},
                                   {processes.begin(), processes.end()}, line.watch, settings));
  ASSIGN_OR_RETURN(const auto replicas, argosy::apps::watch_replicas(job));
  SupervisorOptions options = line.supervisor;
  options.replicas = replicas.get();
  return Supervisor(job, options, watch.get()).run();
}

Result<int> run_role(CommandLine& line, const EnclosingJob& enclosing) {
  ASSIGN_OR_RETURN(ServerJob job, job_of_role(line.job, line.program, enclosing));
  argosy::log_info("joins the job that the environment describes as {}", enclosing.process);
  if (line.supervisor.follow.empty()) line.supervisor.follow = enclosing.process;  // a pod's output is what is read of it
  return supervise(job, line);
}

Result<int> run_task(CommandLine& line, const EnclosingJob& step) {
  constexpr double kPreemptionSeconds = 20;  // Slurm kills what is left 30 s after its SIGTERM
  ASSIGN_OR_RETURN(ServerJob job, job_of_task(line.job, line.program, step));
  if (line.supervisor.follow.empty()) line.supervisor.follow = "worker 0";
  line.supervisor.grace_seconds = kPreemptionSeconds;
  return supervise(job, line);
}

Result<int> run_with_servers(CommandLine& line) {
  EnclosingJob enclosing;
  if (!line.collective.nodes.standalone) {
    ASSIGN_OR_RETURN(enclosing, enclosing_job());
  }
  if (is_task_of_step(line.job, enclosing)) return run_task(line, enclosing);
  RETURN_IF_ERROR(check_may_start(line.job, enclosing));
  if (enclosing.kind == EnclosingJob::Kind::role) return run_role(line, enclosing);
  ASSIGN_OR_RETURN(ServerJob job, make_job(line.job, line.program));
  RETURN_IF_ERROR(give_token(job, line.program));
  RETURN_IF_ERROR(claim_ports(job));
  RETURN_IF_ERROR(hold_directory(job));
  RETURN_IF_ERROR(check_directory(job));
  name_run(job);
  ASSIGN_OR_RETURN(const LogHold logs, hold_logs(job));
  return supervise(job, line);
}

}  // namespace

int main(int argc, char** argv) {
  argosy::set_log_dates();
  auto line = parse_command_line({argv + 1, argv + argc});
  if (!line.ok()) return fail(line.status());
  if (!line->text.empty()) {
    std::fputs(line->text.c_str(), stdout);
    return 0;
  }
  // A flag wins over its variable, for the launcher's own part too.
  for (const auto& [name, value] : line->program.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (const auto settings = argosy::Settings::from_environment(); !settings.ok()) return fail(settings.status());
  line->program.python = find_python(argv[0]);
  if (const Status status = line->program.check(); !status.ok()) return fail(status);
  for (int number : {SIGINT, SIGTERM}) std::signal(number, stop_from_signal);
  // Under nohup a job goes on when its terminal is gone.
  if (std::signal(SIGHUP, stop_from_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  const bool ps = line->mode == CommandLine::Mode::ps;
  if (!ps && line->print_config) std::fputs(configuration_text(*line).c_str(), stdout);
  std::fflush(stdout);
  const auto result = ps ? run_with_servers(*line) : run_collective(line->collective, line->program);
  return result.ok() ? *result : fail(result.status());
}
