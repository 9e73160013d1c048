#include "argosy/graph/layers/types.h"

#include <algorithm>

#include "argosy/base/error.h"
#include "argosy/graph/layers/fill.h"

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

void put_numbers(graph::LayerHelper& helper, graph::OpDesc& op, const Numbers& numbers, const NumbersSlots& slots) {
  op.attributes[slots.attribute] = numbers.values();
  if (numbers.all) {
    if (slots.tensor == nullptr) {
      throw Error(
          Status::invalid_argument("operator '{}': '{}' takes numbers or a list of variables, but variable '{}' was given",
                                   op.type, slots.attribute, numbers.all.name()));
    }
    op.inputs[slots.tensor] = {numbers.all.name()};
    return;
  }
  if (numbers.fixed()) return;
  std::vector<std::string>& list = op.inputs[slots.list];
  for (const Number& number : numbers.items) {
    if (number.variable) {
      list.push_back(number.variable.name());
    } else if (slots.own_layers) {
      list.push_back(fill_constant({1}, slots.dtype, static_cast<double>(number.value), {.force_cpu = true}).name());
    } else {
      const Variable constant = helper.create_tmp(slots.dtype);
      list.push_back(
          fill_constant({1}, slots.dtype, static_cast<double>(number.value), {.force_cpu = true, .out = constant}).name());
    }
  }
}

std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name());
  return names;
}

}  // namespace argosy::layers
