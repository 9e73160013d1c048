// Arithmetic that is neither element by element on two tensors nor a reduction: scale, sum, limits, norms, running sums.
#include <ATen/ATen.h>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/op.h"
#include "argosy/graph/function_call.h"

namespace argosy::engine {
namespace {

// A number as the tensor's own element type sees it: whole for whole numbers.
at::Scalar scalar_like(const at::Tensor& x, double value) {
  return at::isIntegralType(x.scalar_type(), true) ? at::Scalar(static_cast<int64_t>(value)) : at::Scalar(value);
}

double number(const OpContext& op, const char* attribute, const char* tensor) {
  return op.has_input(tensor) ? op.tensor(tensor).item().toDouble() : static_cast<double>(op.attr<float>(attribute));
}

ARGOSY_OP("scale",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const at::Scalar factor = scalar_like(x.tensor, number(op, "scale", "ScaleTensor")),
                             bias = scalar_like(x.tensor, op.attr<float>("bias"));
            at::Tensor out = op.attr<bool>("bias_after_scale") ? at::add(at::mul(x.tensor, factor), bias)
                                                               : at::mul(at::add(x.tensor, bias), factor);
            op.set_output("Out", std::move(out), x.lod);
          })
    .doc("scale * x + bias, or scale * (x + bias).")
    .input("X", "any shape")
    .optional_input("ScaleTensor", "the factor, where the program computes it; takes no gradient")
    .output("Out", "like X")
    .attr("scale", 1.0f, "the factor")
    .attr("bias", 0.0f, "what is added")
    .attr("bias_after_scale", true, "add after multiplying")
    .infer_shape(graph::same_shape_as_x)
    .function({.signature = "scale(x, scale=1.0, bias=0.0, bias_after_scale=True, act=None, name=None)",
               .targets = {{"scale", "scale|ScaleTensor"}}});

ARGOSY_OP("sum",
          [](const OpContext& op) {
            at::Tensor total = op.tensor("X");
            for (size_t i = 1; i < op.input_count("X"); ++i)
              total = i == 1 ? at::add(total, op.tensor("X", i)) : total.add_(op.tensor("X", i));
            op.set_output("Out", op.input_count("X") == 1 ? total.clone() : std::move(total), op.input("X").lod);
          })
    .doc("Tensors of one shape, added up.")
    .input_list("X", "tensors of one shape")
    .output("Out", "their sum")
    .infer_shape([](graph::ShapeContext& context) -> Status {
      graph::VarDesc out = context.input("X");
      for (size_t i = 1; i < context.input_count("X"); ++i) {
        const auto& next = context.input("X", i);
        bool fits = next.shape.size() == out.shape.size();
        for (size_t k = 0; fits && k < out.shape.size(); ++k) {
          if (out.shape[k] < 0) out.shape[k] = next.shape[k];
          fits = next.shape[k] < 0 || next.shape[k] == out.shape[k];
        }
        if (!fits) {
          return Status::invalid_argument("variable '{}' {} cannot be added to variable '{}' {}", next.name,
                                          graph::shape_to_string(next.shape), out.name, graph::shape_to_string(out.shape));
        }
      }
      context.set_output_like("Out", out);
      return {};
    })
    .function({.signature = "sum(x)"})
    .function({.signature = "sums(input, out=None)", .targets = {{"input", "X"}}});

// No gradient at the bounds themselves.
ARGOSY_OP("clip",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const double low = number(op, "min", "Min"), high = number(op, "max", "Max");
            if (low > high) op.fail("min {} is above max {}", low, high);
            const bool whole = at::isIntegralType(x.tensor.scalar_type(), true);
            op.set_output("Out",
                          whole ? at::clamp(x.tensor, static_cast<int64_t>(low), static_cast<int64_t>(high))
                                : at::hardtanh(x.tensor, low, high),
                          x.lod);
          })
    .doc("Values limited to [min, max].")
    .input("X", "any shape")
    .optional_input("Min", "the lower limit, where the program computes it")
    .optional_input("Max", "the upper limit, where the program computes it")
    .output("Out", "like X")
    .attr("min", 0.0f, "the lower limit")
    .attr("max", 0.0f, "the upper limit")
    .infer_shape(graph::same_shape_as_x)
    .function({.signature = "clip(x, min, max, name=None)", .targets = {{"min", "min|Min"}, {"max", "max|Max"}}});

ARGOSY_OP("clip_by_norm",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const double limit = op.attr<float>("max_norm");
            if (!(limit > 0)) op.fail("attribute 'max_norm' is {}, expected a number above 0", limit);
            const at::Tensor norm = at::square(x.tensor).sum().sqrt();
            op.set_output("Out", norm.item().toDouble() > limit ? x.tensor * (limit / norm) : x.tensor.clone(), x.lod);
          })
    .doc("X, made shorter where its Euclidean norm is above a limit.")
    .input("X", "any shape")
    .output("Out", "like X")
    .attr("max_norm", 1.0f, "the limit")
    .infer_shape(graph::same_shape_as_x)
    .function({.signature = "clip_by_norm(x, max_norm, name=None)"});

