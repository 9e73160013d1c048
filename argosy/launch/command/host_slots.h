#pragma once

#include <string>

#include "argosy/base/status.h"
#include "argosy/launch/command/command_options.h"

namespace argosy::launch {

// --hostfile: the machines of the file are those of the job, as with --ips.
Status set_host_file(CommandLine& line, const std::string& path);

// What the file's slots mean, once everything else is known: of a collective job each machine has as many processes as slots,
// where no option says how many; a job with servers must not need more than there are. Nothing without a host file.
Status take_slots(CommandLine& line);

}  // namespace argosy::launch
