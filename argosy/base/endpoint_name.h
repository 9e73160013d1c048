#pragma once

#include <string>

#include "argosy/base/status.h"

// Endpoints of servers that may come back elsewhere. An endpoint is "host:port", whose host is looked up whenever a connection is
// made, or a name: "file:/path" is a file that holds host:port, and may hold another one tomorrow. Who starts a server writes it;
// readers look into it again and again.
namespace argosy {

// Whether it is a name, right or wrong, instead of host:port.
bool is_endpoint_name(const std::string& endpoint);

// "host:port" with a port from 1, or the name of a file with its whole path.
Status check_endpoint(const std::string& endpoint);

// What a name stands for at the moment, as host:port; `unavailable` where it stands for nothing yet. REQUIRES: check_endpoint().
Result<std::string> look_up_endpoint(const std::string& name);

// Lets a name, or the path of its file, stand for `endpoint` from now on; the folder is made where it is missing. A reader sees
// the old one or the new one.
Status write_endpoint(const std::string& name, const std::string& endpoint);

}  // namespace argosy
