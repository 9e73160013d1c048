#pragma once

#include <memory>

#include "argosy/data/dataset.h"

namespace argosy::fleet {

class Fleet;

// Deals files through the servers of the job, to the workers that are free. Null where the process has no fleet.init(): it reads
// all files then. Every worker makes its hand-outs in the same order. Throws argosy::Error where the process is no worker.
std::shared_ptr<data::FileHandout> make_file_handout(const Fleet& fleet);

}  // namespace argosy::fleet
