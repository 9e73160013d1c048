#include "argosy/launch/collective/node_job.h"

#include <algorithm>
#include <filesystem>

#include "argosy/base/address.h"
#include "argosy/base/env.h"
#include "argosy/base/text.h"
#include "argosy/base/thread.h"

extern char** environ;

namespace argosy::launch {
namespace {

// What says who a process is, by name or by the start of it, and is set anew or left out: a launcher may itself be a process of
// a job. A user's own variables are handed on, those whose names begin with PADDLE_ too.
constexpr const char* kOwned[] = {"PADDLE_TRAINER_ID",
                                  "PADDLE_TRAINERS_NUM",
                                  "PADDLE_TRAINERS",
                                  "PADDLE_TRAINER_ENDPOINTS",
                                  "PADDLE_CURRENT_ENDPOINT",
                                  "PADDLE_CURRENT_IP",
                                  "PADDLE_RANK_IN_NODE",
                                  "PADDLE_LOCAL_SIZE",
                                  "PADDLE_MASTER",
                                  "PADDLE_PORT",
                                  "PADDLE_PSERVER_ID",
                                  "PADDLE_PSERVER_IPS",
                                  "PADDLE_PSERVER_PORT",
                                  "PADDLE_PSERVERS_IP_PORT_LIST",
                                  "PADDLE_TRAINING_ROLE",
                                  "PADDLE_NNODES",
                                  "PADDLE_RANK",
                                  "PADDLE_IPS",
                                  "PADDLE_START_PORT",
                                  "PADDLE_SERVER_NUM",
                                  "PADDLE_TRAINER_NUM",
                                  "PADDLE_SERVERS_ENDPOINTS",
                                  "PADDLE_TRAINERS_ENDPOINTS",
                                  "FLAGS_selected_gpus",
                                  "TRAINING_ROLE",
                                  "POD_IP",
                                  "TRAINER_PORTS_NUM",
                                  "RANK",
                                  "WORLD_SIZE",
                                  "LOCAL_RANK",
                                  "LOCAL_WORLD_SIZE",
                                  "GROUP_RANK",
                                  "ROLE_RANK",
                                  "MASTER_ADDR",
                                  "MASTER_PORT",
                                  "TORCHELASTIC_",
                                  "OMPI_",
                                  "PMIX_",
                                  "PMI_",
                                  "MPI_LOCAL",
                                  "SLURM_PROCID",
                                  "SLURM_LOCALID",
                                  "SLURM_STEP_NUM_TASKS",
                                  "ARGOSY_RESUME",
                                  "ARGOSY_CHECKPOINT_FILE",
                                  "ARGOSY_REJOIN",
                                  "ARGOSY_SPARE"};

std::set<std::string> owned_variables() {
  std::set<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const auto is_owned = [&](std::string_view owned) {
      return owned.ends_with('_') || owned == "MPI_LOCAL" ? name.starts_with(owned) : name == owned;
    };
    if (std::any_of(std::begin(kOwned), std::end(kOwned), is_owned)) names.emplace(name);
  }
  return names;
}

std::map<std::string, std::string> variables_of(const NodeJob& job, const Round& round, int local) {
  const std::vector<std::string> endpoints = round.endpoints();
  size_t index = static_cast<size_t>(local);
  for (size_t node = 0; node < static_cast<size_t>(round.node); ++node) index += round.nodes[node].size();
  const std::string rank = std::to_string(index), world = std::to_string(endpoints.size());
  const std::string local_world = std::to_string(job.devices.processes);
  const Address own = *Address::parse(endpoints[index]), first = *Address::parse(endpoints[0]);
  std::map<std::string, std::string> variables = job.program.environment;
  variables.insert({{"TRAINING_ROLE", "TRAINER"},
                    {"PADDLE_TRAINER_ID", rank},
                    {"PADDLE_TRAINERS_NUM", world},
                    {"PADDLE_TRAINER_ENDPOINTS", join(endpoints, ",")},
                    {"PADDLE_CURRENT_ENDPOINT", own.to_string()},
                    {"PADDLE_RANK_IN_NODE", std::to_string(local)},
                    {"PADDLE_LOCAL_SIZE", local_world},
                    {"POD_IP", own.host},
                    {"PADDLE_PORT", std::to_string(own.port)},
                    {"RANK", rank},
                    {"WORLD_SIZE", world},
                    {"LOCAL_RANK", std::to_string(local)},
                    {"LOCAL_WORLD_SIZE", local_world},
                    {"GROUP_RANK", std::to_string(round.node)},
                    {"MASTER_ADDR", first.host},
                    {"MASTER_PORT", std::to_string(first.port)},
                    {"TORCHELASTIC_RESTART_COUNT", std::to_string(round.restart)},
                    {"TORCHELASTIC_MAX_RESTARTS", std::to_string(job.max_restarts)}});
  if (!job.devices.gpus.empty()) variables["FLAGS_selected_gpus"] = std::to_string(job.devices.gpus[static_cast<size_t>(local)]);
  if (!round.resume.empty()) variables["ARGOSY_RESUME"] = round.resume;
  if (!round.token.empty()) variables["ARGOSY_TOKEN"] = round.token;
  if (rank == "0") variables["ARGOSY_CHECKPOINT_FILE"] = std::filesystem::absolute(job.checkpoint_file()).string();
  // Processes that all use all cores are slower than one.
  if (!env_text("OMP_NUM_THREADS"))
    variables["OMP_NUM_THREADS"] = std::to_string(std::max(1, available_cores() / job.devices.processes));
  return variables;
}

Status bad_start(const LauncherMessage& start) {
  LauncherMessage shown = start;
  shown.fields.erase("token");  // a secret
  return Status::invalid_argument("the meeting place says '{}', which cannot be", to_line(shown));
}

}  // namespace

