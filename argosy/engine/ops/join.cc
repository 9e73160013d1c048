// Operators that put tensors together and take them apart: concat, stack, split, unstack, pad, reverse. Slices are in slice.cc.
#include <ATen/ATen.h>

#include <algorithm>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;
using Shape = std::vector<int64_t>;

// --- concat and stack

// The boundaries of sequences that follow each other; none where an input has none or another number of levels.
LodPtr joined_lod(const OpContext& op) {
  const LodPtr first = op.input("X").lod;
  if (first == nullptr) return nullptr;
  Lod joined = *first;
  for (size_t i = 1; i < op.input_count("X"); ++i) {
    const LodPtr next = op.input("X", i).lod;
    if (next == nullptr || next->size() != joined.size()) return nullptr;
    for (size_t level = 0; level < joined.size(); ++level) {
      const int64_t end = joined[level].back();
      for (size_t k = 1; k < (*next)[level].size(); ++k) joined[level].push_back(end + (*next)[level][k]);
    }
  }
  return std::make_shared<const Lod>(std::move(joined));
}

ARGOSY_OP("concat",
          [](const OpContext& op) {
            const at::Tensor& first = op.tensor("X");
            const int64_t axis = integer(op, "axis", "AxisTensor");
            const bool along_rows = axis == 0 || axis == -first.dim();
            op.set_output("Out", at::cat(op.tensors("X"), axis), along_rows ? joined_lod(op) : op.input("X").lod);
          })
    .doc("Tensors one after the other along an axis.")
    .input_list("X", "tensors that agree in all other dimensions")
    .optional_input("AxisTensor", "the axis, where the program computes it")
    .output("Out", "all of them")
    .attr("axis", 0, "the axis; a negative one counts from the end")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& first = context.input("X");
      Shape shape = first.shape;
      if (context.has_input("AxisTensor")) {
        std::fill(shape.begin(), shape.end(), -1);
        context.set_output("Out", std::move(shape), first.dtype, first.lod_level);
        return {};
      }
      ASSIGN_OR_RETURN(const size_t axis, axis_in(first, context.attribute<int32_t>("axis")));
      for (size_t i = 1; i < context.input_count("X"); ++i) {
        const auto& next = context.input("X", i);
        for (size_t k = 0; k < shape.size(); ++k) {
          const int64_t size = k < next.shape.size() ? next.shape[k] : 0;
          if (next.shape.size() != shape.size() || (k != axis && size >= 0 && shape[k] >= 0 && size != shape[k])) {
            return Status::invalid_argument("variable '{}' {} and variable '{}' {} cannot be joined along axis {}", first.name,
                                            graph::shape_to_string(first.shape), next.name, graph::shape_to_string(next.shape),
                                            axis);
          }
          if (k == axis)
            shape[k] = shape[k] < 0 || size < 0 ? -1 : shape[k] + size;
          else if (shape[k] < 0)
            shape[k] = size;
        }
      }
      context.set_output("Out", std::move(shape), first.dtype, first.lod_level);
      return {};
    })
    .function({.signature = "concat(input, axis=0, name=None)", .targets = {{"input", "X"}, {"axis", "axis|AxisTensor"}}});

ARGOSY_OP("stack",
          [](const OpContext& op) {
            op.set_output("Y", at::stack(op.tensors("X"), op.attr<int32_t>("axis")), op.input("X").lod);
          })
    .doc("Tensors of one shape along a new axis.")
    .input_list("X", "tensors of one shape")
    .output("Y", "with one dimension more")
    .attr("axis", 0, "where the new dimension is; a negative one counts from the end")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& first = context.input("X");
      const auto rank = static_cast<int64_t>(first.shape.size()) + 1;
      const int64_t axis = context.attribute<int32_t>("axis");
      if (axis < -rank || axis >= rank)
        return Status::invalid_argument("axis {} is outside the {} dimensions of the result", axis, rank);
      Shape shape = first.shape;
      shape.insert(shape.begin() + (axis < 0 ? axis + rank : axis), static_cast<int64_t>(context.input_count("X")));
      context.set_output("Y", std::move(shape), first.dtype, first.lod_level);
      return {};
    })
    .function({.signature = "stack(x, axis=0)"});

