#pragma once

#include <string>
#include <vector>

#include "argosy/data/remote_store.h"

namespace argosy::fleet {

// From where servers take first values.
struct ServerModel {
  std::string folder;  // of save_persistables, of this job or of a single machine, or of a snapshot; empty: none
  std::vector<std::string> names = {};  // only these variables; none: all that the folder has
  data::RemoteStore store = {};  // of a folder that is not on this machine

  bool given() const { return !folder.empty(); }
};

}  // namespace argosy::fleet
