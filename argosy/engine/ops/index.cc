// Operators that pick and place entries by index: gather, gather_nd, index_select, scatter, one_hot.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Shape = std::vector<int64_t>;

// Entries of x along dimension 0. Where an index occurs more than once the gradient is that of its last occurrence, not the
// sum: what Paddle's gather does when `overwrite` is true, its default.
struct GatherLast : torch::autograd::Function<GatherLast> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& index) {
    context->save_for_backward({index});
    context->saved_data["sizes"] = x.sizes();
    return at::index_select(x, 0, index);
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const at::Tensor index = context->get_saved_variables()[0];
    const std::vector<int64_t> sizes = context->saved_data["sizes"].toIntVector();
    const at::Tensor places = at::arange(index.numel(), index.options());
    const at::Tensor last = at::full({sizes[0]}, -1, index.options()).scatter_reduce(0, index, places, "amax");
    const at::Tensor used = (last >= 0).nonzero().flatten();
    const at::Tensor rows = grads[0].index_select(0, last.index_select(0, used));
    return {at::zeros(sizes, grads[0].options()).index_copy(0, used, rows), at::Tensor()};
  }
};

at::Tensor flat_index(const OpContext& op, std::string_view slot, const at::Tensor& x, int64_t axis) {
  check_indices(op, slot, x.size(axis), fmt::format("dimension {} of variable '{}'", axis, op.input_name("X")));
  return op.tensor(slot).flatten().to(at::kLong);
}

void gather(const OpContext& op) {
  const at::Tensor& x = op.tensor("X");
  const int64_t axis = at::maybe_wrap_dim(integer(op, "axis", "Axis"), x.dim());
  const at::Tensor index = flat_index(op, "Index", x, axis);
  const bool last_only = axis == 0 && op.attr<bool>("overwrite") && op.training();
  op.set_output("Out", last_only ? GatherLast::apply(x, index) : at::index_select(x, axis, index));
}

Status infer_gather(ShapeContext& context, int64_t along) {
  const auto &x = context.input("X"), &index = context.input("Index");
  ASSIGN_OR_RETURN(const size_t axis, axis_in(x, along));
  if (index.shape.size() > 2 || (index.shape.size() == 2 && index.shape[1] != 1)) {
    return Status::invalid_argument("variable '{}' has shape {}, expected [n] or [n, 1]", index.name,
                                    graph::shape_to_string(index.shape));
  }
  Shape shape = x.shape;
  shape[axis] = index.shape.empty() ? 1 : index.shape[0];
  context.set_output("Out", std::move(shape), x.dtype);
  return {};
}

ARGOSY_OP("gather", gather)
    .doc("Entries along an axis, by index.")
    .input("X", "any shape")
    .input("Index", "whole numbers, [n] or [n, 1]")
    .optional_input("Axis", "the axis, where the program computes it")
    .output("Out", "X with n entries along the axis")
    .attr("axis", 0, "the axis")
    .attr("overwrite", true, "an index that occurs more than once gets the gradient of its last occurrence, not the sum")
    .infer_shape([](ShapeContext& context) -> Status {
      if (!context.has_input("Axis")) return infer_gather(context, context.attribute<int32_t>("axis"));
      context.set_output("Out", Shape(context.input("X").shape.size(), -1), context.input("X").dtype);
      return {};
    })
    .function({.signature = "gather(input, index, overwrite=True)",
               .targets = {{"input", "X"}},
               .example = "x = fluid.data('x', [None, 4])\ni = fluid.data('i', [None], 'int64')\ny = fluid.layers.gather(x, i)"});

ARGOSY_OP("index_select",
          [](const OpContext& op) {
            const at::Tensor& x = op.tensor("X");
            const int64_t axis = at::maybe_wrap_dim(op.attr<int32_t>("dim"), x.dim());
            op.set_output("Out", at::index_select(x, axis, flat_index(op, "Index", x, axis)));
          })
    .doc("Entries along an axis, by index; gradients of an index that occurs more than once add up.")
    .input("X", "any shape")
    .input("Index", "whole numbers")
    .output("Out", "X with other entries along the axis")
    .attr("dim", 0, "the axis")
    .infer_shape([](ShapeContext& context) { return infer_gather(context, context.attribute<int32_t>("dim")); });

ARGOSY_OP("gather_nd",
          [](const OpContext& op) {
            const at::Tensor& x = op.tensor("X");
            const at::Tensor index = op.tensor("Index").to(at::kLong);
            const int64_t depth = index.dim() == 0 ? 0 : index.size(-1);
            if (depth < 1 || depth > x.dim())
              op.fail("variable '{}' names {} dimensions of '{}', which has {}", op.input_name("Index"), depth,
                      op.input_name("X"), x.dim());
            c10::List<std::optional<at::Tensor>> positions;
            for (int64_t i = 0; i < depth; ++i) positions.push_back(index.select(-1, i));
            op.set_output("Out", at::index(x, positions), op.input("Index").lod);
          })
    .doc("Entries by position: the last dimension of Index names the first dimensions of X.")
    .input("X", "any shape")
    .input("Index", "whole numbers, [..., k]")
    .output("Out", "Index without its last dimension, then X without its first k")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto &x = context.input("X"), &index = context.input("Index");
      if (index.shape.empty() || index.shape.back() < 1 || index.shape.back() > static_cast<int64_t>(x.shape.size())) {
        return Status::invalid_argument("the last dimension of variable '{}' {} must name 1 to {} dimensions of variable '{}'",
                                        index.name, graph::shape_to_string(index.shape), x.shape.size(), x.name);
      }
      Shape shape(index.shape.begin(), index.shape.end() - 1);
      shape.insert(shape.end(), x.shape.begin() + index.shape.back(), x.shape.end());
      context.set_output("Out", shape.empty() ? Shape{1} : std::move(shape), x.dtype, index.lod_level);
      return {};
    })
    .function(
        {.signature = "gather_nd(input, index, name=None)",
         .targets = {{"input", "X"}},
         .example = "x = fluid.data('x', [3, 4])\ni = fluid.data('i', [None, 2], 'int64')\ny = fluid.layers.gather_nd(x, i)"});

