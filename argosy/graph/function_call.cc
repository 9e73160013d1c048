#include "argosy/graph/function_call.h"

#include <algorithm>

#include "argosy/base/error.h"
#include "argosy/graph/layer_helper.h"

namespace argosy::graph {
namespace {

[[noreturn]] void refuse(const FunctionSchema& function, const ArgumentSchema& argument, const std::string& expected) {
  throw Error(
      Status::invalid_argument("{}: argument '{}' must be {} ({})", function.name, argument.name, expected, argument.doc));
}

void put_attribute(FunctionCall& call, const ArgumentSchema& schema, const Argument& given) {
  if (const Variable* variable = given.variable(); variable != nullptr && given.given()) {
    if (schema.slot.empty()) refuse(call.function, schema, "a number, not a variable");
    call.op.inputs[schema.slot] = {variable->name()};
    return;
  }
  const Attribute* held = given.attribute() != nullptr ? given.attribute() : schema.value ? &*schema.value : nullptr;
  if (held == nullptr) return;  // the operator's own default
  Attribute value = *held;
  const Attribute& like = call.schema.find_attribute(schema.attribute_name)->value;
  if (!convert_attribute(value, like))
    refuse(call.function, schema, fmt::format("{}, not {}", attribute_kind(like), attribute_kind(value)));
  call.op.attributes[schema.attribute_name] = std::move(value);
}

void put_variables(FunctionCall& call, const ArgumentSchema& schema, const Argument& given) {
  std::vector<std::string>& names = call.op.inputs[schema.slot];
  if (const auto* list = given.variables()) {
    for (const Variable& variable : *list) names.push_back(variable.name());
  } else if (const Variable* variable = given.variable()) {
    names.push_back(variable->name());
  }
  if (names.empty()) {
    refuse(call.function, schema, schema.kind == ArgumentSchema::input ? "a variable" : "one or more variables; none was given");
  }
}

void put(FunctionCall& call, const ArgumentSchema& schema, const Argument& given) {
  switch (schema.kind) {
    case ArgumentSchema::input:
    case ArgumentSchema::input_list:
      if (given.given() || schema.required) put_variables(call, schema, given);
      break;
    case ArgumentSchema::output:
      if (given.given()) call.outputs[schema.slot] = *given.variable();
      break;
    case ArgumentSchema::attribute:
    case ArgumentSchema::dtype: put_attribute(call, schema, given); break;
    default: break;
  }
}

// An attribute without a default that neither the call nor prepare has set.
void check_attributes(const FunctionCall& call) {
  for (const ArgumentSchema& schema : call.function.arguments) {
    if (!schema.required || schema.attribute_name.empty() || call.op.attributes.contains(schema.attribute_name)) continue;
    const auto* computed = schema.slot.empty() ? nullptr : call.op.inputs.find(schema.slot);
    if (computed == nullptr) refuse(call.function, schema, "given");
  }
}

std::string text_argument(const FunctionCall& call, ArgumentSchema::Kind kind) {
  for (const ArgumentSchema& schema : call.function.arguments) {
    if (schema.kind == kind) return call.value<std::string>(schema.name, "");
  }
  return "";
}

DType first_dtype(const FunctionCall& call) {
  for (const Argument& argument : call.arguments) {
    if (argument.variable() != nullptr && argument.given()) return argument.variable()->dtype();
    if (argument.variables() != nullptr && !argument.variables()->empty()) return argument.variables()->front().dtype();
  }
  return DType::float32;
}

// Whether no gradient reaches an output: an entry of `stops` is its slot, or "Slot?attribute=text" where that depends on an
// attribute.
bool stops_at(const FunctionCall& call, const std::string& slot) {
  return std::ranges::any_of(call.function.stops, [&](const std::string& entry) {
    const size_t mark = entry.find('?'), equals = entry.find('=');
    if (mark == std::string::npos || entry.substr(0, mark) != slot) return entry == slot;
    const auto attribute = call.op.attributes.find(entry.substr(mark + 1, equals - mark - 1));
    const auto* text = attribute == call.op.attributes.end() ? nullptr : std::get_if<std::string>(&attribute->second);
    return text != nullptr && *text == entry.substr(equals + 1);
  });
}

}  // namespace

const Argument& FunctionCall::argument(std::string_view name) const {
  const ArgumentSchema* found = function.find(name);
  ARGOSY_CHECK(found != nullptr, name);
  return arguments[static_cast<size_t>(found - function.arguments.data())];
}

const Variable& FunctionCall::variable(std::string_view name) const {
  const Variable* found = argument(name).variable();
  ARGOSY_CHECK(found != nullptr, name);
  return *found;
}

FunctionCall prepare_call(const OpSchema& op, const FunctionSchema& function, std::vector<Argument> arguments) {
  FunctionCall call{.schema = op, .function = function, .arguments = std::move(arguments), .op = {.type = op.type}};
  if (call.arguments.size() > function.arguments.size()) {
    throw Error(Status::invalid_argument("{} takes {} arguments, {} were given", function.name, function.arguments.size(),
                                         call.arguments.size()));
  }
  call.arguments.resize(function.arguments.size());
  for (size_t i = 0; i < function.arguments.size(); ++i) put(call, function.arguments[i], call.arguments[i]);
  if (function.prepare) function.prepare(call);
  check_attributes(call);
  return call;
}

std::vector<Variable> call(const OpSchema& op, const FunctionSchema& function, std::vector<Argument> arguments) {
  FunctionCall call = prepare_call(op, function, std::move(arguments));
  LayerHelper helper(function.layer, text_argument(call, ArgumentSchema::layer_name));
  for (const std::string& slot : function.makes) {
    if (call.outputs.contains(slot)) continue;
    call.outputs[slot] = helper.create_tmp(first_dtype(call), function.stop_gradient || stops_at(call, slot));
  }
  for (const SlotSchema& slot : op.outputs) {
    if (const auto made = call.outputs.find(slot.name); made != call.outputs.end())
      call.op.outputs[slot.name] = {made->second.name()};
  }
  helper.append_op(std::move(call.op));
  std::vector<Variable> results;
  for (const std::string& slot : function.returns) results.push_back(call.outputs[slot]);
  results[0] = helper.append_activation(results[0], text_argument(call, ArgumentSchema::activation));
  return results;
}

std::vector<Variable> call(std::string_view name, std::vector<Argument> arguments) {
  const auto found = OpSchemas::instance().find_function(name);
  if (found.function == nullptr) throw Error(Status::not_found("there is no function '{}'", name));
  return call(*found.op, *found.function, std::move(arguments));
}

}  // namespace argosy::graph
