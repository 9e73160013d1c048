#include "argosy/graph/function_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "argosy/base/text.h"

namespace argosy::graph {
namespace {

using Kind = ArgumentSchema::Kind;

const AttributeSchema* attribute_of(const OpSchema& op, const ArgumentSchema& argument) {
  return op.find_attribute(argument.attribute_name);
}

// The literal of an example's call.
std::string example_value(const ArgumentSchema& argument) {
  if (argument.kind == Kind::input) return "x";
  if (argument.kind == Kind::input_list) return "[x, x]";
  return argument.kind == Kind::dtype ? "'int64'" : "1";
}

std::string example_of(const FunctionSchema& function) {
  if (!function.example.empty()) return function.example;
  std::vector<std::string> given;
  for (const ArgumentSchema& argument : function.arguments) {
    if (argument.required) given.push_back(example_value(argument));
  }
  const bool fluid = function.module == "fluid.layers";
  const std::string data = fluid ? "x = fluid.data('x', [None, 4])" : "x = paddle.to_tensor([[1.0, 2.0]])";
  const std::string package = fluid ? "fluid.layers" : function.module == "tensor" ? "paddle" : "paddle." + function.module;
  return fmt::format("{}\ny = {}.{}({})", data, package, function.name, join(given, ", "));
}

// As a reader would type it at Python's prompt, so that doctest runs it.
std::string prompted(const std::string& text) {
  std::string out;
  for (const std::string& line : split(text, '\n')) out += (line.starts_with(' ') ? "... " : ">>> ") + line + "\n";
  return out;
}

// By the alternatives of Attribute, in order.
constexpr std::string_view kPython[] = {
    "int",        "float", "str", "int | list[int]", "list[float]",     "list[str]", "bool",
    "list[bool]", "int",   "int", "list[int]",       "int | list[int]", "float",     "list[float]"};
constexpr std::string_view kCpp[] = {"int32_t",
                                     "float",
                                     "std::string",
                                     "std::vector<int32_t>",
                                     "std::vector<float>",
                                     "std::vector<std::string>",
                                     "bool",
                                     "std::vector<bool>",
                                     "int32_t",
                                     "int64_t",
                                     "std::vector<int32_t>",
                                     "std::vector<int64_t>",
                                     "double",
                                     "std::vector<double>"};

std::string python_type(const OpSchema& op, const ArgumentSchema& argument) {
  std::string type = "object";
  switch (argument.kind) {
    case Kind::input:
    case Kind::output: type = "Variable"; break;
    case Kind::input_list: type = "Variable | list[Variable]"; break;
    case Kind::attribute: type = kPython[attribute_of(op, argument)->value.index()]; break;
    case Kind::dtype: type = "str | int | object"; break;
    case Kind::layer_name:
    case Kind::activation: type = "str"; break;
    case Kind::choice: type = "bool"; break;
    case Kind::other: type = argument.default_text == "True" || argument.default_text == "False" ? "bool" : "object"; break;
    case Kind::unused: break;
  }
  if (argument.kind == Kind::attribute && !argument.slot.empty()) type += " | Variable";
  return argument.default_text == "None" && type != "object" ? type + " | None" : type;
}

std::string stub_of(const OpSchemas::Function& entry) {
  const auto& [op, function] = entry;
  std::vector<std::string> arguments;
  for (const ArgumentSchema& argument : function->arguments) {
    arguments.push_back(fmt::format("{}: {}{}", argument.name, python_type(*op, argument),
                                    argument.required ? "" : " = " + argument.default_text));
  }
  const bool chosen = std::ranges::any_of(function->arguments, [](const auto& a) { return a.kind == Kind::choice; });
  const std::string result = function->returns.size() == 1 ? "Variable"
                             : chosen                      ? "Variable | tuple[Variable, ...]"
                                                           : "tuple[Variable, ...]";
  return fmt::format("def {}({}) -> {}:\n    \"\"\"{}\"\"\"\n", function->name, join(arguments, ", "), result, function->doc);
}

// C++.
bool in_cpp(const ArgumentSchema& argument) { return argument.kind != Kind::unused && argument.kind != Kind::choice; }

std::string cpp_type(const OpSchema& op, const ArgumentSchema& argument) {
  switch (argument.kind) {
    case Kind::input:
    case Kind::output: return "Variable";
    case Kind::input_list: return "std::vector<Variable>";
    case Kind::attribute: {
      const Attribute& like = attribute_of(op, argument)->value;
      if (argument.slot.empty()) return std::string(kCpp[like.index()]);
      return std::holds_alternative<float>(like) ? "Real" : "Number";  // or the variable that holds it
    }
    case Kind::dtype: return "DType";
    case Kind::layer_name:
    case Kind::activation: return "std::string";
    case Kind::choice:
    case Kind::other:
    case Kind::unused: break;
  }
  return argument.default_text == "True" || argument.default_text == "False" ? "bool" : "graph::Argument";
}

std::string cpp_literal(const Attribute& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return fmt::format("\"{}\"", *text);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* number = std::get_if<float>(&value)) {
    const std::string digits = fmt::format("{}", *number);
    return digits + (digits.find_first_of(".e") == std::string::npos ? ".0f" : "f");
  }
  if (const auto* whole = std::get_if<int32_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* wide = std::get_if<int64_t>(&value)) return fmt::format("{}", *wide);
  return "{}";
}

std::string cpp_default(const OpSchema& op, const ArgumentSchema& argument) {
  if (argument.kind == Kind::dtype)
    return fmt::format("static_cast<DType>({})", cpp_literal(argument.value.value_or(Attribute(5))));
  if (argument.kind == Kind::attribute) {
    if (argument.value) return cpp_literal(*argument.value);
    const bool list = kCpp[attribute_of(op, argument)->value.index()].starts_with("std::vector");
    return list ? "{}" : cpp_literal(attribute_of(op, argument)->value);
  }
  if (cpp_type(op, argument) == "bool") return argument.default_text == "True" ? "true" : "false";
  return "{}";
}

bool by_value(const std::string& type) {
  return type == "float" || type == "double" || type == "bool" || type == "DType" || type.starts_with("int");
}

// The arguments in C++'s order: what must be given, then the rest, with the name last.
std::vector<const ArgumentSchema*> cpp_order(const FunctionSchema& function) {
  std::vector<const ArgumentSchema*> order;
  for (const int part : {0, 1, 2}) {
    for (const ArgumentSchema& argument : function.arguments) {
      const int of = argument.required ? 0 : argument.kind == Kind::layer_name ? 2 : 1;
      if (of == part && in_cpp(argument)) order.push_back(&argument);
    }
  }
  return order;
}

std::string cpp_struct(const OpSchema& op, const FunctionSchema& function) {
  std::string text = fmt::format("struct {} {{\n", function.options);
  for (const ArgumentSchema* argument : cpp_order(function)) {
    if (argument->required) continue;
    const std::string value = cpp_default(op, *argument);
    text += fmt::format("  {} {}{};  // {}\n", cpp_type(op, *argument), argument->name, value == "{}" ? "" : " = " + value,
                        argument->doc);
  }
  return text + "};\n";
}

std::string cpp_result(const FunctionSchema& function) {
  return fmt::format("struct {} {{\n  Variable {};\n}};\n", function.result, join(function.result_names, ", "));
}

// Python hides a name by an underscore.
std::string_view cpp_name(const FunctionSchema& function) {
  return std::string_view(function.name).substr(function.name.starts_with('_') ? 1 : 0);
}

std::string cpp_parameter(const OpSchema& op, const ArgumentSchema& argument) {
  const std::string type = cpp_type(op, argument);
  const std::string declared =
      by_value(type) ? fmt::format("{} {}", type, argument.name) : fmt::format("const {}& {}", type, argument.name);
  return argument.required ? declared : declared + " = " + cpp_default(op, argument);
}

// What is handed on, in Python's order.
std::string cpp_arguments(const OpSchema& op, const FunctionSchema& function) {
  std::vector<std::string> given;
  for (const ArgumentSchema& argument : function.arguments) {
    const std::string name = argument.required || function.options.empty() ? argument.name : "options." + argument.name;
    const bool maybe = !argument.required && argument.default_text == "None" && cpp_type(op, argument).starts_with("std::vector");
    if (!in_cpp(argument)) {
      given.emplace_back("{}");
    } else if (maybe) {
      given.push_back(fmt::format("{0}.empty() ? graph::Argument() : graph::Argument(graph::Attribute({0}))", name));
    } else if (argument.kind == Kind::input || argument.kind == Kind::output || argument.kind == Kind::input_list) {
      given.push_back(name);
    } else {
      const std::string type = cpp_type(op, argument);
      const bool either = type == "Real" || type == "Number";
      given.push_back(type == "DType" ? name
                      : either        ? fmt::format("as_argument({})", name)
                                      : fmt::format("graph::Attribute({})", name));
    }
  }
  return join(given, ", ");
}

std::string cpp_function(const OpSchemas::Function& entry) {
  const auto& [op, function] = entry;
  std::vector<std::string> parameters;
  for (const ArgumentSchema* argument : cpp_order(*function)) {
    if (argument->required || function->options.empty()) parameters.push_back(cpp_parameter(*op, *argument));
  }
  if (!function->options.empty()) parameters.push_back(fmt::format("const {}& options = {{}}", function->options));
  const bool several = function->returns.size() > 1;
  const std::string called = fmt::format("graph::call(\"{}\", {{{}}})", function->name, cpp_arguments(*op, *function));
  std::string body = fmt::format("  return {}[0];\n", called);
  if (several) {
    std::vector<std::string> results;
    for (size_t i = 0; i < function->returns.size(); ++i) results.push_back(fmt::format("made[{}]", i));
    body = fmt::format("  const auto made = {};\n  return {{{}}};\n", called, join(results, ", "));
  }
  return fmt::format("// {}\ninline {} {}({}) {{\n{}}}\n\n", function->doc, several ? function->result : "Variable",
                     cpp_name(*function), join(parameters, ", "), body);
}

}  // namespace

