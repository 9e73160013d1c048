#pragma once

#include <string>
#include <vector>

#include "argosy/launch/command/flag.h"

namespace argosy::launch {

// As PaddlePaddle's document spells --selected_gpus: taken, and not shown.
inline constexpr const char* kMisspelt = "--seletected_gpus";

// All of them, in the order of the help: those of one kind together, those that are refused and the settings last.
const std::vector<Flag>& all_flags();

// By its first name. REQUIRES: there is such an option.
const Flag& flag_named(const std::string& name);

}  // namespace argosy::launch