// --- split and unstack

ARGOSY_OP("unstack",
          [](const OpContext& op) {
            const std::vector<at::Tensor> parts = viewable(op, "X").unbind(op.attr<int32_t>("axis"));
            if (parts.size() != op.output_count("Y"))
              op.fail("variable '{}' gives {} parts, expected {}", op.input_name("X"), parts.size(), op.output_count("Y"));
            for (size_t i = 0; i < parts.size(); ++i)
              op.set_output("Y", parts[i].dim() == 0 ? parts[i].reshape({1}) : parts[i], nullptr, i);
          })
    .doc("The entries along an axis, one by one.")
    .input("X", "any shape")
    .output_list("Y", "each without the axis")
    .attr("axis", 0, "the axis")
    .attr("num", 0, "its size")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      ASSIGN_OR_RETURN(const size_t axis, axis_in(x, context.attribute<int32_t>("axis")));
      if (x.shape[axis] >= 0 && x.shape[axis] != static_cast<int64_t>(context.output_count("Y"))) {
        return Status::invalid_argument("variable '{}' {} has {} entries along axis {}, but there are {} outputs", x.name,
                                        graph::shape_to_string(x.shape), x.shape[axis], axis, context.output_count("Y"));
      }
      Shape shape = x.shape;
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
      if (shape.empty()) shape = {1};
      for (size_t i = 0; i < context.output_count("Y"); ++i) context.set_output("Y", shape, x.dtype, 0, i);
      return {};
    });

constexpr NumberSlots kSections{.attribute = "sections", .tensor = "", .list = "SectionsTensorList"};

// The sizes of the parts of something that has `size` entries (-1: unknown); one section may be -1, which is what is left.
Result<Shape> section_sizes(int64_t size, Shape sections, size_t count, const std::string& what) {
  if (sections.empty()) {
    if (count == 0 || (size >= 0 && size % static_cast<int64_t>(count) != 0)) {
      return Status::invalid_argument("{} cannot be split into {} equal parts", what, count);
    }
    return Shape(count, size < 0 ? -1 : size / static_cast<int64_t>(count));
  }
  int64_t known = 0;
  for (int64_t section : sections) known += std::max<int64_t>(section, 0);
  const auto open = std::find(sections.begin(), sections.end(), -1);
  if (size >= 0 && (open == sections.end() ? known != size : known > size)) {
    return Status::invalid_argument("{} cannot be split into sections {}, which have {} entries", what,
                                    graph::shape_to_string(sections), known);
  }
  if (open != sections.end() && size >= 0) *open = size - known;
  return sections;
}

