#pragma once

#include "argosy/base/status.h"
#include "argosy/launch/command/command_options.h"

namespace argosy::launch {

// Takes the options that `line` does not have from the variables that stand for them: those of PaddlePaddle's launcher
// (PADDLE_NNODES, PADDLE_MASTER, …, FLAGS_START_PORT), which operators of Kubernetes set, and torchrun's (PET_NNODES, …). An
// option wins over its variable; one that is refused is refused as a variable too. After --standalone only FLAGS_START_PORT is
// read.
Status take_variables(CommandLine& line);

}  // namespace argosy::launch
