#include "argosy/graph/function_call.h"
#include "argosy/graph/function_text.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// The functions of the operators' entries, as Python functions with their own signatures. Arguments are checked here, so that a
// message names the function and the argument.
namespace argosy::python {

using graph::Argument;
using graph::ArgumentSchema;
using graph::FunctionSchema;
using graph::OpSchemas;
using graph::Variable;

namespace {

[[noreturn]] void refuse_argument(const FunctionSchema& function, const ArgumentSchema& argument, const std::string& expected,
                                  py::handle found) {
  throw py::type_error(fmt::format("{}() argument '{}' must be {}, not {} ({})", function.name, argument.name, expected,
                                   type_name(found), argument.doc));
}

// A number from whatever Python takes for one, NumPy's arrays of one element too.
graph::Attribute number_of(py::handle value) {
  return static_cast<float>(py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>());
}

graph::Attribute attribute_of(const FunctionSchema& function, const ArgumentSchema& argument, const graph::Attribute& like,
                              py::handle value) {
  if (std::holds_alternative<bool>(like)) {
    if (PyNumber_Check(value.ptr()) == 0) refuse_argument(function, argument, "a bool", value);
    return PyObject_IsTrue(value.ptr()) == 1;
  }
  const bool takes_list =
      std::holds_alternative<std::vector<int32_t>>(like) || std::holds_alternative<std::vector<int64_t>>(like);
  if (takes_list) return shape_from_python(value);
  const bool takes_float = std::holds_alternative<float>(like) || std::holds_alternative<double>(like);
  if (takes_float && PyNumber_Check(value.ptr()) != 0) return number_of(value);
  graph::Attribute found = attribute_from_python(argument.name, value);
  if (!graph::convert_attribute(found, like))
    refuse_argument(function, argument, std::string(graph::attribute_kind(like)), value);
  return found;
}

Argument variables_in(const FunctionSchema& function, const ArgumentSchema& argument, py::handle value) {
  if (argument.kind != ArgumentSchema::input_list) {
    if (!py::isinstance<Variable>(value)) refuse_argument(function, argument, "a Variable", value);
    return value.cast<Variable>();
  }
  py::detail::make_caster<OneOrMore> caster;
  if (!caster.load(value, true)) refuse_argument(function, argument, "a Variable or a list of them", value);
  return py::detail::cast_op<OneOrMore&>(caster).values;
}

Argument argument_of(const OpSchemas::Function& entry, const ArgumentSchema& argument, py::handle value) {
  if (value.is_none()) return {};
  const FunctionSchema& function = *entry.function;
  switch (argument.kind) {
    case ArgumentSchema::input:
    case ArgumentSchema::input_list:
    case ArgumentSchema::output: return variables_in(function, argument, value);
    case ArgumentSchema::dtype: return dtype_from_python(value);
    case ArgumentSchema::attribute:
      if (!argument.slot.empty() && py::isinstance<Variable>(value)) return value.cast<Variable>();
      return attribute_of(function, argument, entry.op->find_attribute(argument.attribute_name)->value, value);
    case ArgumentSchema::layer_name:
    case ArgumentSchema::activation:
      if (!py::isinstance<py::str>(value)) refuse_argument(function, argument, "a str", value);
      return graph::Attribute(value.cast<std::string>());
    case ArgumentSchema::other: return attribute_from_python(argument.name, value);
    case ArgumentSchema::choice:
    case ArgumentSchema::unused: break;
  }
  return {};
}

// The arguments in the function's order; those left out are empty handles.
std::vector<py::object> in_order(const FunctionSchema& function, const py::args& args, const py::kwargs& kwargs) {
  if (args.size() > function.arguments.size()) {
    throw py::type_error(fmt::format("{}() takes {} arguments but {} were given: {}", function.name, function.arguments.size(),
                                     args.size(), function.signature));
  }
  std::vector<py::object> given(function.arguments.size());
  for (size_t i = 0; i < args.size(); ++i) given[i] = args[i];
  for (const auto& [key, value] : kwargs) {
    const auto name = key.cast<std::string>();
    const ArgumentSchema* argument = function.find(name);
    if (argument == nullptr)
      throw py::type_error(
          fmt::format("{}() got an unexpected keyword argument '{}': {}", function.name, name, function.signature));
    py::object& place = given[static_cast<size_t>(argument - function.arguments.data())];
    if (place) throw py::type_error(fmt::format("{}() got multiple values for argument '{}'", function.name, name));
    place = py::reinterpret_borrow<py::object>(value);
  }
  return given;
}

bool chosen(const std::vector<py::object>& given, const FunctionSchema& function) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (function.arguments[i].kind != ArgumentSchema::choice) continue;
    if (!given[i] || PyObject_IsTrue(given[i].ptr()) == 0) return false;
  }
  return true;
}

py::object build(const OpSchemas::Function& entry, const py::args& args, const py::kwargs& kwargs) {
  const FunctionSchema& function = *entry.function;
  const std::vector<py::object> given = in_order(function, args, kwargs);
  std::vector<Argument> arguments(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const ArgumentSchema& argument = function.arguments[i];
    if (given[i]) {
      arguments[i] = argument_of(entry, argument, given[i]);
    } else if (argument.required) {
      throw py::type_error(
          fmt::format("{}() missing required argument '{}': {}", function.name, argument.name, function.signature));
    }
  }
  const std::vector<Variable> results = graph::call(*entry.op, function, std::move(arguments));
  if (results.size() == 1 || !chosen(given, function)) return py::cast(results[0]);
  py::tuple all(results.size());
  for (size_t i = 0; i < results.size(); ++i) all[i] = py::cast(results[i]);
  return all;
}

}  // namespace

void bind_functions(py::module_& m, const char* module) {
  py::options options;
  options.disable_function_signatures();  // the documentation begins with the function's own
  for (const OpSchemas::Function& entry : OpSchemas::instance().functions(module)) {
    const std::string doc = graph::python_doc(*entry.function);
    m.def(
        entry.function->name.c_str(),
        [entry](const py::args& args, const py::kwargs& kwargs) { return build(entry, args, kwargs); }, doc.c_str());
  }
}

}  // namespace argosy::python
