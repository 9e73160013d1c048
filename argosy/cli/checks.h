#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "argosy/base/status.h"

// Checks of an option's value, for CLI11. What is refused is told as "option --count: found '0', expected a whole number from 1".
namespace argosy::cli {

CLI::Validator whole_number(int64_t least, int64_t most = std::numeric_limits<int>::max());

// Finite, and at most 1e9.
CLI::Validator number_from_zero();
CLI::Validator number_above_zero();

CLI::Validator one_of(std::vector<std::string> choices);

// Whatever `check` says; its message stands behind the option's name.
CLI::Validator checked_by(std::function<Status(const std::string& text)> check);

}  // namespace argosy::cli
