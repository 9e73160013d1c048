#include "argosy/base/named_choices.h"

#include <algorithm>

#include "argosy/base/text.h"

namespace argosy {

Result<NamedChoices> read_named_choices(std::string_view text, const std::vector<std::string>& choices) {
  NamedChoices all;
  for (const std::string& entry : split(text, ',')) {
    if (entry.empty()) continue;
    const size_t mark = entry.rfind('=');
    const std::string name = entry.substr(0, mark), choice = mark == std::string::npos ? "" : entry.substr(mark + 1);
    if (name.empty() || std::ranges::find(choices, choice) == choices.end())
      return Status::invalid_argument("found '{}', expected NAME=CHOICE with one of {}", entry, join(choices, ", "));
    if (std::ranges::find(all, name, &NamedChoices::value_type::first) != all.end())
      return Status::invalid_argument("found '{}' twice, in '{}'; expected each name once", name, text);
    all.emplace_back(name, choice);
  }
  return all;
}

}  // namespace argosy