Result<Round> Round::from(const LauncherMessage& start) {
  Round round{.resume = start.text("resume"), .token = start.text("token")};
  ASSIGN_OR_RETURN(round.number, start.number("round"));
  ASSIGN_OR_RETURN(round.node, start.number("node"));
  ASSIGN_OR_RETURN(round.restart, start.number("restart"));
  for (const std::string& node : split(start.text("nodes"), ';')) round.nodes.push_back(split(node, ','));
  if (round.node < 0 || static_cast<size_t>(round.node) >= round.nodes.size()) return bad_start(start);
  for (const std::string& endpoint : round.endpoints()) {
    const auto address = Address::parse(endpoint);
    if (!address.ok() || address->port == 0) return bad_start(start);
  }
  return round;
}

std::vector<std::string> Round::endpoints() const {
  std::vector<std::string> all;
  for (const auto& node : nodes) all.insert(all.end(), node.begin(), node.end());
  return all;
}

std::vector<ProcessSpec> NodeJob::processes(const Round& round) const {
  std::vector<ProcessSpec> specs;
  const std::set<std::string> owned = owned_variables();
  for (int local = 0; local < devices.processes; ++local) {
    ProcessSpec spec{.command = program.argv(),
                     .environment = variables_of(*this, round, local),
                     .without = owned,
                     .log = fmt::format("{}/workerlog.{}", log_dir, local)};
    spec.name = "rank " + spec.environment["RANK"];
    specs.push_back(std::move(spec));
  }
  return specs;
}

ProcessSpec NodeJob::spare(const ProcessSpec& rank) const {
  ProcessSpec spec = rank;
  spec.name = "spare";
  spec.log = log_dir + "/sparelog.0";
  for (const char* name : {"RANK", "LOCAL_RANK", "PADDLE_TRAINER_ID", "PADDLE_RANK_IN_NODE", "PADDLE_CURRENT_ENDPOINT",
                           "PADDLE_PORT", "ARGOSY_CHECKPOINT_FILE", "ARGOSY_REJOIN", "ARGOSY_METRICS_PORT"})
    spec.environment.erase(name);
  spec.environment["ARGOSY_SPARE"] = "1";
  return spec;
}

std::string environment_box(const ProcessSpec& process) {
  constexpr size_t kValueWidth = 45, kWidth = 87;
  const auto rule = [](char c) { return fmt::format("    +{}+\n", std::string(kWidth, c)); };
  const auto row = [](const std::string& name, const std::string& value) {
    return fmt::format("    |{:>40}  {:^45}|\n", name, value);
  };
  std::string text = rule('=') + row("Distributed Envs", "Value") + rule('-');
  for (const char* name : {"PADDLE_TRAINER_ENDPOINTS", "FLAGS_selected_gpus", "PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM",
                           "PADDLE_CURRENT_ENDPOINT"}) {
    const auto found = process.environment.find(name);
    if (found == process.environment.end()) continue;
    const std::string& value = found->second;
    text += row(name, value.size() <= kValueWidth ? value : "... " + value.substr(value.size() - 41));
  }
  return text + rule('=');
}

}  // namespace argosy::launch
