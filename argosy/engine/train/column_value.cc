#include "argosy/engine/train/column_value.h"

#include <ATen/ATen.h>

namespace argosy::engine {

Value column_value(const data::Column& column, int64_t samples, const graph::VarDesc& variable) {
  const bool ids = column.type() == data::SlotType::int64;
  void* memory =
      ids ? static_cast<void*>(const_cast<int64_t*>(column.ints())) : static_cast<void*>(const_cast<float*>(column.floats()));
  std::vector<int64_t> shape;
  if (column.dense()) {
    shape.push_back(samples);
    for (size_t i = 1; i < variable.shape.size(); ++i) shape.push_back(variable.shape[i]);
  } else {
    shape = {column.count(), 1};
  }
  Value value{.tensor = at::from_blob(memory, shape, ids ? at::kLong : at::kFloat)};
  if (!column.dense()) value.lod = std::make_shared<Lod>(Lod{{column.offsets().begin(), column.offsets().end()}});
  return value;
}

Result<std::vector<data::SlotSpec>> slots_of(const graph::Program& program, const std::vector<std::string>& variables) {
  std::vector<data::SlotSpec> slots;
  for (const std::string& name : variables) {
    const graph::VarDesc* variable = program.global_block().find_var(name);
    if (variable == nullptr) return Status::not_found("dataset: the program has no variable '{}'", name);
    if (variable->dtype != graph::DType::float32 && variable->dtype != graph::DType::int64) {
      return Status::invalid_argument("dataset: variable '{}' is {}; datasets carry float32 and int64", name,
                                      graph::dtype_name(variable->dtype));
    }
    data::SlotSpec slot{.name = name,
                        .type = variable->dtype == graph::DType::int64 ? data::SlotType::int64 : data::SlotType::float32};
    slot.dense = variable->lod_level == 0;
    for (size_t i = 1; i < variable->shape.size(); ++i) slot.width *= variable->shape[i];
    if (slot.dense && slot.width <= 0) {
      return Status::invalid_argument("dataset: variable '{}' has shape {}; only its first size may be open", name,
                                      graph::shape_to_string(variable->shape));
    }
    slots.push_back(std::move(slot));
  }
  return slots;
}

}  // namespace argosy::engine
