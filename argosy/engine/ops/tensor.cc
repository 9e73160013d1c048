// Operators that copy, convert, describe and make tensors: cast, assign, shape, size, like-constants, ranges.
#include <ATen/ATen.h>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"
#include "argosy/graph/function_call.h"

namespace argosy::engine {
namespace {

using graph::DType;
using graph::ShapeContext;

// A copy even where the type is the same: a later operator may change X in place.
ARGOSY_OP("cast",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            op.set_output("Out", x.tensor.to(scalar_type(op.dtype_attr("out_dtype")), false, true), x.lod);
          })
    .doc("The elements as another type; fractions are cut off.")
    .input("X", "any shape")
    .output("Out", "like X, of the other type")
    .attr("in_dtype", static_cast<int32_t>(DType::float32), "no effect: X has its type")
    .attr("out_dtype", static_cast<int32_t>(DType::float32), "the type")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      context.set_output("Out", x.shape, context.dtype_attribute("out_dtype", x.dtype), x.lod_level);
      return Status();
    })
    .function({.signature = "cast(x, dtype)", .targets = {{"dtype", "out_dtype"}}, .prepare = [](graph::FunctionCall& call) {
                 call.op.attributes["in_dtype"] = static_cast<int32_t>(call.variable("x").dtype());
               }});

ARGOSY_OP("assign", [](const OpContext& op) { op.set_output("Out", op.tensor("X").clone(), op.input("X").lod); })
    .doc("A copy.")
    .input("X", "any shape")
    .output("Out", "like X")
    .infer_shape(graph::same_shape_as_x);

ARGOSY_OP("shape",
          [](const OpContext& op) {
            const std::vector<int64_t> sizes = op.tensor("Input").sizes().vec();
            op.set_output("Out", at::tensor(sizes, at::kInt).to(op.device()));
          })
    .doc("The sizes of a tensor.")
    .input("Input", "any shape")
    .output("Out", "one number for each dimension, int32")
    .infer_shape([](ShapeContext& context) {
      context.set_output("Out", {static_cast<int64_t>(context.input("Input").shape.size())}, DType::int32);
      return Status();
    })
    .no_gradient()
    .function({.signature = "shape(input)"});

ARGOSY_OP("size",
          [](const OpContext& op) { op.set_output("Out", at::full({1}, op.tensor("Input").numel(), op.options(at::kLong))); })
    .doc("The number of elements.")
    .input("Input", "any shape")
    .output("Out", "[1], int64")
    .infer_shape([](ShapeContext& context) {
      context.set_output("Out", {1}, DType::int64);
      return Status();
    })
    .no_gradient()
    .function({.signature = "size(input)"});

ARGOSY_OP("fill_any_like",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const auto type = op.attr<int32_t>("dtype") < 0 ? x.tensor.scalar_type() : scalar_type(op.dtype_attr("dtype"));
            op.set_output("Out", at::full(x.tensor.sizes(), static_cast<double>(op.attr<float>("value")), op.options(type)),
                          x.lod);
          })
    .doc("One value, in the shape of X.")
    .input("X", "gives the shape")
    .output("Out", "like X")
    .attr("value", 0.0f, "the value")
    .attr("dtype", -1, "the element type; -1: X's")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      context.set_output("Out", x.shape,
                         context.attribute<int32_t>("dtype") < 0 ? x.dtype : context.dtype_attribute("dtype", x.dtype),
                         x.lod_level);
      return Status();
    })
    .no_gradient();

ARGOSY_OP("fill_zeros_like", [](const OpContext& op) { op.set_output("Out", at::zeros_like(op.tensor("X")), op.input("X").lod); })
    .doc("Zeros, in the shape of X.")
    .input("X", "gives the shape")
    .output("Out", "like X")
    .infer_shape(graph::same_shape_as_x)
    .no_gradient();

at::Scalar one_number(const OpContext& op, std::string_view slot) {
  const at::Tensor& value = op.tensor(slot);
  if (value.numel() != 1)
    op.fail("variable '{}' (input '{}') has {} values, expected 1", op.input_name(slot), slot, value.numel());
  return value.item();
}

Status infer_line(ShapeContext& context) {
  context.set_output("Out", {-1}, context.input("Start").dtype);
  return {};
}

ARGOSY_OP("range",
          [](const OpContext& op) {
            const at::Scalar step = one_number(op, "Step");
            if (step.toDouble() == 0) op.fail("variable '{}' is 0: a range needs a step", op.input_name("Step"));
            op.set_output("Out", at::arange(one_number(op, "Start"), one_number(op, "End"), step, op.tensor("Start").options()));
          })
    .doc("Numbers from Start up to, without, End.")
    .input("Start", "the first")
    .input("End", "the limit")
    .input("Step", "the distance")
    .output("Out", "one dimension, of Start's type")
    .infer_shape(infer_line)
    .no_gradient();

ARGOSY_OP("linspace",
          [](const OpContext& op) {
            const int64_t count = one_number(op, "Num").toLong();
            if (count < 1) op.fail("variable '{}' is {}, expected 1 or more", op.input_name("Num"), count);
            op.set_output("Out",
                          at::linspace(one_number(op, "Start"), one_number(op, "Stop"), count, op.tensor("Start").options()));
          })
    .doc("Evenly spaced numbers from Start to Stop, both included.")
    .input("Start", "the first")
    .input("Stop", "the last")
    .input("Num", "how many")
    .output("Out", "one dimension, of Start's type")
    .infer_shape(infer_line)
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