ARGOSY_OP("scatter",
          [](const OpContext& op) {
            const at::Tensor &x = op.tensor("X"), &updates = op.tensor("Updates");
            check_indices(op, "Ids", x.size(0), fmt::format("dimension 0 of variable '{}'", op.input_name("X")));
            const at::Tensor ids = op.tensor("Ids").flatten().to(at::kLong);
            op.set_output("Out", op.attr<bool>("overwrite") ? at::index_put(x, {ids}, updates)
                                                            : at::index_add(at::index_fill(x, 0, ids, 0), 0, ids, updates));
          })
    .doc("X with some rows replaced.")
    .input("X", "any shape")
    .input("Ids", "which rows")
    .input("Updates", "the rows")
    .output("Out", "like X")
    .attr("overwrite", true, "false: rows for the same id add up; true: an id occurs once")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto &x = context.input("X"), &ids = context.input("Ids"), &updates = context.input("Updates");
      if (!ids.shape.empty() && !updates.shape.empty() && ids.shape[0] >= 0 && updates.shape[0] >= 0 &&
          ids.shape[0] != updates.shape[0]) {
        return Status::invalid_argument("variable '{}' has {} ids for the {} rows of variable '{}'", ids.name, ids.shape[0],
                                        updates.shape[0], updates.name);
      }
      context.set_output("Out", x.shape, x.dtype);
      return {};
    })
    .function({.signature = "scatter(input, index, updates, name=None, overwrite=True)",
               .targets = {{"input", "X"}, {"index", "Ids"}}});

// Rows of zeros with a one at the given place; an id outside is an error, or a row of zeros where that is allowed.
void one_hot(const OpContext& op, bool drops_last) {
  const Value& x = op.input("X");
  const int64_t depth = integer(op, "depth", "depth_tensor");
  if (depth < 1) op.fail("depth is {}, expected 1 or more", depth);
  if (drops_last && (x.tensor.dim() == 0 || x.tensor.size(-1) != 1))
    op.fail("variable '{}': the last dimension must have size 1", op.input_name("X"));
  if (!op.attr<bool>("allow_out_of_range")) check_indices(op, "X", depth, "the depth");
  const at::Tensor ids = (drops_last ? x.tensor.squeeze(-1) : x.tensor).to(at::kLong).unsqueeze(-1);
  op.set_output("Out", ids.eq(at::arange(depth, op.options(at::kLong))).to(scalar_type(op.dtype_attr("dtype"))), x.lod);
}

Status infer_one_hot(ShapeContext& context, bool drops_last) {
  const auto& x = context.input("X");
  Shape shape = x.shape;
  if (graph::is_floating(x.dtype))
    return Status::invalid_argument("variable '{}' is {}, expected whole numbers, int64 or int32", x.name,
                                    graph::dtype_name(x.dtype));
  if (drops_last && (shape.empty() || (shape.back() != 1 && shape.back() != -1))) {
    return Status::invalid_argument("variable '{}' has shape {}, expected a last dimension of 1", x.name,
                                    graph::shape_to_string(shape));
  }
  if (drops_last) shape.pop_back();
  shape.push_back(context.has_input("depth_tensor") ? -1 : context.attribute<int32_t>("depth"));
  context.set_output("Out", std::move(shape), context.dtype_attribute("dtype", graph::DType::float32), x.lod_level);
  return {};
}

OpRegistration one_hot_op(const char* type, Kernel kernel) {
  return OpRegistration(type, kernel)
      .doc("Whole numbers as rows of zeros with a one.")
      .optional_input("depth_tensor", "the width, where the program computes it")
      .output("Out", "the rows")
      .attr("depth", 1, "the width of a row")
      .attr("dtype", static_cast<int32_t>(graph::DType::float32), "the element type of Out")
      .attr("allow_out_of_range", false, "a number outside makes a row of zeros")
      .no_gradient();
}
const OpRegistration kOneHot =
    one_hot_op("one_hot", [](const OpContext& op) { one_hot(op, true); })
        .input("X", "whole numbers, [..., 1]")
        .infer_shape([](ShapeContext& context) { return infer_one_hot(context, true); })
        .function({.signature = "one_hot(input, depth, allow_out_of_range=False)",
                   .targets = {{"input", "X"}, {"depth", "depth|depth_tensor"}},
                   .example = "x = fluid.data('x', [None, 1], 'int64')\ny = fluid.layers.one_hot(x, 10)",
                   .stop_gradient = true});
const OpRegistration kOneHot2 = one_hot_op("one_hot_v2", [](const OpContext& op) { one_hot(op, false); })
                                    .input("X", "whole numbers")
                                    .infer_shape([](ShapeContext& context) { return infer_one_hot(context, false); })
                                    .function({.signature = "_one_hot_v2(input, depth, allow_out_of_range=False)",
                                               .targets = {{"input", "X"}, {"depth", "depth|depth_tensor"}},
                                               .example = "x = fluid.data('x', [None], 'int64')\ny = fluid.one_hot(x, 10)"});

}  // namespace
}  // namespace argosy::engine
