#pragma once

#include <vector>

#include "argosy/launch/command/flag.h"

namespace argosy::launch {

// The options of PaddlePaddle's launchers (1.8 to 2.6) that mean nothing here. Each may be written down with the value that it
// has there anyway; any other is an error that says what to do instead. docs/launcher_options.md lists them.
std::vector<Flag> refused_flags();

}  // namespace argosy::launch
