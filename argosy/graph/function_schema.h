#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/graph/attribute.h"

namespace argosy::graph {

struct FunctionCall;

// One argument of a function, and what becomes of it in the operator.
struct ArgumentSchema {
  enum Kind {
    input,       // a variable
    input_list,  // one or more variables
    output,      // a variable to write to; a new one where it is left out
    attribute,   // a number, a text, a truth value or a list; a variable too, where `slot` is set
    dtype,       // an element type, which operators keep as a number
    layer_name,  // the name of the layer, which its variables are named after
    activation,  // the type of an operator that is applied to the result
    choice,      // whether the result has the output `slot` as well; C++ always gives it
    other,       // what FunctionSchema::prepare looks at
    unused,      // taken because PaddlePaddle has it; no effect, and absent in C++
  };

  std::string name, doc;
  Kind kind = other;
  std::string slot;       // the operator's input or output
  std::string attribute_name;
  bool required = true;
  std::string default_text;        // as Python writes it
  std::optional<Attribute> value;  // the default; none for None, which leaves the operator's own
};

// A function that adds one operator to a program: what scripts call. It is derived from an operator's entry, together with its
// Python function, its C++ function, its stub and its paragraph of the reference page.
struct FunctionSchema {
  // What the entry gives.
  std::string signature;                       // as in Python: "leaky_relu(x, alpha=0.02, name=None)"
  // Argument -> what it is, where its name does not say it: a slot or an attribute; "attribute|Slot" where a variable may take
  // the attribute's place; "+Slot" for a choice; "*…" for prepare's, with its words for the documentation; "-" for no effect.
  std::map<std::string, std::string> targets;
  std::vector<std::string> returns;            // output slots; empty: the first one. "Out:values" is .values of C++'s struct
  std::vector<std::string> makes;              // output slots in the order in which variables are made; empty: all, in order
  std::vector<std::string> stops;              // output slots that no gradient reaches
  std::string module = "fluid.layers";         // where scripts find it: that, "nn.functional" or "tensor" (paddle itself)
  std::string layer;                           // begins generated names; empty: the operator's type
  std::string options;  // C++: the struct of the arguments with a default; empty: they follow each other
  std::string result;  // C++: the struct of several results
  std::string example;  // Python; empty: one is made from the arguments
  bool stop_gradient = false;  // on what it makes
  std::function<void(FunctionCall&)> prepare;  // the last word before the operator is added; throws argosy::Error

  // What add_function() makes of it.
  std::string name, doc;
  std::vector<ArgumentSchema> arguments;
  std::vector<std::string> result_names;  // of `returns`, in C++

  const ArgumentSchema* find(std::string_view argument) const {
    const auto found = std::ranges::find(arguments, argument, &ArgumentSchema::name);
    return found == arguments.end() ? nullptr : &*found;
  }
};

}  // namespace argosy::graph
