#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "argosy/base/status.h"
#include "argosy/ps/server.h"

// The settings of a parameter server: one list, from which come the flags of argosy-server, the ARGOSY_* variables and their
// document.
namespace argosy::ps {

struct Setting {
  std::string_view name;           // of the field, "lease_seconds"
  std::string_view variable;       // "ARGOSY_LEASE_SECONDS"
  std::string_view flag;           // "--lease-seconds"
  std::string_view default_value;  // as text; what is in force where nobody says anything
  std::string_view help;
  // Reads the text into the options; an error names the text and what was expected.
  Status (*set)(ServerOptions& options, std::string_view text);
};

std::span<const Setting> server_settings();

// A flag wins over a variable, and a variable over the default. `flag` and `variable` give the text of a name, if any.
using Lookup = std::function<std::optional<std::string>(std::string_view)>;
Result<ServerOptions> server_options(const Lookup& flag, const Lookup& variable);

// By the environment alone.
Result<ServerOptions> server_options_from_environment();

}  // namespace argosy::ps
