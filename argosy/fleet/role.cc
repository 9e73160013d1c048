#include "argosy/fleet/role.h"

#include <set>

#include "argosy/base/address.h"
#include "argosy/base/endpoint_name.h"
#include "argosy/base/error.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"

namespace argosy::fleet {
namespace {

Status check_endpoints(const std::vector<std::string>& endpoints, const char* whose) {
  std::set<std::string> seen;
  for (const std::string& endpoint : endpoints) {
    const auto address = Address::parse(endpoint);
    const bool is_name = is_endpoint_name(endpoint) && check_endpoint(endpoint).ok();
    if (!is_name && (!address.ok() || address->port == 0))
      return Status::invalid_argument("{} endpoint '{}' is not host:port, nor file:/path of a file that holds it", whose,
                                      endpoint);
    if (!seen.insert(endpoint).second) return Status::invalid_argument("{} endpoint '{}' is listed twice", whose, endpoint);
  }
  return {};
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

void name_log_after(const RoleInfo& role) {
  set_log_name(fmt::format("{} {}", role.role == Role::worker ? "worker" : "server", role.index));
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

int worker_index_of(const RoleInfo& role, std::string_view call) {
  if (role.role != Role::worker)
    throw Error(Status::failed_precondition("{} is for workers; this process is server {}", call, role.index));
  return role.index;
}

int server_index_of(const RoleInfo& role, std::string_view call) {
  if (role.role != Role::server)
    throw Error(Status::failed_precondition("{} is for servers; this process is worker {}", call, role.index));
  return role.index;
}

}  // namespace argosy::fleet
