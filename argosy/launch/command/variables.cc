#include "argosy/launch/command/variables.h"

#include <algorithm>
#include <cctype>

#include "argosy/base/env_variable.h"
#include "argosy/launch/command/add_flags.h"
#include "argosy/launch/command/flags.h"

namespace argosy::launch {
namespace {

using Mode = CommandLine::Mode;

struct Option {
  const char *variable, *flag;
};

// What stands for which option. The kinds of jobs come first, so that a contradiction names what is beside them.
constexpr Option kOptions[] = {
    {"PADDLE_RUN_MODE", "--run_mode"},
    {"PADDLE_ELASTIC_SERVER", "--elastic_server"},
    {"PADDLE_ELASTIC_NP", "--np"},
    {"PADDLE_ELASTIC_TIMEOUT", "--elastic_timeout"},
    {"PADDLE_ELASTIC_LEVEL", "--elastic_level"},
    {"PADDLE_SERVER_NUM", "--server_num"},
    {"PADDLE_TRAINER_NUM", "--worker_num"},
    {"PADDLE_SERVERS_ENDPOINTS", "--servers"},
    {"PADDLE_TRAINERS_ENDPOINTS", "--workers"},
    {"PADDLE_IPS", "--ips"},
    {"PADDLE_NNODES", "--nnodes"},
    {"PADDLE_RANK", "--node_rank"},
    {"PADDLE_DEVICES", "--gpus"},
    {"PADDLE_NPROC_PER_NODE", "--nproc_per_node"},
    {"PADDLE_JOB_ID", "--rdzv_id"},
    {"PADDLE_ELASTIC_JOB_ID", "--rdzv_id"},
    {"PADDLE_START_PORT", "--started_port"},
    {"PADDLE_LOG_DIR", "--log_dir"},
    {"PADDLE_LOG_LEVEL", "--log_level"},
    {"PADDLE_LOG_OVERWRITE", "--log_overwrite"},
    {"PADDLE_MAX_RESTART", "--max_restart"},
    {"PADDLE_SORT_IP", "--sort_ip"},
    {"PADDLE_AUTO_PARALLEL_CONFIG", "--auto_parallel_config"},
    {"PADDLE_AUTO_CLUSTER", "--auto_cluster_config"},
};

bool has(const CommandLine& line, const Flag& flag) {
  if (flag.names[0] == "--rdzv_id" && (line.program.environment.contains("ARGOSY_JOB") || variable("ARGOSY_JOB"))) return true;
  return line.given.contains(flag.names[0].substr(flag.names[0].find_first_not_of('-')));
}

// Where the machines are, which matters where there are several.
Status take_addresses(CommandLine& line) {
  NodeOptions& nodes = line.collective.nodes;
  const std::optional<EnvVariable> master = variable("PADDLE_MASTER"), own = variable("POD_IP");
  if (master && nodes.most && nodes.meeting.empty()) {
    RETURN_IF_ERROR(set_flag(flag_named("--rdzv_endpoint"), *master, line));
  }
  const bool listed = own && std::count(nodes.ips.begin(), nodes.ips.end(), own->value) > 0;
  if (own && nodes.node_ip.empty() && (listed || (nodes.ips.empty() && nodes.most && *nodes.most > 1)))
    return set_flag(flag_named("--node_ip"), *own, line);
  return {};
}

Status take_paddle_variables(CommandLine& line) {
  for (const Option& option : kOptions) {
    const Flag& flag = flag_named(option.flag);
    const std::optional<EnvVariable> said = variable(option.variable);
    if (!said || has(line, flag)) continue;
    if (flag.names[0] == "--nnodes" && said->value == "1" && line.mode == Mode::ps) continue;  // as every job is
    RETURN_IF_ERROR(set_flag(flag, *said, line));
  }
  return take_addresses(line);
}

// PyTorchJob sets these.
Status take_torchrun_variables(CommandLine& line) {
  if (!variable("PET_NNODES") || line.mode == Mode::ps || line.collective.nodes.given()) return {};
  line.mode = Mode::collective;
  for (const char* option :
       {"nnodes", "node_rank", "nproc_per_node", "rdzv_endpoint", "rdzv_id", "master_addr", "master_port", "max_restart"}) {
    std::string name = std::string("PET_") + option + (std::string_view(option) == "max_restart" ? "s" : "");
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::optional<EnvVariable> said = variable(name.c_str());
    if (!said || line.given.contains(option) || (name == "PET_MASTER_ADDR" && !line.collective.nodes.meeting.empty())) continue;
    RETURN_IF_ERROR(set_flag(flag_named(std::string("--") + option), *said, line));
  }
  return {};
}

// As Paddle's launcher takes it where no port is given.
Status take_start_port(CommandLine& line) {
  const std::optional<EnvVariable> said = variable("FLAGS_START_PORT");
  if (!said || line.given.contains("started_port")) return {};
  return flag_named("--started_port").set(line, said->value).with_context("environment variable {}", said->name);
}

}  // namespace

Status take_variables(CommandLine& line) {
  if (!line.collective.nodes.standalone) {
    RETURN_IF_ERROR(take_paddle_variables(line));
    RETURN_IF_ERROR(take_torchrun_variables(line));
  }
  return take_start_port(line);
}

}  // namespace argosy::launch
