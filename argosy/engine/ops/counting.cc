// How often values occur, which are the most frequent, and the largest or smallest so far.
#include <ATen/ATen.h>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::DType;
using graph::ShapeContext;

ARGOSY_OP("histogram",
          [](const OpContext& op) {
            const int64_t bins = op.attr<int64_t>("bins"), low = op.attr<int32_t>("min"), high = op.attr<int32_t>("max");
            if (bins < 1) op.fail("attribute 'bins' is {}, expected 1 or more", bins);
            if (low > high) op.fail("min {} is above max {}", low, high);
            op.set_output("Out", at::histc(op.tensor("X").to(at::kFloat), bins, low, high).to(at::kLong));
          })
    .doc("How many entries fall into each of `bins` equal intervals.")
    .input("X", "any shape")
    .output("Out", "[bins], int64")
    .attr("bins", int64_t{100}, "how many intervals")
    .attr("min", 0, "where the first begins; with max 0: the smallest and the largest entry")
    .attr("max", 0, "where the last ends")
    .no_gradient()
    .infer_shape([](ShapeContext& context) -> Status {
      context.set_output("Out", {context.attribute<int64_t>("bins")}, DType::int64);
      return {};
    });

ARGOSY_OP("bincount",
          [](const OpContext& op) {
            const at::Tensor& x = op.tensor("X");
            if (x.dim() != 1 || (x.numel() > 0 && x.min().item<int64_t>() < 0))
              op.fail("'{}' has shape {}, expected one axis of whole numbers, 0 or more", op.input_name("X"),
                      graph::shape_to_string(x.sizes().vec()));
            const int64_t least = op.attr<int32_t>("minlength");
            op.set_output("Out", op.has_input("Weights")
                                     ? at::bincount(x, op.tensor("Weights"), least).to(op.tensor("Weights").scalar_type())
                                     : at::bincount(x, {}, least));
          })
    .doc("How often each whole number from 0 on occurs, or the sum of its weights.")
    .input("X", "whole numbers, one axis")
    .optional_input("Weights", "one per entry")
    .output("Out", "as long as the largest entry asks")
    .attr("minlength", 0, "the least number of counts")
    .no_gradient()
    .infer_shape([](ShapeContext& context) -> Status {
      context.set_output("Out", {-1}, context.has_input("Weights") ? context.input("Weights").dtype : DType::int64);
      return {};
    });

template <bool largest>
OpRegistration running_extreme(const char* type, const char* doc) {
  return OpRegistration(type,
                        [](const OpContext& op) {
                          const at::Tensor& x = op.tensor("x");
                          const int64_t axis = op.attr<int32_t>("axis");
                          auto found = largest ? at::cummax(x, axis) : at::cummin(x, axis);
                          op.set_output("out", std::get<0>(found), op.input("x").lod);
                          op.set_output("indices", std::get<1>(found).to(scalar_type(op.dtype_attr("dtype"))));
                        })
      .doc(doc)
      .input("x", "any shape")
      .output("out", "like x")
      .output("indices", "where it is")
      .attr("axis", -1, "the axis")
      .attr("dtype", static_cast<int32_t>(DType::int64), "of the indices")
      .infer_shape([](ShapeContext& context) -> Status {
        const auto& x = context.input("x");
        RETURN_IF_ERROR(axis_in(x, context.attribute<int32_t>("axis")).status());
        context.set_output_like("out", x);
        context.set_output("indices", x.shape, context.dtype_attribute("dtype", DType::int64));
        return {};
      });
}
const OpRegistration kCummax = running_extreme<true>("cummax", "The largest entry up to each one along an axis.");
const OpRegistration kCummin = running_extreme<false>("cummin", "The smallest entry up to each one along an axis.");

ARGOSY_OP("mode",
          [](const OpContext& op) {
            auto [values, places] = at::mode(op.tensor("X"), op.attr<int32_t>("axis"), op.attr<bool>("keepdim"));
            op.set_output("Out", values.dim() == 0 ? values.reshape({1}) : values);
            op.set_output("Indices", places.dim() == 0 ? places.reshape({1}) : places);
          })
    .doc("The most frequent value along an axis, and a position of it.")
    .input("X", "any shape")
    .output("Out", "X without the axis")
    .output("Indices", "where, int64")
    .attr("axis", -1, "the axis")
    .attr("keepdim", false, "keep the axis, with size 1")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      ASSIGN_OR_RETURN(const size_t axis, axis_in(x, context.attribute<int32_t>("axis")));
      std::vector<int64_t> shape = x.shape;
      if (context.attribute<bool>("keepdim"))
        shape[axis] = 1;
      else
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
      if (shape.empty()) shape = {1};
      context.set_output("Out", shape, x.dtype);
      context.set_output("Indices", std::move(shape), DType::int64);
      return {};
    });

// The axis of "unique_consecutive": none, or one.
std::optional<int64_t> run_axis(const graph::OpDesc& op) {
  const std::vector<int64_t> axes = integer_list(op, "axis");
  return axes.empty() ? std::nullopt : std::optional(axes[0]);
}

ARGOSY_OP("unique_consecutive",
          [](const OpContext& op) {
            const auto axis = run_axis(op.desc());
            auto [values, places, counts] = axis ? at::unique_dim_consecutive(op.tensor("X"), *axis, true, true)
                                                 : at::unique_consecutive(op.tensor("X"), true, true);
            const at::ScalarType type = scalar_type(op.dtype_attr("dtype"));
            op.set_output("Out", values);
            op.set_output("Index", places.reshape({-1}).to(type));
            op.set_output("Counts", counts.to(type));
          })
    .doc("The entries without those that equal the one before.")
    .input("X", "any shape")
    .output("Out", "the first of each run")
    .optional_output("Index", "which run each entry is in")
    .optional_output("Counts", "how long each run is")
    .attr("axis", std::vector<int32_t>{}, "compare slices along this axis; none: all entries as one line")
    .attr("dtype", static_cast<int32_t>(DType::int64), "of the whole numbers")
    .attr("return_inverse", false, "Index is wanted")
    .attr("return_counts", false, "Counts is wanted")
    .no_gradient()
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      const auto axis = run_axis(context.op());
      std::vector<int64_t> shape = {-1};
      if (axis) {
        ASSIGN_OR_RETURN(const size_t along, axis_in(x, *axis));
        shape = x.shape;
        shape[along] = -1;
      }
      const DType type = context.dtype_attribute("dtype", DType::int64);
      context.set_output("Out", std::move(shape), x.dtype);
      context.set_output("Index", {-1}, type);
      context.set_output("Counts", {-1}, type);
      return {};
    });

}  // namespace
}  // namespace argosy::engine
