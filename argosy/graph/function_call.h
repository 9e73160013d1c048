#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "argosy/graph/op_desc.h"
#include "argosy/graph/op_schema.h"
#include "argosy/graph/variable.h"

namespace argosy::graph {

// What an argument of a function is given as; empty: left out, or None.
class Argument : public std::variant<std::monostate, Variable, std::vector<Variable>, Attribute> {
 public:
  using variant::variant;
  Argument(const char* text) : variant(Attribute(std::string(text))) {}
  Argument(DType dtype) : variant(Attribute(static_cast<int32_t>(dtype))) {}

  bool given() const { return index() != 0 && (variable() == nullptr || static_cast<bool>(*variable())); }
  const Variable* variable() const { return std::get_if<Variable>(this); }
  const std::vector<Variable>* variables() const { return std::get_if<std::vector<Variable>>(this); }
  const Attribute* attribute() const { return std::get_if<Attribute>(this); }
};

// A call on its way to an operator: what FunctionSchema::prepare sees and may change.
struct FunctionCall {
  const OpSchema& schema;
  const FunctionSchema& function;
  std::vector<Argument> arguments;           // in the order of function.arguments
  OpDesc op;                                 // inputs and attributes are in place, outputs are made afterwards
  std::map<std::string, Variable> outputs;  // slot -> a variable to write to instead of a new one

  const Argument& argument(std::string_view name) const;  // REQUIRES: the function has it
  const Variable& variable(std::string_view name) const;  // REQUIRES: it is given as one
  template <typename T>
  T value(std::string_view name, T otherwise) const {
    const Attribute* held = argument(name).attribute();
    const T* found = held == nullptr ? nullptr : std::get_if<T>(held);
    return found == nullptr ? otherwise : *found;
  }
};

// Adds the operator of function `name` ("relu6") to the default main program and returns its results, in the order of
// FunctionSchema::returns; trailing arguments may be left out. Throws argosy::Error, which names function and argument, for what
// is missing or does not fit. Confined to the building thread.
std::vector<Variable> call(std::string_view name, std::vector<Argument> arguments);
std::vector<Variable> call(const OpSchema& op, const FunctionSchema& function, std::vector<Argument> arguments);

// The first part of a call: checks the arguments and puts them into an operator without outputs.
FunctionCall prepare_call(const OpSchema& op, const FunctionSchema& function, std::vector<Argument> arguments);

}  // namespace argosy::graph