ARGOSY_OP("norm",
          [](const OpContext& op) {
            const at::Tensor& x = op.tensor("X");
            const at::Tensor norm =
                at::sqrt(at::square(x).sum(op.attr<int32_t>("axis"), true) + static_cast<double>(op.attr<float>("epsilon")));
            op.set_output("Norm", norm);
            op.set_output("Out", x / norm);
          })
    .doc("X divided by its Euclidean norm along an axis.")
    .input("X", "any shape")
    .output("Out", "like X")
    .optional_output("Norm", "the norms")
    .attr("axis", -1, "the axis")
    .attr("epsilon", 1e-10f, "added under the root")
    .infer_shape([](graph::ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      ASSIGN_OR_RETURN(const size_t axis, axis_in(x, context.attribute<int32_t>("axis")));
      std::vector<int64_t> norms = x.shape;
      norms[axis] = 1;
      context.set_output("Out", x.shape, x.dtype);
      context.set_output("Norm", std::move(norms), x.dtype);
      return {};
    })
    .function({.signature = "l2_normalize(x, axis, epsilon=1e-12, name=None)",
               .layer = "l2_normalize",
               .prepare = [](graph::FunctionCall& call) {
                 if (call.variable("x").shape().size() == 1) call.op.attributes["axis"] = 0;
                 call.op.attributes.try_emplace("axis", 1);
               }});

ARGOSY_OP("cumsum",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const bool flat = op.attr<bool>("flatten");
            const int64_t axis = flat ? 0 : op.attr<int32_t>("axis");
            const at::Tensor values = flat ? x.tensor.flatten() : x.tensor;
            const bool backwards = op.attr<bool>("reverse");
            const at::Tensor in_order = backwards ? values.flip(axis) : values;
            at::Tensor out = at::cumsum(in_order, axis, in_order.scalar_type());
            if (op.attr<bool>("exclusive")) out = out - in_order;
            op.set_output("Out", backwards ? out.flip(axis) : std::move(out), flat ? nullptr : x.lod);
          })
    .doc("Running sums along an axis.")
    .input("X", "any shape")
    .output("Out", "like X")
    .attr("axis", -1, "the axis")
    .attr("flatten", false, "over all elements as one line")
    .attr("exclusive", false, "without the element itself")
    .attr("reverse", false, "from the end")
    .infer_shape([](graph::ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      if (context.attribute<bool>("flatten")) {
        context.set_output("Out", {product(x.shape, 0, x.shape.size())}, x.dtype);
        return {};
      }
      RETURN_IF_ERROR(axis_in(x, context.attribute<int32_t>("axis")).status());
      context.set_output_like("Out", x);
      return {};
    })
    .function({.signature = "cumsum(x, axis=None, exclusive=None, reverse=None)"});

// In place where X and Out are one variable: a counter that threads share is one number in memory.
ARGOSY_OP("increment",
          [](const OpContext& op) {
            const at::Tensor& x = op.tensor("X");
            if (x.numel() != 1) op.fail("variable '{}' has {} elements, expected 1", op.input_name("X"), x.numel());
            const at::Tensor sum = at::add(x, scalar_like(x, op.attr<float>("step")));
            const bool in_place = op.instruction().find_input("X")->values == op.instruction().find_output("Out")->values;
            const bool kept =
                op.frame().program().values()[static_cast<size_t>(op.instruction().find_output("Out")->values[0])].persistable;
            if (in_place && kept)
              op.write_output("Out", sum);
            else
              op.set_output("Out", sum, op.input("X").lod);
          })
    .doc("A one-element tensor plus a number.")
    .input("X", "one element")
    .output("Out", "may be X itself")
    .attr("step", 1.0f, "the number")
    .infer_shape([](graph::ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      if (product(x.shape, 0, x.shape.size()) != 1) {
        return Status::invalid_argument("variable '{}' has shape {}, expected one element", x.name,
                                        graph::shape_to_string(x.shape));
      }
      context.set_output_like("Out", x);
      return {};
    })
    .function({.signature = "increment(x, value=1.0, in_place=True)",
               .targets = {{"value", "step"}, {"in_place", "*the result is x itself"}},
               .example = "x = fluid.layers.fill_constant([1], 'int64', 0)\ny = fluid.layers.increment(x)",
               .prepare = [](graph::FunctionCall& call) {
                 if (call.value<bool>("in_place", true)) call.outputs["Out"] = call.variable("x");
               }});

}  // namespace
}  // namespace argosy::engine
