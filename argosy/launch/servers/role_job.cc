#include "argosy/launch/servers/role_job.h"

namespace argosy::launch {

Status check_may_start(const ServerJobOptions& options, const EnclosingJob& enclosing) {
  const bool lists = !options.servers.empty() && !options.workers.empty();
  const bool says_processes = options.server_num || options.worker_num || !options.servers.empty() || !options.workers.empty();
  switch (enclosing.kind) {
    case EnclosingJob::Kind::none: return {};
    case EnclosingJob::Kind::role:
      if (!says_processes) return {};
      return Status::failed_precondition(
          "this is {} of a job with parameter servers already ({}); leave the numbers and lists of servers and workers out to "
          "run "
          "that one process; {}",
          enclosing.process, enclosing.who, kOwnJob);
    case EnclosingJob::Kind::launchers: break;
  }
  if (!lists) {
    return Status::failed_precondition(
        "this is {}: each would start a complete job of its own. List the processes with --servers and --workers, so that each "
        "launcher starts those of its machine, or start one launcher (under srun, or one task per process with --server_num); {}",
        enclosing.who, kOwnJob);
  }
  if (enclosing.on_this_machine > 1 && options.node_ip.empty()) {
    return Status::failed_precondition(
        "this is {}, of which {} are on this machine: each would start the same processes. Start one per machine "
        "(srun --ntasks-per-node=1), or give each its own --node_ip",
        enclosing.who, enclosing.on_this_machine);
  }
  return {};
}

Result<ServerJob> job_of_role(const ServerJobOptions& options, const TrainingProgram& program, const EnclosingJob& enclosing) {
  RETURN_IF_ERROR(program.check());
  const bool server = enclosing.process.starts_with("server");
  std::string file = enclosing.process;
  file.replace(file.find(' '), 1, "log.");
  ProcessSpec spec{.name = enclosing.process,
                   .command = program.argv(),
                   .environment = program.environment,
                   .log = fmt::format("{}/{}", options.log_dir, file)};
  ServerJob job{.has_other_workers = true};
  (server ? job.servers : job.workers).push_back(std::move(spec));
  return job;
}

}  // namespace argosy::launch
