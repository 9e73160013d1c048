#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::launch {

// A process whose stacks are wanted.
struct StackTarget {
  std::string name, log;
  pid_t pid = 0;
};

// Saves what processes that do not go on are doing to `folder`/stacks-<date>.txt, and returns that file: what the system says of
// their threads, the stacks that they write to their logs themselves (C++ and Python, see observe/stack_dump.h), and where gdb is
// installed and may look, what it finds. Takes seconds; with gdb up to half a minute.
Result<std::string> save_stacks(const std::vector<StackTarget>& targets, const std::string& folder, double gdb_seconds);

}  // namespace argosy::launch
