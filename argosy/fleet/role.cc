#include "argosy/fleet/role.h"

#include <algorithm>
#include <optional>
#include <set>

#include "argosy/base/env.h"
#include "argosy/base/text.h"

namespace argosy::fleet {
namespace {

Status check_endpoints(const std::vector<std::string>& endpoints, const char* whose) {
  std::set<std::string> seen;
  for (const std::string& endpoint : endpoints) {
    const size_t colon = endpoint.rfind(':');
    const auto port = colon == std::string::npos ? std::nullopt : parse_integer(std::string_view(endpoint).substr(colon + 1));
    if (colon == 0 || !port || *port < 1 || *port > 65535) {
      return Status::invalid_argument("{} endpoint '{}' is not host:port", whose, endpoint);
    }
    if (!seen.insert(endpoint).second) return Status::invalid_argument("{} endpoint '{}' is listed twice", whose, endpoint);
  }
  return {};
}

// The text of the first of two names that is set. Two that are set must agree.
Result<std::optional<std::string>> either(const char* first, const char* second) {
  const auto a = env_text(first), b = env_text(second);
  if (a && b && *a != *b)
    return Status::invalid_argument("environment variables {}='{}' and {}='{}' contradict each other", first, *a, second, *b);
  return a ? a : b;
}

Result<Role> role_from_environment() {
  ASSIGN_OR_RETURN(const auto text, either("TRAINING_ROLE", "PADDLE_TRAINING_ROLE"));
  if (!text)
    return Status::not_found(
        "environment variable TRAINING_ROLE is not set; it says whether this process is a TRAINER or a PSERVER");
  if (*text == "TRAINER" || *text == "WORKER") return Role::worker;
  if (*text == "PSERVER" || *text == "SERVER") return Role::server;
  return Status::invalid_argument("environment variable TRAINING_ROLE='{}': expected TRAINER or PSERVER", *text);
}

Result<std::vector<std::string>> servers_from_environment() {
  if (const auto list = env_text("PADDLE_PSERVERS_IP_PORT_LIST"); list && !list->empty()) return split(*list, ',');
  const auto ips = env_text("PADDLE_PSERVER_IPS");
  if (!ips || ips->empty()) {
    return Status::not_found(
        "environment variable PADDLE_PSERVERS_IP_PORT_LIST is not set (nor PADDLE_PSERVER_IPS with PADDLE_PSERVER_PORT); "
        "it lists the servers as host:port,host:port");
  }
  const auto port = env_text("PADDLE_PSERVER_PORT");
  if (!port) return Status::not_found("environment variable PADDLE_PSERVER_PORT is not set; PADDLE_PSERVER_IPS needs it");
  std::vector<std::string> endpoints;
  for (const std::string& ip : split(*ips, ',')) endpoints.push_back(fmt::format("{}:{}", ip, *port));
  return endpoints;
}

Result<int> worker_count_from_environment() {
  ASSIGN_OR_RETURN(const auto text, either("PADDLE_TRAINERS_NUM", "PADDLE_TRAINERS"));
  if (!text)
    return Status::not_found("environment variable PADDLE_TRAINERS_NUM is not set; it says how many workers the job has");
  const auto count = parse_integer(*text);
  if (!count || *count < 1)
    return Status::invalid_argument("environment variable PADDLE_TRAINERS_NUM='{}': expected a number above 0", *text);
  return static_cast<int>(*count);
}

Result<int> worker_index_from_environment() {
  ASSIGN_OR_RETURN(const auto index, env_integer("PADDLE_TRAINER_ID"));
  if (!index) return Status::not_found("environment variable PADDLE_TRAINER_ID is not set; it is this worker's number, from 0");
  return static_cast<int>(*index);
}

// The endpoint by which a server names itself, and the variable that said so.
struct OwnEndpoint {
  std::string endpoint, variable;
};

std::optional<OwnEndpoint> own_endpoint() {
  if (const auto endpoint = env_text("PADDLE_CURRENT_ENDPOINT")) return OwnEndpoint{*endpoint, "PADDLE_CURRENT_ENDPOINT"};
  const auto pod = env_text("POD_IP"), port = env_text("PADDLE_PORT");
  if (pod && port) return OwnEndpoint{fmt::format("{}:{}", *pod, *port), "POD_IP and PADDLE_PORT"};
  const auto current = env_text("PADDLE_CURRENT_IP"), server_port = env_text("PADDLE_PSERVER_PORT");
  if (current && server_port)
    return OwnEndpoint{fmt::format("{}:{}", *current, *server_port), "PADDLE_CURRENT_IP and PADDLE_PSERVER_PORT"};
  return std::nullopt;
}

Result<int> server_index_from_environment(const std::vector<std::string>& servers) {
  ASSIGN_OR_RETURN(const auto id, env_integer("PADDLE_PSERVER_ID"));
  const auto own = own_endpoint();
  if (!own) {
    if (id) return static_cast<int>(*id);
    return Status::not_found(
        "this server cannot tell which of {} it is: set POD_IP and PADDLE_PORT, PADDLE_CURRENT_ENDPOINT, or PADDLE_PSERVER_ID",
        join(servers, ","));
  }
  const auto found = std::find(servers.begin(), servers.end(), own->endpoint);
  if (found == servers.end()) {
    return Status::invalid_argument("{} say this server is {}, which is not one of {}", own->variable, own->endpoint,
                                    join(servers, ","));
  }
  const int index = static_cast<int>(found - servers.begin());
  if (id && *id != index) {
    return Status::invalid_argument("PADDLE_PSERVER_ID={} but {} is server {} of {}", *id, own->endpoint, index,
                                    join(servers, ","));
  }
  return index;
}

}  // namespace

Status RoleInfo::check() const {
  if (worker_count < 1) return Status::invalid_argument("worker_num is {}; a job has at least one worker", worker_count);
  RETURN_IF_ERROR(check_endpoints(server_endpoints, "server"));
  RETURN_IF_ERROR(check_endpoints(worker_endpoints, "worker"));
  if (!worker_endpoints.empty() && static_cast<int>(worker_endpoints.size()) != worker_count) {
    return Status::invalid_argument("{} worker endpoints ({}) for {} workers", worker_endpoints.size(),
                                    join(worker_endpoints, ","), worker_count);
  }
  const bool server = role == Role::server;
  const int count = server ? static_cast<int>(server_endpoints.size()) : worker_count;
  if (index < 0 || index >= count) {
    return Status::invalid_argument("this is {} {}, but the job has {} of them (numbered from 0)", server ? "server" : "worker",
                                    index, count);
  }
  return {};
}

Result<RoleInfo> paddle_cloud_role() {
  RoleInfo info;
  ASSIGN_OR_RETURN(info.role, role_from_environment());
  ASSIGN_OR_RETURN(info.server_endpoints, servers_from_environment());
  ASSIGN_OR_RETURN(info.worker_count, worker_count_from_environment());
  if (const auto list = env_text("PADDLE_TRAINER_ENDPOINTS")) info.worker_endpoints = split(*list, ',');
  if (info.role == Role::worker) {
    ASSIGN_OR_RETURN(info.index, worker_index_from_environment());
  } else {
    ASSIGN_OR_RETURN(info.index, server_index_from_environment(info.server_endpoints));
  }
  RETURN_IF_ERROR(info.check());
  return info;
}

Result<RoleInfo> user_defined_role(int current_id, Role role, int worker_num, std::vector<std::string> server_endpoints,
                                   std::vector<std::string> worker_endpoints) {
  RoleInfo info{.role = role,
                .index = current_id,
                .worker_count = worker_num,
                .server_endpoints = std::move(server_endpoints),
                .worker_endpoints = std::move(worker_endpoints)};
  if (info.server_endpoints.empty())
    return Status::invalid_argument("server_endpoints is empty; a parameter-server job has at least one server");
  RETURN_IF_ERROR(info.check());
  return info;
}

}  // namespace argosy::fleet
