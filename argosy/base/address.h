#pragma once

#include <string>

#include "argosy/base/status.h"

namespace argosy {

// "host:port" in its two parts; an IPv6 address stands in brackets, which `host` has not.
struct Address {
  std::string host;
  int port = 0;

  static Result<Address> parse(const std::string& endpoint);  // the port is 0 where there is none
  // Both must be there; port 0 lets who listens take any.
  static Result<Address> parse_with_port(const std::string& endpoint);
  std::string to_string() const;  // with brackets where the host needs them
};

// Whether two hosts, names or addresses, are the same: the same text, or an address in common. Names are looked up.
bool same_host(const std::string& a, const std::string& b);

// Whether `host`, a name or an address, is this machine: loopback or one of its interfaces. One that cannot be resolved is not.
bool is_this_machine(const std::string& host);

// Whether somebody listens on the address, which is this machine's, already. One that cannot be resolved is not in use.
bool is_port_in_use(const Address& address);

// The address by which other machines reach this one: that of its name, or of its first interface where the name stands for
// loopback; 127.0.0.1 where there is no other.
std::string own_address();

}  // namespace argosy
