#include "argosy/base/rank_info.h"

#include <algorithm>
#include <set>

#include "argosy/base/address.h"
#include "argosy/base/env_variable.h"
#include "argosy/base/random.h"
#include "argosy/base/resume.h"
#include "argosy/base/spare.h"
#include "argosy/base/text.h"

namespace argosy {
namespace {

constexpr int kFirstMadePort = 20000, kMadePorts = 10000;

Status missing(const char* name, const std::string& why) {
  return Status::not_found("environment variable {} is not set; {}", name, why);
}

Result<EnvVariable> needed(const char* name, const std::string& why) {
  if (std::optional<EnvVariable> said = variable(name)) return *said;
  return missing(name, why);
}

bool any_set(std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [](const char* name) { return variable(name).has_value(); });
}

// A number of a process and how many there are, both from variables of these names.
Status read_pair(const char* index_name, const char* count_name, const char* what, int& index, int& count) {
  ASSIGN_OR_RETURN(const EnvVariable index_said, needed(index_name, fmt::format("{} is, and they belong together", count_name)));
  ASSIGN_OR_RETURN(const EnvVariable count_said, needed(count_name, fmt::format("{} is, and they belong together", index_name)));
  ASSIGN_OR_RETURN(count, whole_number(count_said, 1));
  ASSIGN_OR_RETURN(index, index_below(index_said, static_cast<size_t>(count), what));
  return {};
}

Status check_local(const RankInfo& place) {
  if (place.local_world_size <= place.world_size) return {};
  return Status::invalid_argument("{} processes on this machine of {} in all: variables of two jobs are mixed",
                                  place.local_world_size, place.world_size);
}

Result<int> port_of(const EnvVariable& said) {
  ASSIGN_OR_RETURN(const int port, whole_number(said, 1));
  if (port <= 65535) return port;
  return Status::invalid_argument("environment variable {}: expected a port, 1 to 65535", said.to_string());
}

// MASTER_ADDR and MASTER_PORT.
Status read_master(RankInfo& place) {
  ASSIGN_OR_RETURN(const EnvVariable host, needed("MASTER_ADDR", "it is the machine of rank 0, where all ranks meet"));
  ASSIGN_OR_RETURN(const EnvVariable port, needed("MASTER_PORT", "it is the port of MASTER_ADDR at which all ranks meet"));
  place.master_host = host.value;
  ASSIGN_OR_RETURN(place.master_port, port_of(port));
  // PyTorchJob tells its first pod so, and the others that pod's name.
  if (host.value == "localhost" && place.local_world_size < place.world_size && place.rank == 0)
    place.master_host = own_address();
  return {};
}

Status read_endpoints(const EnvVariable& said, RankInfo& place) {
  place.endpoints = list_of(said);
  std::set<std::string> seen;
  for (const std::string& endpoint : place.endpoints) {
    const auto address = Address::parse(endpoint);
    if (!address.ok() || address->port == 0)
      return Status::invalid_argument("environment variable {}: '{}' is not host:port", said.to_string(), endpoint);
    if (!seen.insert(endpoint).second)
      return Status::invalid_argument("environment variable {}: '{}' occurs twice", said.to_string(), endpoint);
  }
  const Address first = *Address::parse(place.endpoints.front());
  place.master_host = first.host;
  place.master_port = first.port;
  return {};
}

Status check_own_endpoint(const RankInfo& place, const EnvVariable& id) {
  const std::optional<EnvVariable> own = variable("PADDLE_CURRENT_ENDPOINT");
  const std::string& expected = place.endpoints[static_cast<size_t>(place.rank)];
  if (!own || own->value == expected) return {};
  return Status::invalid_argument("environment variables {} and {} contradict each other: that process's endpoint is '{}'",
                                  id.to_string(), own->to_string(), expected);
}

// Who has this process's host among the endpoints is on its machine.
void count_local(RankInfo& place) {
  const auto host = [&](size_t i) { return Address::parse(place.endpoints[i])->host; };
  const auto own = static_cast<size_t>(place.rank);
  place.local_rank = place.local_world_size = 0;
  for (size_t i = 0; i < place.endpoints.size(); ++i) {
    if (host(i) != host(own)) continue;
    ++place.local_world_size;
    if (i < own) ++place.local_rank;
  }
}

Status read_paddle_master(RankInfo& place) {
  const std::optional<EnvVariable> master = variable("PADDLE_MASTER");
  if (!master && !any_set({"MASTER_ADDR", "MASTER_PORT"}))
    return missing("PADDLE_TRAINER_ENDPOINTS", "it lists the processes as host:port,host:port; the first is where all meet");
  if (!master) return read_master(place);
  const auto address = Address::parse(master->value);
  if (!address.ok() || address->port == 0)
    return Status::invalid_argument("environment variable {}: expected host:port", master->to_string());
  place.master_host = address->host;
  place.master_port = address->port;
  return {};
}

Result<RankInfo> paddle_place() {
  RankInfo place;
  ASSIGN_OR_RETURN(const EnvVariable id, needed("PADDLE_TRAINER_ID", "it is this process's number, from 0"));
  const std::optional<EnvVariable> list = variable("PADDLE_TRAINER_ENDPOINTS"), count = variable("PADDLE_TRAINERS_NUM");
  if (!list && !count) return missing("PADDLE_TRAINERS_NUM", "it says how many processes the job has");
  if (list) RETURN_IF_ERROR(read_endpoints(*list, place));
  place.world_size = static_cast<int>(place.endpoints.size());
  if (count) {
    ASSIGN_OR_RETURN(place.world_size, whole_number(*count, 1));
    if (list && place.endpoints.size() != static_cast<size_t>(place.world_size)) return contradiction(*list, *count);
  }
  ASSIGN_OR_RETURN(place.rank, index_below(id, static_cast<size_t>(place.world_size), "processes"));
  if (list) {
    RETURN_IF_ERROR(check_own_endpoint(place, id));
    count_local(place);
  }
  if (any_set({"PADDLE_RANK_IN_NODE", "PADDLE_LOCAL_SIZE"})) {
    RETURN_IF_ERROR(read_pair("PADDLE_RANK_IN_NODE", "PADDLE_LOCAL_SIZE", "processes on this machine", place.local_rank,
                              place.local_world_size));
  }
  if (!list && place.world_size > 1) RETURN_IF_ERROR(read_paddle_master(place));
  return place;
}

Result<RankInfo> torch_place() {
  RankInfo place;
  RETURN_IF_ERROR(read_pair("RANK", "WORLD_SIZE", "processes", place.rank, place.world_size));
  if (any_set({"LOCAL_RANK", "LOCAL_WORLD_SIZE"})) {
    RETURN_IF_ERROR(
        read_pair("LOCAL_RANK", "LOCAL_WORLD_SIZE", "processes on this machine", place.local_rank, place.local_world_size));
  }
  if (place.world_size == 1) return place;
  RETURN_IF_ERROR(read_master(place));
  const std::optional<EnvVariable> hosted = variable("TORCHELASTIC_USE_AGENT_STORE");
  place.master_is_hosted = hosted && (hosted->value == "True" || hosted->value == "true" || hosted->value == "1");
  return place;
}

// What these variables say, one after the other.
std::string all_said(std::initializer_list<const char*> names) {
  std::string text;
  for (const char* name : names) {
    const std::optional<EnvVariable> said = variable(name);
    text += (said ? said->value : "") + " ";
  }
  return text;
}

// Where ranks that a scheduler started meet: as MASTER_ADDR and MASTER_PORT say, or else here.
Status read_master_or(RankInfo& place, const std::string& host, int port) {
  const std::optional<EnvVariable> said_host = variable("MASTER_ADDR"), said_port = variable("MASTER_PORT");
  place.master_host = said_host ? said_host->value : host;
  place.master_port = port;
  if (said_port) {
    ASSIGN_OR_RETURN(place.master_port, port_of(*said_port));
  }
  return {};
}

Result<RankInfo> mpi_place() {
  RankInfo place;
  if (any_set({"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"})) {
    RETURN_IF_ERROR(read_pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "ranks", place.rank, place.world_size));
    RETURN_IF_ERROR(read_pair("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "ranks on this machine",
                              place.local_rank, place.local_world_size));
  } else {
    RETURN_IF_ERROR(read_pair("PMI_RANK", "PMI_SIZE", "ranks", place.rank, place.world_size));
    RETURN_IF_ERROR(
        read_pair("MPI_LOCALRANKID", "MPI_LOCALNRANKS", "ranks on this machine", place.local_rank, place.local_world_size));
  }
  if (place.world_size == 1) return place;
  if (place.local_world_size < place.world_size && !variable("MASTER_ADDR"))
    return missing("MASTER_ADDR", "with ranks on several machines mpirun must hand it on (-x MASTER_ADDR=…): that of rank 0");
  RETURN_IF_ERROR(
      read_master_or(place, "127.0.0.1", port_for_job(all_said({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID"}))));
  return place;
}

// Which of "2(x3),1" is that of machine `node`: the first three have 2 tasks each.
Result<int> tasks_on(const EnvVariable& said, int node) {
  for (const std::string& part : list_of(said)) {
    const size_t open = part.find("(x");
    const auto tasks = parse_integer(part.substr(0, open));
    const auto times = open == std::string::npos ? 1 : parse_integer(part.substr(open + 2, part.size() - open - 3));
    if (!tasks || *tasks < 1 || *tasks > (1 << 20) || !times || *times < 1 || *times > (1 << 20)) break;
    if (node < *times) return static_cast<int>(*tasks);
    node -= static_cast<int>(*times);
  }
  return Status::invalid_argument(
      "environment variable {}: expected how many tasks each machine has, such as 2(x3),1, also for {}", said.to_string(),
      "this one (SLURM_NODEID)");
}

Result<RankInfo> slurm_place() {
  RankInfo place;
  RETURN_IF_ERROR(read_pair("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "tasks", place.rank, place.world_size));
  if (place.world_size == 1) return place;
  ASSIGN_OR_RETURN(const EnvVariable node_said, needed("SLURM_NODEID", "it is this machine's number in the job"));
  ASSIGN_OR_RETURN(const int node, whole_number(node_said, 0));
  ASSIGN_OR_RETURN(const EnvVariable tasks, needed("SLURM_STEP_TASKS_PER_NODE", "it says how many tasks each machine has"));
  ASSIGN_OR_RETURN(place.local_world_size, tasks_on(tasks, node));
  ASSIGN_OR_RETURN(const EnvVariable local, needed("SLURM_LOCALID", "it is this task's number on its machine"));
  ASSIGN_OR_RETURN(place.local_rank, index_below(local, static_cast<size_t>(place.local_world_size), "tasks on this machine"));
  std::optional<EnvVariable> list = variable("SLURM_STEP_NODELIST");
  if (!list) list = variable("SLURM_JOB_NODELIST");
  std::string first;
  if (list) {
    auto hosts = slurm_hosts(list->value);
    if (!hosts.ok()) return hosts.status().with_context("environment variable {}", list->name);
    first = hosts->front();
  } else if (!variable("MASTER_ADDR")) {
    return missing("SLURM_STEP_NODELIST", "its first machine is where all tasks meet; MASTER_ADDR may say it instead");
  }
  RETURN_IF_ERROR(read_master_or(place, first, port_for_job(all_said({"SLURM_JOB_ID", "SLURM_STEP_ID"}))));
  return place;
}

Result<RankInfo> place_of_starter() {
  if (any_set({"PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_TRAINER_ENDPOINTS"})) return paddle_place();
  if (any_set({"RANK", "WORLD_SIZE"})) return torch_place();
  if (any_set({"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"})) return mpi_place();
  // A batch script has SLURM_PROCID too, and is one process: only srun counts a step's tasks.
  if (any_set({"SLURM_STEP_NUM_TASKS"})) return slurm_place();
  return RankInfo();
}

bool is_gpu(const std::string& text) { return parse_integer(text).value_or(-1) >= 0; }

Result<std::string> device_from_environment(int local_rank) {
  const std::optional<EnvVariable> device = variable("ARGOSY_DEVICE"), gpus = variable("FLAGS_selected_gpus");
  if (device && (device->value == "cpu" || (device->value.starts_with("gpu:") && is_gpu(device->value.substr(4)))))
    return device->value;
  if (device && device->value != "gpu")
    return Status::invalid_argument("environment variable {}: expected cpu, gpu or gpu:N", device->to_string());
  if (!gpus) return device ? fmt::format("gpu:{}", local_rank) : std::string();
  const std::string first = list_of(*gpus).front();
  if (!is_gpu(first)) return Status::invalid_argument("environment variable {}: expected the number of a GPU", gpus->to_string());
  return "gpu:" + first;
}

}  // namespace

int port_for_job(std::string_view name) { return kFirstMadePort + static_cast<int>(mix64(name) % kMadePorts); }

Result<RankInfo> rank_info_from_environment() {
  if (is_spare()) RETURN_IF_ERROR(take_place());
  ASSIGN_OR_RETURN(RankInfo place, place_of_starter());
  RETURN_IF_ERROR(check_local(place));
  ASSIGN_OR_RETURN(place.device, device_from_environment(place.local_rank));
  if (const std::optional<EnvVariable> count = variable("TORCHELASTIC_RESTART_COUNT")) {
    ASSIGN_OR_RETURN(place.restart, whole_number(*count, 0));
  }
  place.resume = checkpoint_to_resume();
  place.rejoins = variable("ARGOSY_REJOIN").has_value();
  return place;
}

}  // namespace argosy
