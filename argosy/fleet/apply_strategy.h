#pragma once

#include "argosy/base/settings.h"
#include "argosy/base/status.h"
#include "argosy/fleet/plan.h"
#include "argosy/fleet/strategy.h"
#include "argosy/ps/communicator/communicator.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::fleet {

// Gives the tables of a job what the strategy says of them. A name or value that cannot be is an error that names it.
Status apply_table_options(const Strategy& strategy, ps::JobSpec& spec);

// Gives the tables the formats that the settings wire_format and wire_format_tables say. Statistics that are means (of
// batch_norm) are float32 where only the first one speaks of them.
Status apply_wire_formats(const Settings& settings, ps::JobSpec& spec);

// What a worker of such a job does. A variable that cannot be read, or a FLAGS_communicator_* that does not exist here, is an
// error that names it.
Result<ps::CommunicatorOptions> communicator_options(const Strategy& strategy, const Plan& plan, const Settings& settings);

}  // namespace argosy::fleet
