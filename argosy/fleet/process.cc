#include "argosy/fleet/process.h"

#include "argosy/base/error.h"

namespace argosy::fleet {
namespace {

struct Process {
  std::optional<RoleInfo> role;
  std::shared_ptr<const JobPeers> peers;
};

Process& process() {
  static Process& instance = *new Process;
  return instance;
}

}  // namespace

void set_process(RoleInfo role, std::shared_ptr<const JobPeers> peers) {
  name_log_after(role);
  process() = {std::move(role), std::move(peers)};
}

const RoleInfo& this_role() {
  if (!process().role) throw Error(Status::failed_precondition("fleet.init() has not been called yet in this process"));
  return *process().role;
}

bool is_worker() { return this_role().role == Role::worker; }
bool is_server() { return this_role().role == Role::server; }
bool is_first_worker() { return is_worker() && this_role().index == 0; }
int worker_index() { return worker_index_of(this_role()); }
int server_index() { return server_index_of(this_role()); }
int worker_num() { return this_role().worker_count; }
int server_num() { return static_cast<int>(this_role().server_endpoints.size()); }
std::vector<std::string> worker_endpoints() { return this_role().worker_endpoints; }
std::vector<std::string> server_endpoints() { return this_role().server_endpoints; }
void barrier_worker() { util().barrier(); }
Util util() { return Util(process().role, process().peers); }

}  // namespace argosy::fleet
