#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy {

// A variable of the environment that says something, or several that together say one thing; messages show both parts. A plain
// value.
struct EnvVariable {
  std::string name, value;
  std::string to_string() const { return fmt::format("{}='{}'", name, value); }
};

// The variable without spaces around it; one that is empty counts as absent.
std::optional<EnvVariable> variable(const char* name);

Status contradiction(const EnvVariable& a, const EnvVariable& b);

Result<int> whole_number(const EnvVariable& said, int least);
// A number from 0 that is below `count`, the number of `what` ("workers").
Result<int> index_below(const EnvVariable& said, size_t count, std::string_view what);
std::vector<std::string> list_of(const EnvVariable& said);  // at commas

}  // namespace argosy
