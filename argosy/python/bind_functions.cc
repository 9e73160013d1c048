#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include "argosy/engine/train/tensor_call.h"
#include "argosy/graph/function_call.h"
#include "argosy/graph/function_text.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// The functions of the operators' entries, as Python functions with their own signatures: on variables, which build, and on
// torch's tensors, which compute. Arguments are checked here, so that a message names the function and the argument.
namespace argosy::python {

using engine::TensorArgument;
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

// What `convert` makes of each argument, in the function's order.
template <typename Converted, typename Convert>
std::vector<Converted> converted(const OpSchemas::Function& entry, const std::vector<py::object>& given, Convert convert) {
  const FunctionSchema& function = *entry.function;
  std::vector<Converted> arguments(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const ArgumentSchema& argument = function.arguments[i];
    if (given[i]) {
      arguments[i] = convert(entry, argument, given[i]);
    } else if (argument.required) {
      throw py::type_error(
          fmt::format("{}() missing required argument '{}': {}", function.name, argument.name, function.signature));
    }
  }
  return arguments;
}

template <typename Value>
py::object one_or_all(const std::vector<Value>& results, bool all_wanted) {
  if (results.size() == 1 || !all_wanted) return py::cast(results[0]);
  py::tuple all(results.size());
  for (size_t i = 0; i < results.size(); ++i) all[i] = py::cast(results[i]);
  return all;
}

py::object build(const OpSchemas::Function& entry, const py::args& args, const py::kwargs& kwargs) {
  const std::vector<py::object> given = in_order(*entry.function, args, kwargs);
  return one_or_all(graph::call(*entry.op, *entry.function, converted<Argument>(entry, given, argument_of)),
                    chosen(given, *entry.function));
}

// Tensors. They come from torch's Python package, which the caller has loaded.
TensorArgument tensors_in(const FunctionSchema& function, const ArgumentSchema& argument, py::handle value) {
  if (THPVariable_Check(value.ptr())) return THPVariable_Unpack(value.ptr());
  const bool list = argument.kind == ArgumentSchema::input_list && py::isinstance<py::sequence>(value);
  if (!list) refuse_argument(function, argument, "a tensor", value);
  std::vector<at::Tensor> tensors;
  for (const py::handle item : value) {
    if (!THPVariable_Check(item.ptr())) refuse_argument(function, argument, "a list of tensors", item);
    tensors.push_back(THPVariable_Unpack(item.ptr()));
  }
  return tensors;
}

TensorArgument tensor_argument_of(const OpSchemas::Function& entry, const ArgumentSchema& argument, py::handle value) {
  if (value.is_none()) return {};
  const bool input = argument.kind == ArgumentSchema::input || argument.kind == ArgumentSchema::input_list;
  const bool computed = argument.kind == ArgumentSchema::attribute && !argument.slot.empty() && THPVariable_Check(value.ptr());
  if (input || computed) return tensors_in(*entry.function, argument, value);
  if (argument.kind == ArgumentSchema::output) refuse_argument(*entry.function, argument, "left out on tensors", value);
  const Argument plain = argument_of(entry, argument, value);
  return plain.attribute() == nullptr ? TensorArgument() : TensorArgument(*plain.attribute());
}

py::object compute(const OpSchemas::Function& entry, const py::args& args, const py::kwargs& kwargs) {
  const std::vector<py::object> given = in_order(*entry.function, args, kwargs);
  const auto arguments = converted<TensorArgument>(entry, given, tensor_argument_of);
  return one_or_all(value_or_throw(engine::call_on_tensors(entry, arguments)), chosen(given, *entry.function));
}

}  // namespace

void bind_functions(py::module_& m, py::module_& on_tensors, const char* module) {
  py::options options;
  options.disable_function_signatures();  // the documentation begins with the function's own
  for (const OpSchemas::Function& entry : OpSchemas::instance().functions(module)) {
    const std::string doc = graph::python_doc(*entry.function);
    const char* name = entry.function->name.c_str();
    m.def(name, [entry](const py::args& args, const py::kwargs& kwargs) { return build(entry, args, kwargs); }, doc.c_str());
    on_tensors.def(
        name, [entry](const py::args& args, const py::kwargs& kwargs) { return compute(entry, args, kwargs); }, doc.c_str());
  }
}

}  // namespace argosy::python
