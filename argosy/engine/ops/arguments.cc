#include "argosy/engine/ops/arguments.h"

#include <ATen/ATen.h>

#include "argosy/engine/program/frame.h"

namespace argosy::engine {
namespace {

bool given(const OpContext& op, std::string_view slot) { return !slot.empty() && op.has_input(slot); }
bool given(const graph::ShapeContext& context, std::string_view slot) { return !slot.empty() && context.has_input(slot); }

}  // namespace

std::vector<int64_t> integer_list(const graph::OpDesc& op, std::string_view attribute) {
  if (const auto* longs = op.attribute<std::vector<int64_t>>(attribute)) return *longs;
  if (const auto* ints = op.attribute<std::vector<int32_t>>(attribute)) return {ints->begin(), ints->end()};
  return {};
}

std::vector<int64_t> integers(const OpContext& op, const NumberSlots& slots) {
  if (given(op, slots.tensor)) {
    const at::Tensor flat = op.on_cpu(slots.tensor).to(at::kLong).contiguous();
    const int64_t* first = flat.const_data_ptr<int64_t>();
    return {first, first + flat.numel()};
  }
  if (!given(op, slots.list)) return integer_list(op.desc(), slots.attribute);
  std::vector<int64_t> values;
  for (size_t i = 0; i < op.input_count(slots.list); ++i) {
    const at::Tensor& value = op.tensor(slots.list, i);
    if (value.numel() != 1)
      op.fail("variable '{}' (input '{}') has {} values, expected 1", op.input_name(slots.list, i), slots.list, value.numel());
    values.push_back(value.item().toLong());
  }
  return values;
}

int64_t integer(const OpContext& op, std::string_view attribute, std::string_view tensor) {
  if (!given(op, tensor)) {
    if (const auto* value = op.desc().attribute<int64_t>(attribute)) return *value;
    return op.attr<int32_t>(attribute);
  }
  const at::Tensor& value = op.tensor(tensor);
  if (value.numel() != 1)
    op.fail("variable '{}' (input '{}') has {} values, expected 1", op.input_name(tensor), tensor, value.numel());
  return value.item().toLong();
}

bool fixed_at_build(const graph::ShapeContext& context, const NumberSlots& slots) {
  return !given(context, slots.tensor) && !given(context, slots.list);
}

std::vector<int64_t> integers_at_build(const graph::ShapeContext& context, const NumberSlots& slots) {
  std::vector<int64_t> numbers = integer_list(context.op(), slots.attribute);
  if (!numbers.empty() || !given(context, slots.tensor)) return numbers;
  const auto& shape = context.input(slots.tensor).shape;
  return std::vector<int64_t>(shape.empty() || shape[0] < 1 ? 1 : static_cast<size_t>(shape[0]), -1);
}

at::Tensor viewable(const OpContext& op, std::string_view slot) {
  const at::Tensor& tensor = op.tensor(slot);
  const int32_t value = op.instruction().find_input(slot)->values[0];
  return op.frame().program().values()[static_cast<size_t>(value)].persistable ? tensor.clone() : tensor;
}

Result<size_t> axis_in(const graph::VarDesc& variable, int64_t axis) {
  const auto rank = static_cast<int64_t>(variable.shape.size());
  if (axis < -rank || axis >= rank) {
    return Status::invalid_argument("axis {} is outside variable '{}' {}, which has {} dimensions", axis, variable.name,
                                    graph::shape_to_string(variable.shape), rank);
  }
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

void check_indices(const OpContext& op, std::string_view slot, int64_t size, const std::string& of) {
  op.check_on_cpu(slot, 0, [op, name = op.input_name(slot), size, of](const at::Tensor& indices) {
    if (indices.numel() == 0) return;
    const auto [low, high] = at::aminmax(indices);
    const int64_t found = low.item().toLong() < 0 ? low.item().toLong() : high.item().toLong();
    if (found >= 0 && found < size) return;
    const int64_t position = indices.flatten().eq(found).nonzero()[0].item().toLong();
    op.fail("variable '{}': index {} at position {} is outside {}, which has {} entries", name, found, position, of, size);
  });
}

int64_t product(const std::vector<int64_t>& sizes, size_t begin, size_t end) {
  int64_t result = 1;
  for (size_t i = begin; i < end; ++i) {
    if (sizes[i] < 0) return -1;
    result *= sizes[i];
  }
  return result;
}

}  // namespace argosy::engine
