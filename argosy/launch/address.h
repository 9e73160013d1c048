#pragma once

#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::launch {

// "host:port" in its two parts; an IPv6 address stands in brackets, which `host` has not. The port is 0 where there is none.
struct Address {
  std::string host;
  int port = 0;

  static Result<Address> parse(const std::string& endpoint);
};

// Whether `host`, a name or an address, is this machine: loopback or one of its interfaces. One that cannot be resolved is not.
bool is_this_machine(const std::string& host);

// An endpoint of this machine that somebody listens on already is an error that names it.
Status check_ports_free(const std::vector<std::string>& endpoints);

}  // namespace argosy::launch