std::string python_doc(const FunctionSchema& function) {
  std::string text = fmt::format("{}\n--\n\n{}\n\n", function.signature, function.doc);
  for (const ArgumentSchema& argument : function.arguments) text += fmt::format("{}: {}\n", argument.name, argument.doc);
  return text + "\n" + prompted(example_of(function));
}

std::string python_stub(const std::vector<OpSchemas::Function>& functions) {
  std::string text = "# Made from the operators' entries by argosy-ops at build time.\nfrom argosy._core import Variable\n";
  for (const auto& entry : functions) text += "\n" + stub_of(entry);
  return text;
}

std::string reference_page(const std::vector<OpSchemas::Function>& functions) {
  std::string text =
      "# Layer functions\n\nThose of `fluid.layers` that are one operator, as the operators' entries describe them.\n\n";
  for (const auto& [op, function] : functions) {
    if (function->name.starts_with('_')) continue;
    text += fmt::format("## {}\n```python\n{}\n```\n{}\n\nOperator `{}`.\n\n| argument | |\n|---|---|\n", function->name,
                        function->signature, function->doc, op->type);
    for (const ArgumentSchema& argument : function->arguments)
      text += fmt::format("| `{}` | {} |\n", argument.name, argument.doc);
    text += fmt::format("\n```python\n{}\n```\n\n", example_of(*function));
  }
  return text;
}

std::string cpp_header(const std::vector<OpSchemas::Function>& functions) {
  std::string text =
      "// Made from the operators' entries by argosy-ops at build time: the functions of fluid.layers that are one operator.\n"
      "#pragma once\n\n#include <cstdint>\n#include <string>\n#include <vector>\n\n#include \"argosy/graph/function_call.h\"\n"
      "#include \"argosy/graph/layers/types.h\"\n\nnamespace argosy::layers {\n\n";
  std::map<std::string, std::string> structs;
  for (const auto& entry : functions) {
    const auto& [op, function] = entry;
    for (const auto& [name, made] :
         {std::pair(function->options, cpp_struct(*op, *function)), std::pair(function->result, cpp_result(*function))}) {
      if (name.empty()) continue;
      const auto [at, first] = structs.emplace(name, made);
      ARGOSY_CHECK(at->second == made, fmt::format("{}: functions that share it have other arguments", name));
      if (first) text += made + "\n";
    }
    text += cpp_function(entry);
  }
  return text + "}  // namespace argosy::layers\n";
}

}  // namespace argosy::graph
