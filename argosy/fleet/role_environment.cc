// PaddleCloud's variables.
#include <algorithm>
#include <optional>

#include "argosy/base/address.h"
#include "argosy/base/env_variable.h"
#include "argosy/base/text.h"
#include "argosy/fleet/role.h"

namespace argosy::fleet {
namespace {

// What two names for one thing say.
Result<std::optional<EnvVariable>> either(const char* first, const char* second) {
  const std::optional<EnvVariable> a = variable(first), b = variable(second);
  if (a && b && a->value != b->value) return contradiction(*a, *b);
  return a ? a : b;
}

Result<Role> role_from_environment() {
  ASSIGN_OR_RETURN(const std::optional<EnvVariable> said, either("TRAINING_ROLE", "PADDLE_TRAINING_ROLE"));
  if (!said) {
    return Status::not_found(
        "environment variable TRAINING_ROLE is not set (nor PADDLE_TRAINING_ROLE); it says whether this process is a TRAINER or "
        "a PSERVER");
  }
  if (said->value == "TRAINER" || said->value == "WORKER") return Role::worker;
  if (said->value == "PSERVER" || said->value == "SERVER") return Role::server;
  return Status::invalid_argument("environment variable {}: expected TRAINER or PSERVER", said->to_string());
}

// PADDLE_PSERVER_IPS with PADDLE_PSERVER_PORT, as the list that they stand for.
Result<std::optional<EnvVariable>> servers_by_ips() {
  const std::optional<EnvVariable> ips = variable("PADDLE_PSERVER_IPS"), port = variable("PADDLE_PSERVER_PORT");
  if (!ips) return std::optional<EnvVariable>();
  if (!port) return Status::not_found("environment variable PADDLE_PSERVER_PORT is not set; PADDLE_PSERVER_IPS needs it");
  std::vector<std::string> endpoints;
  for (const std::string& ip : list_of(*ips)) endpoints.push_back(fmt::format("{}:{}", ip, port->value));
  return std::optional<EnvVariable>(EnvVariable{"PADDLE_PSERVER_IPS with PADDLE_PSERVER_PORT", join(endpoints, ",")});
}

Result<EnvVariable> servers_from_environment() {
  const std::optional<EnvVariable> list = variable("PADDLE_PSERVERS_IP_PORT_LIST");
  ASSIGN_OR_RETURN(const std::optional<EnvVariable> by_ips, servers_by_ips());
  if (list && by_ips && list_of(*list) != list_of(*by_ips)) return contradiction(*list, *by_ips);
  if (list) return *list;
  if (by_ips) return *by_ips;
  return Status::not_found(
      "environment variable PADDLE_PSERVERS_IP_PORT_LIST is not set (nor PADDLE_PSERVER_IPS with PADDLE_PSERVER_PORT); "
      "it lists the servers as host:port,host:port");
}

// PADDLE_TRAINERS is how many workers there are, or, as paddle-operator sets it, their hosts: then how many these are.
std::optional<EnvVariable> trainers(bool counted) {
  const std::optional<EnvVariable> said = variable("PADDLE_TRAINERS");
  if (!said || parse_integer(said->value) || (!counted && said->value.find_first_of(",.") == std::string::npos)) return said;
  return EnvVariable{fmt::format("the number of hosts of PADDLE_TRAINERS='{}',", said->value),
                     std::to_string(list_of(*said).size())};
}

Result<EnvVariable> worker_count_from_environment() {
  const std::optional<EnvVariable> number = variable("PADDLE_TRAINERS_NUM"), said = trainers(number.has_value());
  if (number && said && number->value != said->value) return contradiction(*number, *said);
  if (number || said) return number ? *number : *said;
  return Status::not_found(
      "environment variable PADDLE_TRAINERS_NUM is not set (nor PADDLE_TRAINERS); it says how many workers the job has");
}

// A host and a port that two variables say, where both do.
std::optional<EnvVariable> endpoint_of(const char* host_name, const char* port_name) {
  const std::optional<EnvVariable> host = variable(host_name), port = variable(port_name);
  if (!host || !port) return {};
  return EnvVariable{fmt::format("{} with {}", host_name, port_name), fmt::format("{}:{}", host->value, port->value)};
}

Result<int> worker_index_from_environment(const RoleInfo& info) {
  const std::optional<EnvVariable> id = variable("PADDLE_TRAINER_ID"), own = variable("PADDLE_CURRENT_ENDPOINT");
  if (!id) return Status::not_found("environment variable PADDLE_TRAINER_ID is not set; it is this worker's number, from 0");
  ASSIGN_OR_RETURN(const int index, index_below(*id, static_cast<size_t>(info.worker_count), "workers"));
  if (own && !info.worker_endpoints.empty() && info.worker_endpoints[static_cast<size_t>(index)] != own->value) {
    return Status::invalid_argument("environment variables {} and {} contradict each other: that worker's endpoint is '{}'",
                                    id->to_string(), own->to_string(), info.worker_endpoints[static_cast<size_t>(index)]);
  }
  // A pod's address and port may be anything on a worker, but not another worker's.
  if (const std::optional<EnvVariable> pod = endpoint_of("POD_IP", "PADDLE_PORT")) {
    const auto found = std::ranges::find(info.worker_endpoints, pod->value);
    if (found != info.worker_endpoints.end() && found - info.worker_endpoints.begin() != index)
      return Status::invalid_argument("environment variables {} and {} contradict each other: that is worker {}", id->to_string(),
                                      pod->to_string(), found - info.worker_endpoints.begin());
  }
  return index;
}

// The endpoints by which a server names itself; several must be the same one.
std::vector<EnvVariable> own_endpoints() {
  std::vector<EnvVariable> found;
  if (const std::optional<EnvVariable> endpoint = variable("PADDLE_CURRENT_ENDPOINT")) found.push_back(*endpoint);
  if (const std::optional<EnvVariable> pod = endpoint_of("POD_IP", "PADDLE_PORT")) found.push_back(*pod);
  if (const std::optional<EnvVariable> own = endpoint_of("PADDLE_CURRENT_IP", "PADDLE_PSERVER_PORT")) found.push_back(*own);
  return found;
}

// The place of an endpoint in the list: of the same text, or else of the same port and host under another name.
std::optional<size_t> find_server(const std::vector<std::string>& servers, const std::string& endpoint) {
  const auto same_text = std::find(servers.begin(), servers.end(), endpoint);
  if (same_text != servers.end()) return static_cast<size_t>(same_text - servers.begin());
  const auto own = Address::parse(endpoint);
  for (size_t i = 0; own.ok() && i < servers.size(); ++i) {
    const auto server = Address::parse(servers[i]);
    if (server.ok() && server->port == own->port && same_host(server->host, own->host)) return i;
  }
  return std::nullopt;
}

// Half of a server's endpoint, without the other half, must not be that of other servers only.
Status check_half(const char* name, bool is_port, size_t index, const std::vector<std::string>& servers) {
  const std::optional<EnvVariable> said = variable(name);
  if (!said) return {};
  bool anothers = false;
  for (size_t i = 0; i < servers.size(); ++i) {
    const auto server = Address::parse(servers[i]);
    const bool fits = server.ok() && (is_port ? std::to_string(server->port) : server->host) == said->value;
    if (fits && i == index) return {};
    anothers = anothers || fits;
  }
  if (!anothers) return {};
  return Status::invalid_argument("environment variables PADDLE_PSERVER_ID='{}' and {} contradict each other: that server is {}",
                                  index, said->to_string(), servers[index]);
}

Status cannot_tell(const std::vector<std::string>& servers) {
  std::vector<std::string> found;
  for (const char* name : {"POD_IP", "PADDLE_PORT", "PADDLE_CURRENT_IP"}) {
    if (const std::optional<EnvVariable> said = variable(name)) found.push_back(said->to_string());
  }
  return Status::not_found(
      "this server cannot tell which of {} it is: set POD_IP and PADDLE_PORT, PADDLE_CURRENT_IP and PADDLE_PSERVER_PORT, "
      "PADDLE_CURRENT_ENDPOINT, or PADDLE_PSERVER_ID; found {}",
      join(servers, ","), found.empty() ? "none of them" : "only " + join(found, ", "));
}

Result<int> server_index_from_environment(const std::vector<std::string>& servers) {
  std::optional<int> index;
  std::optional<EnvVariable> said;
  for (const EnvVariable& own : own_endpoints()) {
    const auto found = find_server(servers, own.value);
    if (!found) {
      return Status::invalid_argument("environment variables {} say this server is {}, which is not one of {}", own.name,
                                      own.value, join(servers, ","));
    }
    if (index && *index != static_cast<int>(*found)) return contradiction(*said, own);
    index = static_cast<int>(*found);
    said = own;
  }
  const std::optional<EnvVariable> id = variable("PADDLE_PSERVER_ID");
  if (!id) {
    if (index) return *index;
    return cannot_tell(servers);
  }
  ASSIGN_OR_RETURN(const int by_id, index_below(*id, servers.size(), "servers"));
  if (index && *index != by_id) {
    return Status::invalid_argument("environment variables {} and {} contradict each other: that is server {} of {}",
                                    id->to_string(), said->to_string(), *index, join(servers, ","));
  }
  RETURN_IF_ERROR(check_half("PADDLE_PORT", true, static_cast<size_t>(by_id), servers));
  RETURN_IF_ERROR(check_half("POD_IP", false, static_cast<size_t>(by_id), servers));
  RETURN_IF_ERROR(check_half("PADDLE_CURRENT_IP", false, static_cast<size_t>(by_id), servers));
  return by_id;
}

}  // namespace

Result<RoleInfo> paddle_cloud_role() {
  RoleInfo info;
  ASSIGN_OR_RETURN(info.role, role_from_environment());
  ASSIGN_OR_RETURN(const EnvVariable servers, servers_from_environment());
  info.server_endpoints = list_of(servers);
  ASSIGN_OR_RETURN(const EnvVariable workers, worker_count_from_environment());
  ASSIGN_OR_RETURN(info.worker_count, whole_number(workers, 1));
  if (const std::optional<EnvVariable> list = variable("PADDLE_TRAINER_ENDPOINTS")) {
    info.worker_endpoints = list_of(*list);
    if (info.worker_endpoints.size() != static_cast<size_t>(info.worker_count)) return contradiction(*list, workers);
  }
  const bool both = !info.worker_endpoints.empty();
  RETURN_IF_ERROR(info.check().with_context("environment variable{} {}{}", both ? "s" : "", servers.name,
                                            both ? " and PADDLE_TRAINER_ENDPOINTS" : ""));
  if (info.role == Role::worker) {
    ASSIGN_OR_RETURN(info.index, worker_index_from_environment(info));
  } else {
    ASSIGN_OR_RETURN(info.index, server_index_from_environment(info.server_endpoints));
  }
  return info;
}

}  // namespace argosy::fleet
