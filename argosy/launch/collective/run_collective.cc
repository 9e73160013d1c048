#include "argosy/launch/collective/run_collective.h"

#include <filesystem>
#include <memory>

#include "argosy/base/counted.h"
#include "argosy/base/log.h"
#include "argosy/base/resume.h"
#include "argosy/base/settings.h"
#include "argosy/base/socket.h"
#include "argosy/base/text.h"
#include "argosy/launch/collective/agent.h"
#include "argosy/launch/collective/meeting.h"
#include "argosy/launch/collective/meeting_transport.h"
#include "argosy/launch/process/enclosing_job.h"
#include "argosy/launch/process/slurm_step.h"
#include "argosy/launch/process/stop_signal.h"

namespace argosy::launch {
namespace {

constexpr double kTrySeconds = 2;
constexpr double kHeldSeconds = 65;  // more than the minute for which the system keeps the port of a connection that has ended
constexpr double kTryEverySeconds = 0.1;

// This node's line to the meeting place, and the meeting place itself where it is here.
struct Way {
  std::unique_ptr<Meeting> meeting;
  std::unique_ptr<MeetingServer> server;  // of a job of several nodes
  std::unique_ptr<NodeLink> link;
  std::string host;  // by which the other nodes know this one
};

std::string job_name(const TrainingProgram& program) {
  const std::string given = program.setting("ARGOSY_JOB");
  return given.empty() ? "job" : given;
}

RoundsOptions rounds_options(const CollectiveOptions& options, const Nodes& nodes, const NodeJob& job) {
  return {.least = nodes.least,
          .most = nodes.most,
          .max_restarts = options.max_restarts,
          .last_call_seconds = options.last_call_seconds,
          .join_seconds = options.join_seconds,
          .job = job_name(job.program),
          .token = job.program.setting("ARGOSY_TOKEN").empty() ? draw_token() : "",
          .checkpoint = [file = job.checkpoint_file()] {
            const auto noted = noted_checkpoint(file);
            return noted.ok() && !noted->empty() ? *noted : checkpoint_to_resume();
          }};
}

// Until somebody listens there: the first node's launcher may start later than this one. Returns the address of this node, as
// the first sees it.
Result<Address> wait_for_first(const Nodes& nodes, double seconds) {
  const Deadline deadline = Deadline::after_seconds(seconds);
  log_info("waits for the launcher of the first node at {}", nodes.meeting.to_string());
  for (;;) {
    auto socket = connect_to(nodes.meeting, nodes.host, Deadline::after_seconds(kTrySeconds));
    if (socket.ok()) return local_address(*socket);
    if (stop_signal() != 0) return Status::cancelled("stopped by signal {}", stop_signal());
    if (deadline.passed()) {
      return socket.status().with_context(
          "the launcher of the first node did not answer in {} s; start it, or look at --rdzv_endpoint", seconds);
    }
    wait_for_event({}, Deadline::after_seconds(kTryEverySeconds));
  }
}

// A port that nobody listens at can still be held: by a connection that went out from it and has ended a moment ago.
Result<std::unique_ptr<MeetingServer>> serve_patiently(Meeting& meeting, const Address& address) {
  const Deadline deadline = Deadline::after_seconds(kHeldSeconds);
  for (bool told = false;; wait_for_event({}, Deadline::after_seconds(kTryEverySeconds))) {
    auto server = serve_meeting(meeting, address);
    if (server.status().code() != Code::already_exists || deadline.passed() || stop_signal() != 0) return server;
    if (connect_to(address, "", Deadline::after_seconds(kTrySeconds)).ok()) return server;
    if (!std::exchange(told, true))
      log_info("{} is held by a connection that has ended; waits until it is free, at most {} s", address.to_string(),
               kHeldSeconds);
  }
}

// The meeting place where it is to be here; a way without one where it is elsewhere.
Result<Way> open_meeting(const Nodes& nodes, RoundsOptions options) {
  Way way;
  if (nodes.most > 1 && nodes.hosts_meeting == Nodes::Host::no) return way;
  way.meeting = std::make_unique<Meeting>(std::move(options), nodes.most > 1 ? Meeting::Nodes::several : Meeting::Nodes::one);
  way.link = way.meeting->first_link();
  if (nodes.most == 1) return way;
  auto server = serve_patiently(*way.meeting, nodes.meeting);
  const bool somebody_else = server.status().code() == Code::already_exists && nodes.hosts_meeting == Nodes::Host::if_free;
  if (somebody_else) return Way();
  if (!server.ok())
    return server.status().with_context("the meeting place of the nodes; --rdzv_endpoint or --started_port choose another");
  way.server = std::move(*server);
  log_info("{} at {}", counted(nodes.most, "node meets", "nodes meet"), nodes.meeting.to_string());
  return way;
}

Result<Way> find_way(const CollectiveOptions& options, const Nodes& nodes, const NodeJob& job) {
  ASSIGN_OR_RETURN(Way way, open_meeting(nodes, rounds_options(options, nodes, job)));
  way.host = nodes.host;
  if (way.meeting) {
    if (way.host.empty()) way.host = nodes.most == 1 ? "127.0.0.1" : nodes.meeting.host;
    return way;
  }
  ASSIGN_OR_RETURN(const Address own, wait_for_first(nodes, options.join_seconds));
  if (way.host.empty()) way.host = own.host;
  ASSIGN_OR_RETURN(way.link, join_meeting(nodes.meeting));
  return way;
}

// The pod of a process of a job with parameter servers is no place for a collective job.
Status check_no_role() {
  const auto enclosing = enclosing_job();
  if (!enclosing.ok() || enclosing->kind != EnclosingJob::Kind::role) return {};
  return Status::failed_precondition(
      "this is {} of a job with parameter servers ({}), and the options are those of a collective job; leave them out to run "
      "that "
      "one process; with --standalone it starts a job of its own all the same",
      enclosing->process, enclosing->who);
}

Status check_meeting(const Nodes& nodes, const TrainingProgram& program) {
  if (nodes.most == 1 || program.setting("ARGOSY_SECURITY") != "required") return {};
  return Status::failed_precondition(
      "ARGOSY_SECURITY=required: the processes of a collective job on several machines meet in c10d stores, which ask nobody who "
      "they are; leave it out where the network is your own");
}

Result<std::vector<std::string>> own_endpoints(const std::string& host, std::optional<int> started_port, int processes) {
  std::vector<std::string> endpoints;
  std::vector<int> ports;
  if (started_port) {
    for (int i = 0; i < processes; ++i) ports.push_back(*started_port + i);
  } else {
    ASSIGN_OR_RETURN(ports, free_ports(host, processes));
  }
  for (int port : ports) {
    const Address address{.host = host, .port = port};
    if (port > 65535)
      return Status::invalid_argument("--started_port: {} processes would need port {}; choose a lower one", processes, port);
    if (is_port_in_use(address))
      return Status::already_exists("port {} of {} is in use; choose others with --started_port", port, host);
    endpoints.push_back(address.to_string());
  }
  return endpoints;
}

// The note of the job's last checkpoint. That of a job before is removed; that of this job, which Slurm has taken from its nodes
// and starts again, says where it goes on. So a step's has the step's name: another launch does not write to it.
void prepare_checkpoint_note(NodeJob& job) {
  const auto step = slurm_step();
  if (step) job.checkpoint_note += fmt::format(".slurm-{}.{}", step->job, step->step);
  if (step && step->requeued()) {
    const auto noted = noted_checkpoint(job.checkpoint_file());
    log_info("Slurm has requeued this job (SLURM_RESTART_COUNT={}): {}", step->restarts,
             noted.ok() && !noted->empty() ? fmt::format("it goes on from checkpoint '{}'", *noted)
                                           : fmt::format("'{}' names no checkpoint to go on from", job.checkpoint_file()));
    return;
  }
  std::error_code nothing_there;
  std::filesystem::remove(job.checkpoint_file(), nothing_there);
}

// The setting peer_seconds, as the flag or the launcher's own environment has it.
Result<double> silence_seconds(const TrainingProgram& program) {
  const std::string given = program.setting("ARGOSY_PEER_SECONDS");
  if (given.empty()) return Settings().seconds("peer_seconds");
  const auto seconds = parse_number(given);
  if (seconds && *seconds > 0) return *seconds;
  return Status::invalid_argument("peer_seconds: found '{}', expected a number of seconds above 0", given);
}

}  // namespace

Result<int> run_collective(const CollectiveOptions& options, const TrainingProgram& program) {
  RETURN_IF_ERROR(program.check());
  if (!options.nodes.given()) RETURN_IF_ERROR(check_no_role());
  RankInfo launcher;
  if (!options.nodes.given() && !has_cloud_nodes()) {
    ASSIGN_OR_RETURN(launcher, rank_info_from_environment());
  }
  NodeJob job{.program = program, .log_dir = options.log_dir, .max_restarts = options.max_restarts};
  const bool shared_gpus = program.setting("ARGOSY_COLLECTIVE_BACKEND") == "gloo";
  ASSIGN_OR_RETURN(job.devices, choose_devices(options.gpus, options.processes, launcher, shared_gpus));
  ASSIGN_OR_RETURN(const Nodes nodes, find_nodes(options.nodes, job.devices.processes, launcher));
  if (options.follow >= job.devices.processes)
    return Status::invalid_argument("--follow {}: this node has {}, numbered from 0", options.follow,
                                    counted(job.devices.processes, "process", "processes"));
  RETURN_IF_ERROR(check_meeting(nodes, program));
  prepare_checkpoint_note(job);
  ASSIGN_OR_RETURN(Way way, find_way(options, nodes, job));
  ASSIGN_OR_RETURN(const auto endpoints, own_endpoints(way.host, nodes.started_port, job.devices.processes));
  ASSIGN_OR_RETURN(const double silence, silence_seconds(program));
  const AgentOptions agent{.endpoints = endpoints,
                           .rank = nodes.rank,
                           .job = job_name(program),
                           .follow = options.follow,
                           .spare = program.setting("ARGOSY_SPARE_RANKS") == "1",
                           .silence_seconds = silence,
                           .watch = options.watch};
  return Agent(*way.link, job, agent).run();
}

}  // namespace argosy::launch
