#include "argosy/base/env_variable.h"

#include <limits>

#include "argosy/base/env.h"
#include "argosy/base/text.h"

namespace argosy {

std::optional<EnvVariable> variable(const char* name) {
  auto value = env_text(name);
  if (!value || trim(*value).empty()) return std::nullopt;
  return EnvVariable{name, std::string(trim(*value))};
}

Status contradiction(const EnvVariable& a, const EnvVariable& b) {
  return Status::invalid_argument("environment variables {} and {} contradict each other", a.to_string(), b.to_string());
}

Result<int> whole_number(const EnvVariable& said, int least) {
  const auto number = parse_integer(said.value);
  if (!number || *number < least || *number > std::numeric_limits<int>::max())
    return Status::invalid_argument("environment variable {}: expected a whole number from {}", said.to_string(), least);
  return static_cast<int>(*number);
}

Result<int> index_below(const EnvVariable& said, size_t count, std::string_view what) {
  ASSIGN_OR_RETURN(const int index, whole_number(said, 0));
  if (static_cast<size_t>(index) < count) return index;
  return Status::invalid_argument("environment variable {}: there are {} {}, numbered from 0", said.to_string(), count, what);
}

std::vector<std::string> list_of(const EnvVariable& said) {
  std::vector<std::string> parts;
  for (const std::string& part : split(said.value, ',')) parts.emplace_back(trim(part));
  return parts;
}

}  // namespace argosy
