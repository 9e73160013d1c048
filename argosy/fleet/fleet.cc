#include "argosy/fleet/fleet.h"

#include "argosy/base/error.h"
#include "argosy/base/log.h"

namespace argosy::fleet {

const RoleInfo& Fleet::role() const {
  if (!role_) throw Error(Status::failed_precondition("fleet.init() has not been called yet in this process"));
  return *role_;
}

void Fleet::init(RoleInfo role) {
  throw_if_error(role.check());
  set_log_name(fmt::format("{} {}", role.role == Role::worker ? "worker" : "server", role.index));
  role_ = std::move(role);
}

int Fleet::worker_index() const {
  if (!is_worker())
    throw Error(Status::failed_precondition("worker_index() is for workers; this process is server {}", role().index));
  return role().index;
}

int Fleet::server_index() const {
  if (!is_server())
    throw Error(Status::failed_precondition("server_index() is for servers; this process is worker {}", role().index));
  return role().index;
}

std::vector<std::string> Fleet::get_file_shard(const std::vector<std::string>& files) const {
  if (!role_) return files;
  const auto workers = static_cast<size_t>(worker_num()), index = static_cast<size_t>(worker_index());
  const size_t each = files.size() / workers, more = files.size() % workers;
  const size_t begin = index * each + std::min(index, more);
  const size_t count = each + (index < more ? 1 : 0);
  return {files.begin() + static_cast<std::ptrdiff_t>(begin), files.begin() + static_cast<std::ptrdiff_t>(begin + count)};
}

Fleet& fleet() {
  static Fleet& instance = *new Fleet;
  return instance;
}

void init() { fleet().init(value_or_throw(paddle_cloud_role())); }
void init(RoleInfo role) { fleet().init(std::move(role)); }

}  // namespace argosy::fleet
