#pragma once

#include <string>
#include <string_view>

#include "argosy/base/status.h"

// Where a checkpoint of one file lies: on this machine, or in an object store, which a build without programs
// (ARGOSY_PROGRAMS=OFF) has not.
namespace argosy::fleet {

Status check_checkpoint_place(const std::string& path);  // before anybody is told its name
Result<std::string> read_checkpoint(const std::string& path);
Status write_checkpoint(const std::string& path, std::string_view bytes);  // the whole, or what was there before

}  // namespace argosy::fleet
