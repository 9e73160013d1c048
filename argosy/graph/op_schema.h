#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/graph/function_schema.h"
#include "argosy/graph/op_desc.h"
#include "argosy/graph/var_desc.h"

namespace argosy::graph {

struct SlotSchema {
  std::string name, doc;
  bool list = false;      // any number of variables
  bool optional = false;  // may be left out
};

struct AttributeSchema {
  std::string name, doc;
  Attribute value;  // the default; also says the kind
};

// What a shape rule sees: the variables at the operator's inputs (whose shapes are known) and outputs (to be filled in).
class ShapeContext {
 public:
  ShapeContext(const OpDesc& op, std::function<VarDesc*(const std::string&)> find) : op_(op), find_(std::move(find)) {}

  bool has_input(std::string_view slot) const;
  const VarDesc& input(std::string_view slot, size_t index = 0) const;  // REQUIRES: has_input(slot)
  size_t input_count(std::string_view slot) const;
  bool has_output(std::string_view slot) const;
  size_t output_count(std::string_view slot) const;

  // Sets shape and dtype of an output, and the LoD level (0 without it). An output that the operator does not have is skipped.
  void set_output(std::string_view slot, std::vector<int64_t> shape, DType dtype, int32_t lod_level = 0, size_t index = 0);
  void set_output_like(std::string_view slot, const VarDesc& like, size_t index = 0);

  template <typename T>
  T attribute(std::string_view name) const {
    return op_.attribute_or<T>(name, T{});
  }
  DType dtype_attribute(std::string_view name, DType otherwise) const;  // Paddle stores dtypes as int attributes
  const OpDesc& op() const { return op_; }

 private:
  const OpDesc& op_;
  std::function<VarDesc*(const std::string&)> find_;
};

using ShapeRule = std::function<Status(ShapeContext&)>;

// The description of an operator type: what the builder fills in and checks, the shape rule, and the words of the
// reference page. Kernels are the engine's, which registers both in one place.
struct OpSchema {
  std::string type, doc;
  std::vector<SlotSchema> inputs, outputs;
  std::vector<AttributeSchema> attributes;
  ShapeRule infer_shape;
  std::deque<FunctionSchema> functions;  // those that scripts call

  const SlotSchema* find_input(std::string_view name) const;
  const SlotSchema* find_output(std::string_view name) const;
  const AttributeSchema* find_attribute(std::string_view name) const;
};

// All operator types of this process. Filled before main by the engine; read-only after that, and so thread-safe.
class OpSchemas {
 public:
  static OpSchemas& instance();

  OpSchema& add(OpSchema schema);
  const OpSchema* find(std::string_view type) const;
  std::vector<std::string> types() const;

  // A function of an operator of this registry, for graph::add_function (add_function.h), which settles its arguments first. A
  // second one of that name in a module aborts.
  void add_function(OpSchema& op, FunctionSchema function);
  struct Function {
    const OpSchema* op = nullptr;
    const FunctionSchema* function = nullptr;  // null where there is none
  };
  Function find_function(std::string_view name, std::string_view module = "fluid.layers") const;
  std::vector<Function> functions(std::string_view module) const;  // by name

 private:
  std::map<std::string, OpSchema, std::less<>> schemas_;
  std::map<std::string, std::map<std::string, Function, std::less<>>, std::less<>> functions_;  // by module and name
};

// Checks `op` against its schema and fills in the defaults. Unknown types, slots and attributes are errors that offer the
// nearest name. `extra attributes` that every Paddle operator may carry (op_role, op_callstack, …) pass.
Status check_and_complete(OpDesc& op, const OpSchema& schema);

// Fills in the defaults and lets everything else pass: for operators from files, which carry what other versions know.
void complete(OpDesc& op, const OpSchema& schema);

// Shape rules that many operators share.
Status same_shape_as_x(ShapeContext& context);                   // Out like X, with its LoD level
ShapeRule same_shape_as(std::string input, std::string output);

// The shape of a broadcast element-wise operator by Paddle's rule: y's dimensions are matched to x's from `axis` on (-1:
// from the end).
Result<std::vector<int64_t>> broadcast_shape(const std::vector<int64_t>& x, const std::vector<int64_t>& y, int axis);

}  // namespace argosy::graph
