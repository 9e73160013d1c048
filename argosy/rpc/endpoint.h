#pragma once

#include <optional>
#include <string>

namespace argosy::rpc {

// The numeric address that a host of this machine stands for: a literal one, "localhost" or the machine's own name. Nothing
// for any other name, so that no name server is asked.
std::optional<std::string> local_address(const std::string& host);

bool is_loopback(const std::string& address);

// The file of the Unix socket on which a server at address:port also listens. It lies in a folder that only this user may
// enter, made where it is missing, so that nobody else can put a socket there; its name has the network namespace in it,
// because two containers that share a file system may both have a 127.0.0.1:6170. Nothing where no such folder can be had.
std::optional<std::string> socket_path(const std::string& address, int port);

// Whether a socket of this user's lies there.
bool is_own_socket(const std::string& path);

}  // namespace argosy::rpc
