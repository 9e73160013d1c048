#pragma once

#include <memory>
#include <string>
#include <vector>

#include "argosy/fleet/role.h"
#include "argosy/fleet/util.h"

namespace argosy::fleet {

// Who this process is and how it talks with the others: what init() said last, of either kind of job. The questions below are
// answered from it; each is an argosy::Error before init(), or where it makes no sense for the role. Thread-compatible.
void set_process(RoleInfo role, std::shared_ptr<const JobPeers> peers);
const RoleInfo& this_role();

bool is_first_worker();
bool is_worker();
bool is_server();
int worker_index();
int server_index();
int worker_num();
int server_num();
std::vector<std::string> worker_endpoints();
std::vector<std::string> server_endpoints();
void barrier_worker();
Util util();  // also before init()

}  // namespace argosy::fleet
