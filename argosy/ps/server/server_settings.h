#pragma once

#include <string>
#include <vector>

#include "argosy/base/settings.h"
#include "argosy/base/status.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/rpc/security_settings.h"

namespace argosy::ps {

// A job's settings as one server's options. Its folder is `server-N` of the directory. The rest (address, job spec, number of
// workers, …) is left as it is in ServerOptions.
Result<ServerOptions> server_options(const Settings& settings, int server, int servers);

// replicas=1: whether this process has the seat of its server's follower (ARGOSY_SEAT), at first. Its folder is then below
// `followers` of the directory.
bool is_follower_seat();
// The followers' endpoints, in the order of the servers; none with replicas=0. An error where there is not one for each.
Result<std::vector<std::string>> follower_endpoints(const Settings& settings, size_t servers);
// Where this process of a server listens, by its seat.
Result<std::string> server_address(const Settings& settings, const std::vector<std::string>& servers, int server);

using rpc::security_of;  // what the processes of a job show each other

// An error where the job must not be open (security=required) and has neither token nor TLS.
Status check_security(const Settings& settings);

}  // namespace argosy::ps
