// Parts of tensors by bounds along some axes, with or without a step: what x[1:3, ::2] becomes.
#include <ATen/ATen.h>

#include <algorithm>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;
using Shape = std::vector<int64_t>;

constexpr NumberSlots kStarts{.attribute = "starts", .tensor = "StartsTensor", .list = "StartsTensorList"};
constexpr NumberSlots kEnds{.attribute = "ends", .tensor = "EndsTensor", .list = "EndsTensorList"};
constexpr NumberSlots kStrides{.attribute = "strides", .tensor = "StridesTensor", .list = "StridesTensorList"};

// Which entries of an axis are taken: start, start + step, … before end.
struct Cut {
  int64_t start = 0, end = 0, step = 1;
  int64_t count() const {
    return std::max<int64_t>(0, step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step);
  }
};

// Python's rule: negative bounds count from the end, and all are limited to the axis.
Cut cut_of(int64_t start, int64_t end, int64_t step, int64_t size) {
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  return {.start = std::clamp(start < 0 ? start + size : start, low, high),
          .end = std::clamp(end < 0 ? end + size : end, low, high),
          .step = step};
}

bool contains(const Shape& list, int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

at::Tensor taken(const at::Tensor& x, int64_t axis, const Cut& cut) {
  if (cut.step == 1) return x.narrow(axis, cut.start, cut.count());
  if (cut.count() == 0) return x.narrow(axis, 0, 0);
  return x.index_select(axis, at::arange(cut.start, cut.end, cut.step, x.options().dtype(at::kLong).requires_grad(false)));
}

void slice(const OpContext& op, const Shape& starts, const Shape& ends, const Shape& steps) {
  const Value& x = op.input("Input");
  const Shape axes = integer_list(op.desc(), "axes"), dropped = integer_list(op.desc(), "decrease_axis");
  if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size()) {
    op.fail("{} starts, {} ends and {} strides for {} axes", starts.size(), ends.size(), steps.size(), axes.size());
  }
  at::Tensor out = viewable(op, "Input");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0) op.fail("the stride along axis {} is 0", axes[i]);
    const int64_t size = out.size(axes[i]);
    const bool one = contains(dropped, axes[i]);
    const bool last = one && starts[i] == -1 && ends[i] == 0;  // x[-1], as newer versions write it
    const Cut cut = cut_of(starts[i], last ? size : ends[i], steps[i], size);
    if (one && cut.count() != 1) {
      op.fail("index {} is outside variable '{}', which has {} entries along axis {}", starts[i], op.input_name("Input"), size,
              axes[i]);
    }
    out = taken(out, axes[i], cut);
  }
  if (!dropped.empty()) out = out.squeeze(dropped);
  if (out.dim() == 0) out = out.reshape({1});
  const bool rows_stay = !axes.empty() && axes[0] != 0;
  op.set_output("Out", std::move(out), rows_stay ? x.lod : nullptr);
}

Status infer_slice(ShapeContext& context, Shape steps, bool fixed) {
  const auto& x = context.input("Input");
  const Shape axes = integer_list(context.op(), "axes"), starts = integer_list(context.op(), "starts"),
              ends = integer_list(context.op(), "ends"), flags = integer_list(context.op(), "infer_flags"),
              dropped = integer_list(context.op(), "decrease_axis");
  if (steps.empty()) steps.assign(axes.size(), 1);
  if (fixed && (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size())) {
    return Status::invalid_argument("{} starts, {} ends and {} strides for {} axes", starts.size(), ends.size(), steps.size(),
                                    axes.size());
  }
  Shape shape = x.shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    ASSIGN_OR_RETURN(const size_t axis, axis_in(x, axes[i]));
    if (fixed && steps[i] == 0) return Status::invalid_argument("variable '{}': the stride along axis {} is 0", x.name, axes[i]);
    const bool known = fixed && x.shape[axis] >= 0 && (i >= flags.size() || flags[i] != -1);
    shape[axis] = known ? cut_of(starts[i], ends[i], steps[i], x.shape[axis]).count() : -1;
  }
  Shape left;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!contains(dropped, static_cast<int64_t>(i))) left.push_back(shape[i]);
  }
  const bool rows_stay = !axes.empty() && axes[0] != 0;
  context.set_output("Out", left.empty() ? Shape{1} : std::move(left), x.dtype, rows_stay ? x.lod_level : 0);
  return {};
}

OpRegistration slice_op(const char* type, Kernel kernel, const char* doc) {
  return OpRegistration(type, kernel)
      .doc(doc)
      .input("Input", "any shape")
      .optional_input("StartsTensor", "the starts, where the program computes them")
      .optional_input_list("StartsTensorList", "the same, one variable each")
      .optional_input("EndsTensor", "the ends, where the program computes them")
      .optional_input_list("EndsTensorList", "the same, one variable each")
      .output("Out", "the part")
      .attr("axes", std::vector<int32_t>{}, "the axes that are cut")
      .attr("starts", std::vector<int32_t>{}, "negative ones count from the end")
      .attr("ends", std::vector<int32_t>{}, "the same; one beyond the end is the end")
      .attr("infer_flags", std::vector<int32_t>{}, "-1 for an axis whose bounds only a run knows")
      .attr("decrease_axis", std::vector<int32_t>{}, "axes of which one entry is taken and that go");
}

const OpRegistration kSlice =
    slice_op(
        "slice",
        [](const OpContext& op) {
          const Shape starts = integers(op, kStarts);
          slice(op, starts, integers(op, kEnds), Shape(starts.size(), 1));
        },
        "A part of a tensor: from starts[i] up to, without, ends[i] along axes[i].")
        .infer_shape([](ShapeContext& context) {
          return infer_slice(context, {}, fixed_at_build(context, kStarts) && fixed_at_build(context, kEnds));
        });

const OpRegistration kStrided =
    slice_op(
        "strided_slice",
        [](const OpContext& op) { slice(op, integers(op, kStarts), integers(op, kEnds), integers(op, kStrides)); },
        "Every strides[i]-th entry from starts[i] up to, without, ends[i] along axes[i]; backwards where the stride is negative.")
        .optional_input("StridesTensor", "the strides, where the program computes them")
        .optional_input_list("StridesTensorList", "the same, one variable each")
        .attr("strides", std::vector<int32_t>{}, "the distances; not 0")
        .infer_shape([](ShapeContext& context) {
          return infer_slice(
              context, integer_list(context.op(), "strides"),
              fixed_at_build(context, kStarts) && fixed_at_build(context, kEnds) && fixed_at_build(context, kStrides));
        });

}  // namespace
}  // namespace argosy::engine
