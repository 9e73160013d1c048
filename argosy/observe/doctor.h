#pragma once

#include <string>
#include <vector>

namespace argosy::observe {

// Something that jobs depend on, and how it is on this machine.
struct Finding {
  bool well = true;
  std::string what, found;
  std::string cure;  // what to do where it is not well, or may not be
};

// Looks at everything that `argosy doctor` shows: variables, Python and torch, compiler, cores and memory, limits, disks, ports,
// names, clock, TLS files, MPI, Slurm, what shows the stacks of a stalled process. Changes nothing; takes a few seconds.
std::vector<Finding> examine_machine();

}  // namespace argosy::observe
