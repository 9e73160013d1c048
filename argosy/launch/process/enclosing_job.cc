#include "argosy/launch/process/enclosing_job.h"

#include <algorithm>

#include "argosy/base/env_variable.h"
#include "argosy/base/rank_info.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

std::optional<EnvVariable> either(const char* one, const char* other) {
  std::optional<EnvVariable> said = variable(one);
  return said ? said : variable(other);
}

// The index of a server's pod in the list, by its address; 0 where that is not said.
size_t server_index(const EnvVariable& servers) {
  const std::optional<EnvVariable> host = variable("POD_IP"), port = variable("PADDLE_PORT"),
                                   own = variable("PADDLE_CURRENT_ENDPOINT");
  const std::string endpoint = own ? own->value : host && port ? host->value + ":" + port->value : "";
  const auto list = list_of(servers);
  const auto found = std::find(list.begin(), list.end(), endpoint);
  return found == list.end() ? 0 : static_cast<size_t>(found - list.begin());
}

EnclosingJob role_of(const EnvVariable& role, const EnvVariable& servers) {
  EnclosingJob job{.kind = EnclosingJob::Kind::role, .who = fmt::format("{} and {}", role.to_string(), servers.to_string())};
  const bool server = role.value == "PSERVER" || role.value == "SERVER";
  const std::optional<EnvVariable> id = variable("PADDLE_TRAINER_ID");
  job.process = server ? fmt::format("server {}", server_index(servers)) : fmt::format("worker {}", id ? id->value : "0");
  return job;
}

std::string starter() {
  if (variable("PADDLE_TRAINER_ID")) return "PADDLE_TRAINER_ID and PADDLE_TRAINERS_NUM";
  if (variable("RANK")) return "RANK and WORLD_SIZE";
  return variable("SLURM_STEP_NUM_TASKS") && !variable("OMPI_COMM_WORLD_SIZE") ? "srun" : "mpirun";
}

}  // namespace

Result<EnclosingJob> enclosing_job() {
  const std::optional<EnvVariable> role = either("TRAINING_ROLE", "PADDLE_TRAINING_ROLE");
  const std::optional<EnvVariable> servers = either("PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_PSERVER_IPS");
  if (role && servers) return role_of(*role, *servers);
  auto place = rank_info_from_environment();
  if (!place.ok())
    return place.status().with_context("the environment is that of a process of another job, or a part of it; {}", kOwnJob);
  if (place->world_size == 1) return EnclosingJob();
  const std::string by = starter();
  return EnclosingJob{.kind = EnclosingJob::Kind::launchers,
                      .launchers = place->world_size,
                      .on_this_machine = place->local_world_size,
                      .launcher = place->rank,
                      .is_step = by == "srun",
                      .who = fmt::format("launcher {} of {} ({})", place->rank, place->world_size, by)};
}

}  // namespace argosy::launch
