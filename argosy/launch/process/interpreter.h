#pragma once

#include <string>

namespace argosy::launch {

// The Python that runs a job's script: ARGOSY_PYTHON, which `python -m paddle.distributed.launch` sets; else the one beside the
// launcher, which was started as `program`, so that a virtual environment's launcher takes its own; else python3 on PATH.
std::string find_python(const std::string& program);

}  // namespace argosy::launch
