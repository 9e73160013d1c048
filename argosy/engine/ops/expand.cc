// Operators that repeat elements along dimensions, by a count or up to a shape.
#include <ATen/ATen.h>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;
using Shape = std::vector<int64_t>;

void set_expanded(const OpContext& op, at::Tensor out) {
  const Value& x = op.input("X");
  const bool same_rows = x.tensor.dim() == out.dim() && out.dim() > 0 && x.tensor.size(0) == out.size(0);
  op.set_output("Out", std::move(out), same_rows ? x.lod : nullptr);
}

// X repeated times[i] times along dimension i; missing counts, in front, are 1.
void repeat(const OpContext& op, Shape times) {
  const at::Tensor& x = op.tensor("X");
  for (int64_t count : times) {
    if (count <= 0) op.fail("variable '{}' is to be repeated {} times, expected 1 or more", op.input_name("X"), count);
  }
  if (static_cast<int64_t>(times.size()) < x.dim()) times.insert(times.begin(), static_cast<size_t>(x.dim()) - times.size(), 1);
  set_expanded(op, x.repeat(times));
}

Status infer_repeat(ShapeContext& context, const NumberSlots& slots) {
  const auto& x = context.input("X");
  Shape times = integers_at_build(context, slots), shape = x.shape;
  if (times.size() < shape.size()) times.insert(times.begin(), shape.size() - times.size(), 1);
  shape.insert(shape.begin(), times.size() - shape.size(), 1);
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = shape[i] < 0 || times[i] < 0 ? -1 : shape[i] * times[i];
  const bool same_rows = shape.size() == x.shape.size() && !shape.empty() && shape[0] == x.shape[0];
  context.set_output("Out", std::move(shape), x.dtype, same_rows ? x.lod_level : 0);
  return {};
}

// Out as large as `shape`; dimensions of X with size 1, or that X lacks in front, are repeated.
Status infer_to_shape(ShapeContext& context, Shape shape) {
  const auto& x = context.input("X");
  if (shape.size() < x.shape.size()) {
    return Status::invalid_argument("variable '{}' {} has more dimensions than {}", x.name, graph::shape_to_string(x.shape),
                                    graph::shape_to_string(shape));
  }
  const size_t more = shape.size() - x.shape.size();
  for (size_t i = more; i < shape.size(); ++i) {
    const int64_t size = x.shape[i - more];
    if (shape[i] == -1) shape[i] = size == 1 ? -1 : size;
    if (size > 1 && shape[i] > 0 && shape[i] != size) {
      return Status::invalid_argument("variable '{}' {} cannot be expanded to {}", x.name, graph::shape_to_string(x.shape),
                                      graph::shape_to_string(shape));
    }
  }
  const bool same_rows = more == 0 && !shape.empty() && shape[0] == x.shape[0];
  context.set_output("Out", std::move(shape), x.dtype, same_rows ? x.lod_level : 0);
  return {};
}

constexpr NumberSlots kTimes{.attribute = "expand_times", .tensor = "ExpandTimes", .list = "expand_times_tensor"};
constexpr NumberSlots kRepeats{.attribute = "repeat_times", .tensor = "RepeatTimes", .list = "repeat_times_tensor"};
constexpr NumberSlots kExpandShape{.attribute = "shape", .tensor = "Shape", .list = "expand_shapes_tensor"};

ARGOSY_OP("expand", [](const OpContext& op) { repeat(op, integers(op, kTimes)); })
    .doc("X repeated along its dimensions.")
    .input("X", "any shape")
    .optional_input("ExpandTimes", "the counts, where the program computes them")
    .optional_input_list("expand_times_tensor", "the same, one variable a dimension")
    .output("Out", "the repeated tensor")
    .attr("expand_times", std::vector<int32_t>{}, "how often, for each dimension")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      const size_t count = integer_list(context.op(), "expand_times").size();
      if (fixed_at_build(context, kTimes) && count != x.shape.size()) {
        return Status::invalid_argument("expand_times has {} counts, but variable '{}' {} has {} dimensions", count, x.name,
                                        graph::shape_to_string(x.shape), x.shape.size());
      }
      return infer_repeat(context, kTimes);
    });

ARGOSY_OP("tile", [](const OpContext& op) { repeat(op, integers(op, kRepeats)); })
    .doc("X repeated along its dimensions; the counts may be fewer or more than these.")
    .input("X", "any shape")
    .optional_input("RepeatTimes", "the counts, where the program computes them")
    .optional_input_list("repeat_times_tensor", "the same, one variable a dimension")
    .output("Out", "the repeated tensor")
    .attr("repeat_times", std::vector<int32_t>{}, "how often, for the last dimensions")
    .infer_shape([](ShapeContext& context) { return infer_repeat(context, kRepeats); });

ARGOSY_OP("expand_as",
          [](const OpContext& op) {
            const at::Tensor &x = op.tensor("X"), &target = op.tensor("target_tensor");
            Shape times;
            for (int64_t i = 0; i < x.dim(); ++i) {
              if (target.dim() != x.dim() || x.size(i) == 0 || target.size(i) % x.size(i) != 0) {
                op.fail("variable '{}' {} cannot be repeated to fill {}", op.input_name("X"),
                        graph::shape_to_string(x.sizes().vec()), graph::shape_to_string(target.sizes().vec()));
              }
              times.push_back(target.size(i) / x.size(i));
            }
            op.set_output("Out", x.repeat(times));
          })
    .doc("X repeated until it is as large as another tensor.")
    .input("X", "any shape")
    .input("target_tensor", "its sizes are multiples of X's")
    .output("Out", "as large as the target")
    .infer_shape([](ShapeContext& context) {
      context.set_output("Out", context.input("target_tensor").shape, context.input("X").dtype);
      return Status();
    })
    .function({.signature = "expand_as(x, target_tensor, name=None)"});

ARGOSY_OP("expand_v2", [](const OpContext& op) { set_expanded(op, viewable(op, "X").expand(integers(op, kExpandShape))); })
    .doc("X broadcast to a shape.")
    .input("X", "any shape")
    .optional_input("Shape", "the shape, where the program computes it")
    .optional_input_list("expand_shapes_tensor", "the same, one variable a dimension")
    .output("Out", "the broadcast tensor")
    .attr("shape", std::vector<int32_t>{}, "the shape; -1: as in X")
    .infer_shape([](ShapeContext& context) { return infer_to_shape(context, integers_at_build(context, kExpandShape)); });

ARGOSY_OP("expand_as_v2",
          [](const OpContext& op) {
            set_expanded(op, viewable(op, "X").expand(op.has_input("Y") ? op.tensor("Y").sizes().vec()
                                                                        : integer_list(op.desc(), "target_shape")));
          })
    .doc("X broadcast to the shape of another tensor.")
    .input("X", "any shape")
    .optional_input("Y", "has the shape")
    .output("Out", "the broadcast tensor")
    .attr("target_shape", std::vector<int32_t>{}, "the shape where there is no Y")
    .infer_shape([](ShapeContext& context) {
      return infer_to_shape(context,
                            context.has_input("Y") ? context.input("Y").shape : integer_list(context.op(), "target_shape"));
    });

}  // namespace
}  // namespace argosy::engine
