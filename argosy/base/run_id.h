#pragma once

#include <string>

namespace argosy {

// A run is one start of a job, from its first process to its last, with all that is started again within it. Its id is the same
// in all its processes and in every message: so two jobs that share a name, or the processes that an earlier run left behind,
// cannot be taken for it.

// A new id: 16 hexadecimal digits that nobody else draws.
std::string draw_run_id();

// The id from the launcher of this process: `given`, which is ARGOSY_RUN_ID's value where there is one, else the job id of a
// scheduler (Slurm, PBS, LSF, Grid Engine) as "slurm-4711". Empty where there is neither. What cannot be part of a file's name,
// or has more than 64 letters, is replaced by 16 digits that stand for it.
std::string known_run_id(const std::string& given);

}  // namespace argosy
