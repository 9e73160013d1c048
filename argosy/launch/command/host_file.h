#pragma once

#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::launch {

// The machines of a job as mpirun's host file has them, in their order, the same file on each:
//
//   node1 slots=4        how many processes may be started there; without it, any number
//   node2 slots=2        # a comment
struct HostFile {
  struct Host {
    std::string name;
    int slots = 0;  // 0: the file does not say
  };
  std::string path;
  // At least one, none twice: as for mpirun, the slots of lines of one host are added up, and one without a number is one slot
  // then.
  std::vector<Host> hosts;

  // What `text` says. A line that is no host, and a word that is not known, are errors with file and line.
  static Result<HostFile> parse(const std::string& text, const std::string& path);
  static Result<HostFile> read(const std::string& path);
};

}  // namespace argosy::launch
