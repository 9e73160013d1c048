#include "argosy/graph/op_schema.h"

#include <algorithm>
#include <array>

#include "argosy/base/text.h"

namespace argosy::graph {
namespace {

template <typename List>
auto find_by_name(const List& list, std::string_view name) -> decltype(list.data()) {
  for (const auto& item : list) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

template <typename List>
std::string nearest_hint(std::string_view name, const List& list) {
  std::vector<std::string> names;
  for (const auto& item : list) names.push_back(item.name);
  if (const auto near = nearest_name(name, names)) return fmt::format("; did you mean '{}'?", *near);
  return names.empty() ? "; it has none" : fmt::format("; it has {}", join(names, ", "));
}

Status check_slots(const OpDesc& op, const SlotMap& given, const std::vector<SlotSchema>& known, const char* what) {
  for (const auto& [slot, variables] : given) {
    const SlotSchema* schema = find_by_name(known, slot);
    if (schema == nullptr) {
      return Status::invalid_argument("operator '{}' has no {} '{}'{}", op.type, what, slot, nearest_hint(slot, known));
    }
    if (!schema->list && variables.size() > 1) {
      return Status::invalid_argument("operator '{}': {} '{}' takes one variable, {} were given", op.type, what, slot,
                                      variables.size());
    }
  }
  for (const SlotSchema& schema : known) {
    const auto* variables = given.find(schema.name);
    if (!schema.optional && (variables == nullptr || variables->empty())) {
      return Status::invalid_argument("operator '{}': {} '{}' is missing ({})", op.type, what, schema.name, schema.doc);
    }
  }
  return {};
}

// Attributes that Paddle puts on any operator, and our own of those that draw first values.
bool is_common_attribute(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kCommon = {"op_role",      "op_role_var", "op_namescope",
                                                              "op_callstack", "op_device",   "with_quant_attr",
                                                              "use_mkldnn",   "use_cudnn",   kRandomStream};
  return std::find(kCommon.begin(), kCommon.end(), name) != kCommon.end();
}

}  // namespace

const SlotSchema* OpSchema::find_input(std::string_view name) const { return find_by_name(inputs, name); }
const SlotSchema* OpSchema::find_output(std::string_view name) const { return find_by_name(outputs, name); }
const AttributeSchema* OpSchema::find_attribute(std::string_view name) const { return find_by_name(attributes, name); }

OpSchemas& OpSchemas::instance() {
  static OpSchemas& schemas = *new OpSchemas;  // leaked: static objects of other files use it at exit
  return schemas;
}

OpSchema& OpSchemas::add(OpSchema schema) {
  const auto [at, added] = schemas_.emplace(schema.type, std::move(schema));
  ARGOSY_CHECK(added, at->first);
  return at->second;
}

const OpSchema* OpSchemas::find(std::string_view type) const {
  const auto found = schemas_.find(type);
  return found == schemas_.end() ? nullptr : &found->second;
}

std::vector<std::string> OpSchemas::types() const {
  std::vector<std::string> types;
  for (const auto& [type, schema] : schemas_) types.push_back(type);
  return types;
}

void OpSchemas::add_function(OpSchema& op, FunctionSchema function) {
  const FunctionSchema& kept = op.functions.emplace_back(std::move(function));
  ARGOSY_CHECK(functions_[kept.module].emplace(kept.name, Function{&op, &kept}).second, kept.name);
}

OpSchemas::Function OpSchemas::find_function(std::string_view name, std::string_view module) const {
  const auto found = functions_.find(module);
  if (found == functions_.end()) return {};
  const auto function = found->second.find(name);
  return function == found->second.end() ? Function{} : function->second;
}

std::vector<OpSchemas::Function> OpSchemas::functions(std::string_view module) const {
  std::vector<Function> all;
  if (const auto found = functions_.find(module); found != functions_.end()) {
    for (const auto& [name, function] : found->second) all.push_back(function);
  }
  return all;
}

bool ShapeContext::has_input(std::string_view slot) const { return input_count(slot) > 0; }
bool ShapeContext::has_output(std::string_view slot) const { return output_count(slot) > 0; }

size_t ShapeContext::input_count(std::string_view slot) const {
  const auto* names = op_.inputs.find(slot);
  return names == nullptr ? 0 : names->size();
}

size_t ShapeContext::output_count(std::string_view slot) const {
  const auto* names = op_.outputs.find(slot);
  return names == nullptr ? 0 : names->size();
}

const VarDesc& ShapeContext::input(std::string_view slot, size_t index) const {
  const auto* names = op_.inputs.find(slot);
  ARGOSY_CHECK(names != nullptr && index < names->size(), slot);
  const VarDesc* variable = find_((*names)[index]);
  ARGOSY_CHECK(variable != nullptr, (*names)[index]);
  return *variable;
}

void ShapeContext::set_output(std::string_view slot, std::vector<int64_t> shape, DType dtype, int32_t lod_level, size_t index) {
  const auto* names = op_.outputs.find(slot);
  if (names == nullptr || index >= names->size()) return;
  VarDesc* variable = find_((*names)[index]);
  ARGOSY_CHECK(variable != nullptr, (*names)[index]);
  variable->shape = std::move(shape);
  variable->dtype = dtype;
  variable->lod_level = lod_level;
}

void ShapeContext::set_output_like(std::string_view slot, const VarDesc& like, size_t index) {
  set_output(slot, like.shape, like.dtype, like.lod_level, index);
}

DType ShapeContext::dtype_attribute(std::string_view name, DType otherwise) const {
  const auto* number = op_.attribute<int32_t>(name);
  if (number == nullptr) return otherwise;
  return dtype_from_number(*number).value_or(otherwise);
}

Status check_and_complete(OpDesc& op, const OpSchema& schema) {
  RETURN_IF_ERROR(check_slots(op, op.inputs, schema.inputs, "input"));
  RETURN_IF_ERROR(check_slots(op, op.outputs, schema.outputs, "output"));
  for (auto& [name, value] : op.attributes) {
    const AttributeSchema* known = schema.find_attribute(name);
    if (known == nullptr) {
      if (is_common_attribute(name)) continue;
      return Status::invalid_argument("operator '{}' has no attribute '{}'{}", op.type, name,
                                      nearest_hint(name, schema.attributes));
    }
    if (!convert_attribute(value, known->value)) {
      return Status::invalid_argument("operator '{}': attribute '{}' is {} {}, expected {}", op.type, name, attribute_kind(value),
                                      attribute_to_string(value), attribute_kind(known->value));
    }
  }
  complete(op, schema);
  return {};
}

void complete(OpDesc& op, const OpSchema& schema) {
  for (const AttributeSchema& known : schema.attributes) {
    const auto [at, added] = op.attributes.try_emplace(known.name, known.value);
    if (!added) convert_attribute(at->second, known.value);
  }
}

Status same_shape_as_x(ShapeContext& context) {
  context.set_output_like("Out", context.input("X"));
  return {};
}

ShapeRule same_shape_as(std::string input, std::string output) {
  return [input = std::move(input), output = std::move(output)](ShapeContext& context) {
    context.set_output_like(output, context.input(input));
    return Status();
  };
}

Result<std::vector<int64_t>> broadcast_shape(const std::vector<int64_t>& x, const std::vector<int64_t>& y, int axis) {
  if (y.size() > x.size()) return broadcast_shape(y, x, axis);
  if (axis < 0) axis += static_cast<int>(x.size() - y.size()) + 1;
  std::vector<int64_t> out = x;
  size_t count = y.size();
  while (count > 0 && y[count - 1] == 1 && static_cast<size_t>(axis) + count > x.size())
    --count;  // trailing ones of y do not count
  for (size_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(axis) + i;
    if (at >= x.size() || (x[at] > 1 && y[i] > 1 && x[at] != y[i])) {
      return Status::invalid_argument("shapes {} and {} cannot be broadcast with axis {}", shape_to_string(x), shape_to_string(y),
                                      axis);
    }
    if (x[at] == 1) out[at] = y[i];
    if (x[at] == -1 && y[i] > 1) out[at] = y[i];
  }
  return out;
}

}  // namespace argosy::graph
