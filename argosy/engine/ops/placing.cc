// Entries put at places, and the memory of a tensor read in another form.
#include <ATen/ATen.h>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;

ARGOSY_OP("index_put",
          [](const OpContext& op) {
            c10::List<std::optional<at::Tensor>> places;
            for (const at::Tensor& one : op.tensors("indices"))
              places.push_back(one.scalar_type() == at::kBool ? one : one.to(at::kLong));
            op.set_output("out", at::index_put(op.tensor("x"), places, op.tensor("value"), op.attr<bool>("accumulate")));
          })
    .doc("x with `value` at the places that `indices` name, one tensor per axis.")
    .input("x", "any shape")
    .input_list("indices", "whole numbers, or bools")
    .input("value", "what is put there")
    .output("out", "like x")
    .attr("accumulate", false, "added to what is there")
    .infer_shape(graph::same_shape_as("x", "out"));

ARGOSY_OP("fill_diagonal_tensor",
          [](const OpContext& op) {
            op.set_output("Out", at::diagonal_scatter(op.tensor("X"), op.tensor("Y"), op.attr<int64_t>("offset"),
                                                      op.attr<int32_t>("dim1"), op.attr<int32_t>("dim2")));
          })
    .doc("X with Y on a diagonal.")
    .input("X", "any shape")
    .input("Y", "the diagonal, behind the other axes")
    .output("Out", "like X")
    .attr("offset", int64_t{0}, "how far above the main diagonal")
    .attr("dim1", 0, "its first axis")
    .attr("dim2", 1, "its second axis")
    .infer_shape(graph::same_shape_as_x);

ARGOSY_OP("renorm",
          [](const OpContext& op) {
            op.set_output("Out",
                          at::renorm(op.tensor("X"), op.attr<float>("p"), op.attr<int32_t>("axis"), op.attr<float>("max_norm")));
          })
    .doc("X with the parts along an axis scaled down to a norm of at most max_norm.")
    .input("X", "any shape")
    .output("Out", "like X")
    .attr("p", 2.0f, "which norm")
    .attr("axis", 0, "the axis")
    .attr("max_norm", 1.0f, "the limit")
    .infer_shape([](ShapeContext& context) -> Status {
      RETURN_IF_ERROR(axis_in(context.input("X"), context.attribute<int32_t>("axis")).status());
      return graph::same_shape_as_x(context);
    });

// A view of the whole tensor; its entries lie one behind the other.
ARGOSY_OP("as_strided",
          [](const OpContext& op) {
            const at::Tensor x = op.tensor("input").contiguous();
            const std::vector<int64_t> dims = integer_list(op.desc(), "dims"), stride = integer_list(op.desc(), "stride");
            const int64_t offset = op.attr<int64_t>("offset");
            if (dims.size() != stride.size()) op.fail("there are {} sizes and {} strides", dims.size(), stride.size());
            int64_t last = offset;
            for (size_t i = 0; i < dims.size(); ++i) {
              if (dims[i] < 1 || stride[i] < 0)
                op.fail("size {} and stride {} of axis {} are below 1 and 0", dims[i], stride[i], i);
              last += (dims[i] - 1) * stride[i];
            }
            if (offset < 0 || last >= x.numel())
              op.fail("entry {} is asked for, but '{}' has {}", last, op.input_name("input"), x.numel());
            op.set_output("out", at::as_strided(x, dims, stride, offset).clone());
          })
    .doc("The entries with other sizes: entry i of an axis is i * stride places behind `offset`.")
    .input("input", "any shape")
    .output("out", "of the sizes")
    .attr("dims", std::vector<int64_t>{}, "the sizes")
    .attr("stride", std::vector<int64_t>{}, "one per size")
    .attr("offset", int64_t{0}, "where it begins")
    .infer_shape([](ShapeContext& context) -> Status {
      context.set_output("out", integer_list(context.op(), "dims"), context.input("input").dtype);
      return {};
    });

