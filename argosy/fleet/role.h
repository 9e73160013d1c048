#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::fleet {

enum class Role { worker = 1, server = 2 };

// Who this process is in its job, and who the others are. A plain value: where it comes from (the environment, the user, MPI)
// does not matter after it is made.
struct RoleInfo {
  Role role = Role::worker;
  int index = 0;  // among the workers, or among the servers
  int worker_count = 1;
  std::vector<std::string> server_endpoints;  // "host:port", or names of base/endpoint_name.h
  std::vector<std::string> worker_endpoints;  // may be empty where nobody told

  // Counts and indices that contradict each other, endpoints that are not host:port or occur twice.
  Status check() const;
};

// The number of a worker, and of a server; argosy::Error, which names the call, where the role is the other one.
int worker_index_of(const RoleInfo& role, std::string_view call = "worker_index()");
int server_index_of(const RoleInfo& role, std::string_view call = "server_index()");

// Puts "worker 1" or "server 0" into every later line of this process's log.
void name_log_after(const RoleInfo& role);

// From the variables that PaddleCloud, launch_ps and fleetrun set: TRAINING_ROLE or PADDLE_TRAINING_ROLE,
// PADDLE_PSERVERS_IP_PORT_LIST or PADDLE_PSERVER_IPS with PADDLE_PSERVER_PORT, PADDLE_TRAINERS_NUM or PADDLE_TRAINERS,
// PADDLE_TRAINER_ID, PADDLE_TRAINER_ENDPOINTS; a server finds itself by PADDLE_CURRENT_ENDPOINT, POD_IP with PADDLE_PORT,
// PADDLE_CURRENT_IP with PADDLE_PSERVER_PORT, or PADDLE_PSERVER_ID. Hosts may be names. An empty variable counts as absent; a
// missing or contradictory one is an error that names it.
Result<RoleInfo> paddle_cloud_role();

// As given. `server_endpoints` must not be empty; a server's index is one of them.
Result<RoleInfo> user_defined_role(int current_id, Role role, int worker_num, std::vector<std::string> server_endpoints,
                                   std::vector<std::string> worker_endpoints = {});

// From MPI, under mpirun: of the ranks 0, 1, 2, 3, … the even ones are servers and the odd ones workers, so that every pair of
// ranks is one of each. The ranks find free ports and tell each other their endpoints; MPI is begun for that and, unless the
// program itself had begun it, ended again. Every rank of the job must call it; a second call gives the same. Thread-safe. See
// fleet/mpi.h for where MPI comes from.
Result<RoleInfo> mpi_symmetric_role();

}  // namespace argosy::fleet
