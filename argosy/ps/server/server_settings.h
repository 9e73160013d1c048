#pragma once

#include "argosy/base/settings.h"
#include "argosy/base/status.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/rpc/security_settings.h"

namespace argosy::ps {

// A job's settings as one server's options. Its folder is `server-N` of the directory. The rest (address, job spec, number of
// workers, …) is left as it is in ServerOptions.
Result<ServerOptions> server_options(const Settings& settings, int server, int servers);

using rpc::security_of;  // what the processes of a job show each other

// An error where the job must not be open (security=required) and has neither token nor TLS.
Status check_security(const Settings& settings);

}  // namespace argosy::ps
