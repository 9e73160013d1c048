#include "argosy/graph/layers/types.h"

#include <algorithm>

namespace argosy::layers {

bool Numbers::fixed() const {
  return !all &&
         std::none_of(items.begin(), items.end(), [](const Number& number) { return static_cast<bool>(number.variable); });
}

std::vector<int64_t> Numbers::values() const {
  std::vector<int64_t> known;
  for (const Number& number : items) known.push_back(number.variable ? -1 : number.value);
  return known;
}

std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name());
  return names;
}

}  // namespace argosy::layers
