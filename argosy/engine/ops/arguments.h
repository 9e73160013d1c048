#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/engine/program/op.h"
#include "argosy/graph/op_schema.h"

namespace argosy::engine {

// Numbers that an operator takes as an attribute or, where the program computes them, from variables: one variable with all
// of them, or a list of variables with one each. `tensor` wins over `list`, and that over the attribute.
struct NumberSlots {
  std::string_view attribute, tensor, list;
};

std::vector<int64_t> integers(const OpContext& op, const NumberSlots& slots);
int64_t integer(const OpContext& op, std::string_view attribute, std::string_view tensor);

// True where the numbers are the attribute's, so that a shape rule may rely on them.
bool fixed_at_build(const graph::ShapeContext& context, const NumberSlots& slots);

// What is known of them then: the attribute's numbers; where one variable holds them all, a -1 for each.
std::vector<int64_t> integers_at_build(const graph::ShapeContext& context, const NumberSlots& slots);

// An input of which a view may be handed on. A copy where the variable outlives the run: a view would show what an optimizer
// later writes into it.
at::Tensor viewable(const OpContext& op, std::string_view slot);

// An attribute of whole numbers, whichever width it has; empty where it is absent.
std::vector<int64_t> integer_list(const graph::OpDesc& op, std::string_view attribute);

// `axis` counted from the front; a negative one counts from the end. One outside `variable`'s dimensions is an error.
Result<size_t> axis_in(const graph::VarDesc& variable, int64_t axis);

// Fails, naming both variables, where a value of the integer input `slot` is not in [0, size).
void check_indices(const OpContext& op, std::string_view slot, int64_t size, const std::string& of);

int64_t product(const std::vector<int64_t>& sizes, size_t begin, size_t end);  // -1 where one of them is unknown

}  // namespace argosy::engine