std::string no_windows(int64_t size, int64_t step, int64_t entries, const std::string& name, int64_t axis) {
  return fmt::format("windows of {} entries, {} apart, do not fit the {} of '{}' along axis {}", size, step, entries, name, axis);
}

ARGOSY_OP("tensor_unfold",
          [](const OpContext& op) {
            const at::Tensor& x = op.tensor("input");
            const int64_t axis = op.attr<int64_t>("axis"), size = op.attr<int64_t>("size"), step = op.attr<int64_t>("step");
            if (step < 1 || size < 0 || size > x.size(axis))
              op.fail("{}", no_windows(size, step, x.size(axis), op.input_name("input"), axis));
            op.set_output("out", x.unfold(axis, size, step).clone());
          })
    .doc("Windows along an axis, as a new last axis.")
    .input("input", "any shape")
    .output("out", "the windows")
    .attr("axis", int64_t{0}, "the axis")
    .attr("size", int64_t{1}, "of a window")
    .attr("step", int64_t{1}, "from window to window")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("input");
      ASSIGN_OR_RETURN(const size_t axis, axis_in(x, context.attribute<int64_t>("axis")));
      const auto size = context.attribute<int64_t>("size"), step = context.attribute<int64_t>("step");
      std::vector<int64_t> shape = x.shape;
      if (step < 1) return Status::invalid_argument("step is {}, expected 1 or more", step);
      if (size < 0 || (shape[axis] >= 0 && size > shape[axis]))
        return Status::invalid_argument("{}", no_windows(size, step, shape[axis], x.name, static_cast<int64_t>(axis)));
      if (shape[axis] >= 0) shape[axis] = (shape[axis] - size) / step + 1;
      shape.push_back(size);
      context.set_output("out", std::move(shape), x.dtype);
      return {};
    });

// All tensors of a list as one: stacked along a new axis, or joined along one that they have.
ARGOSY_OP("tensor_array_to_tensor",
          [](const OpContext& op) {
            const Value& list = op.input("X");
            if (list.array == nullptr || list.array->empty())
              op.fail("'{}' is no list of tensors, or has none (create_array, array_write)", op.input_name("X"));
            const int64_t axis = op.attr<int32_t>("axis");
            const bool stacked = op.attr<bool>("use_stack");
            std::vector<at::Tensor> parts;
            std::vector<int32_t> sizes;
            for (size_t i = 0; i < list.array->size(); ++i) {
              const at::Tensor& part = (*list.array)[i].tensor;
              if (!part.defined()) op.fail("list '{}' has no tensor at {}", op.input_name("X"), i);
              parts.push_back(part);
              sizes.push_back(stacked ? 1 : static_cast<int32_t>(part.size(axis)));
            }
            op.set_output("Out", stacked ? at::stack(parts, axis) : at::cat(parts, axis));
            op.set_output("OutIndex", at::tensor(sizes, op.options(at::kInt)));
          })
    .doc("The tensors of a list as one.")
    .input("X", "the list")
    .output("Out", "stacked or joined")
    .optional_output("OutIndex", "the size of each along the axis")
    .attr("axis", 0, "the axis")
    .attr("use_stack", false, "a new axis")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");  // of one tensor
      std::vector<int64_t> shape = x.shape;
      const int64_t axis = context.attribute<int32_t>("axis");
      const bool stacked = context.attribute<bool>("use_stack");
      const auto rank = static_cast<int64_t>(shape.size()) + (stacked ? 1 : 0);
      if (axis < -rank || axis >= rank) return Status::invalid_argument("axis {} is none of the {} of '{}'", axis, rank, x.name);
      const int64_t place = axis < 0 ? axis + rank : axis;
      if (stacked)
        shape.insert(shape.begin() + place, -1);
      else
        shape[static_cast<size_t>(place)] = -1;
      context.set_output("Out", std::move(shape), x.dtype);
      context.set_output("OutIndex", {-1}, graph::DType::int32);
      return {};
    });

}  // namespace
}  // namespace argosy::engine