ARGOSY_OP("split",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const int64_t axis = at::maybe_wrap_dim(integer(op, "axis", "AxisTensor"), x.tensor.dim());
            auto sizes = section_sizes(
                x.tensor.size(axis), integers(op, kSections), op.output_count("Out"),
                fmt::format("variable '{}' with {} entries along axis {}", op.input_name("X"), x.tensor.size(axis), axis));
            if (!sizes.ok()) throw KernelError(sizes.status());
            const std::vector<at::Tensor> parts = viewable(op, "X").split_with_sizes(*sizes, axis);
            for (size_t i = 0; i < parts.size(); ++i) op.set_output("Out", parts[i], axis == 0 ? nullptr : x.lod, i);
          })
    .doc("A tensor cut along an axis.")
    .input("X", "any shape")
    .optional_input("AxisTensor", "the axis, where the program computes it")
    .optional_input_list("SectionsTensorList", "the sizes of the parts, where the program computes them")
    .output_list("Out", "the parts")
    .attr("axis", 0, "the axis; a negative one counts from the end")
    .attr("num", 0, "the number of equal parts, or 0")
    .attr("sections", std::vector<int32_t>{}, "the sizes of the parts; one may be -1: what is left")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      const size_t count = context.output_count("Out");
      Shape shape = x.shape;
      if (context.has_input("AxisTensor")) {
        std::fill(shape.begin(), shape.end(), -1);
        for (size_t i = 0; i < count; ++i) context.set_output("Out", shape, x.dtype, 0, i);
        return {};
      }
      ASSIGN_OR_RETURN(const size_t axis, axis_in(x, context.attribute<int32_t>("axis")));
      const Shape sections = integer_list(context.op(), "sections");
      Shape sizes = sections;
      if (fixed_at_build(context, kSections)) {
        ASSIGN_OR_RETURN(
            sizes, section_sizes(x.shape[axis], sections, count,
                                 fmt::format("variable '{}' {} along axis {}", x.name, graph::shape_to_string(x.shape), axis)));
      }
      if (sizes.size() != count) return Status::invalid_argument("{} sections for {} outputs", sizes.size(), count);
      for (size_t i = 0; i < count; ++i) {
        shape[axis] = sizes[i];
        context.set_output("Out", shape, x.dtype, axis == 0 ? 0 : x.lod_level, i);
      }
      return {};
    });

// --- pad and reverse

ARGOSY_OP("pad",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const Shape paddings = integer_list(op.desc(), "paddings");
            Shape from_last;  // torch begins with the last dimension
            for (size_t i = paddings.size() / 2; i-- > 0;)
              from_last.insert(from_last.end(), {paddings[2 * i], paddings[2 * i + 1]});
            at::Tensor out = at::constant_pad_nd(x.tensor, from_last, op.attr<float>("pad_value"));
            const bool same_rows = out.size(0) == x.tensor.size(0);
            op.set_output("Out", std::move(out), same_rows ? x.lod : nullptr);
          })
    .doc("A tensor with a margin of one value.")
    .input("X", "any shape")
    .output("Out", "the larger tensor")
    .attr("paddings", std::vector<int32_t>{}, "how many before and after, for each dimension")
    .attr("pad_value", 0.0f, "the value")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      const Shape paddings = integer_list(context.op(), "paddings");
      if (paddings.size() != 2 * x.shape.size()) {
        return Status::invalid_argument("paddings has {} numbers, expected two for each dimension of variable '{}' {}",
                                        paddings.size(), x.name, graph::shape_to_string(x.shape));
      }
      Shape shape = x.shape;
      for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] >= 0) shape[i] += paddings[2 * i] + paddings[2 * i + 1];
      }
      const bool same_rows = shape[0] == x.shape[0];
      context.set_output("Out", std::move(shape), x.dtype, same_rows ? x.lod_level : 0);
      return {};
    })
    .function({.signature = "pad(x, paddings, pad_value=0.0, name=None)",
               .example = "x = fluid.data('x', [None, 4])\ny = fluid.layers.pad(x, [0, 0, 1, 1])"});

OpRegistration reverse_op(const char* type) {
  return OpRegistration(type,
                        [](const OpContext& op) { op.set_output("Out", op.tensor("X").flip(integer_list(op.desc(), "axis"))); })
      .doc("The entries along some axes in reverse order.")
      .input("X", "any shape")
      .output("Out", "like X")
      .attr("axis", std::vector<int32_t>{}, "the axes")
      .infer_shape([](ShapeContext& context) -> Status {
        const auto& x = context.input("X");
        for (int64_t axis : integer_list(context.op(), "axis")) RETURN_IF_ERROR(axis_in(x, axis).status());
        context.set_output("Out", x.shape, x.dtype);
        return {};
      });
}
const OpRegistration kReverse = reverse_op("reverse").function({.signature = "reverse(x, axis)"}), kFlip = reverse_op("flip");

}  // namespace
}  // namespace argosy::engine
