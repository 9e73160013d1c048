// Operators that repeat, join, turn and cut sequences.
#include <ATen/ATen.h>

#include "argosy/engine/ops/sequence_rows.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;
using Offsets = std::vector<int64_t>;

void append_range(std::vector<int64_t>& rows, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) rows.push_back(row);
}

const Offsets& level_of(const OpContext& op, std::string_view slot, int64_t level) {
  op.offsets(slot);
  const Lod& lod = *op.input(slot).lod;
  const int64_t at = level < 0 ? level + static_cast<int64_t>(lod.size()) : level;
  if (at < 0 || at >= static_cast<int64_t>(lod.size()))
    op.fail("'{}' has {} levels of sequences, level {} was asked for", op.input_name(slot), lod.size(), level);
  return lod[static_cast<size_t>(at)];
}

ARGOSY_OP("sequence_expand",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const Offsets& repeats = level_of(op, "Y", op.attr<int32_t>("ref_level"));
            const bool sequences = x.lod != nullptr && !x.lod->empty();
            if (sequences && x.lod->size() != 1)
              op.fail("'{}' has {} levels of sequences, expected at most 1", op.input_name("X"), x.lod->size());
            const int64_t have = sequences ? static_cast<int64_t>(checked_offsets(op, "X").size()) - 1 : x.tensor.size(0);
            if (have != static_cast<int64_t>(repeats.size()) - 1) {
              op.fail("'{}' has {} rows or sequences, but '{}' says how often to repeat {}", op.input_name("X"), have,
                      op.input_name("Y"), repeats.size() - 1);
            }
            std::vector<int64_t> rows;
            Offsets offsets = {0};
            for (size_t i = 0; i + 1 < repeats.size(); ++i) {
              const int64_t begin = sequences ? x.offsets()[i] : static_cast<int64_t>(i),
                            end = sequences ? x.offsets()[i + 1] : begin + 1;
              for (int64_t time = repeats[i]; time < repeats[i + 1]; ++time) {
                append_range(rows, begin, end);
                offsets.push_back(static_cast<int64_t>(rows.size()));
              }
            }
            op.set_output("Out", take_rows(x.tensor, rows), sequences ? one_level(std::move(offsets)) : nullptr);
          })
    .doc("Each row, or each sequence, of X repeated as often as a sequence of Y is long.")
    .input("X", "rows, or sequences of one level")
    .input("Y", "its boundaries count")
    .output("Out", "rows, or sequences")
    .attr("ref_level", -1, "the level of Y's boundaries; -1: the innermost")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      if (context.input("Y").lod_level < 1)
        return Status::invalid_argument("'{}' is no sequence: declare it with lod_level=1", context.input("Y").name);
      std::vector<int64_t> shape = x.shape;
      if (shape.empty()) return Status::invalid_argument("'{}' has no dimensions", x.name);
      shape[0] = -1;
      context.set_output("Out", std::move(shape), x.dtype, x.lod_level);
      return Status();
    })
    .function({.signature = "sequence_expand(x, y, ref_level=-1, name=None)",
               .example = "x = fluid.data('x', [None, 4])\ny = fluid.data('y', [None, 1], lod_level=1)\nz = "
                          "fluid.layers.sequence_expand(x, y)"});

ARGOSY_OP("sequence_expand_as",
          [](const OpContext& op) {
            const at::Tensor& x = op.tensor("X");
            const Offsets& offsets = level_of(op, "Y", 0);
            if (static_cast<int64_t>(offsets.size()) - 1 != x.size(0)) {
              op.fail("'{}' has {} rows, but '{}' has {} sequences", op.input_name("X"), x.size(0), op.input_name("Y"),
                      offsets.size() - 1);
            }
            std::vector<int64_t> rows;
            for (size_t i = 0; i + 1 < offsets.size(); ++i)
              rows.insert(rows.end(), static_cast<size_t>(offsets[i + 1] - offsets[i]), static_cast<int64_t>(i));
            op.set_output("Out", take_rows(x, rows), op.input("Y").lod);
          })
    .doc("Row i of X becomes a sequence as long as sequence i of Y.")
    .input("X", "one row per sequence")
    .input("Y", "its boundaries count")
    .output("Out", "sequences like Y's")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      std::vector<int64_t> shape = x.shape;
      if (shape.empty()) return Status::invalid_argument("'{}' has no dimensions", x.name);
      shape[0] = -1;
      context.set_output("Out", std::move(shape), x.dtype, context.input("Y").lod_level);
      return Status();
    })
    .function({.signature = "sequence_expand_as(x, y, name=None)",
               .example = "x = fluid.data('x', [None, 4])\ny = fluid.data('y', [None, 1], lod_level=1)\nz = "
                          "fluid.layers.sequence_expand_as(x, y)"});

ARGOSY_OP("sequence_concat",
          [](const OpContext& op) {
            const size_t parts = op.input_count("X"), count = op.offsets("X").size();
            std::vector<int64_t> rows, begins(parts, 0);
            for (size_t part = 0; part < parts; ++part) {
              if (checked_offsets(op, "X", part).size() != count) {
                op.fail("'{}' has {} sequences, '{}' has {}", op.input_name("X", part), op.offsets("X", part).size() - 1,
                        op.input_name("X"), count - 1);
              }
              if (part > 0) begins[part] = begins[part - 1] + op.tensor("X", part - 1).size(0);
            }
            Offsets offsets = {0};
            for (size_t i = 0; i + 1 < count; ++i) {
              for (size_t part = 0; part < parts; ++part) {
                const Offsets& own = op.offsets("X", part);
                append_range(rows, begins[part] + own[i], begins[part] + own[i + 1]);
              }
              offsets.push_back(static_cast<int64_t>(rows.size()));
            }
            op.set_output("Out", take_rows(at::cat(op.tensors("X")), rows), one_level(std::move(offsets)));
          })
    .doc("Sequence i is the sequences i of all inputs, one after another.")
    .input_list("X", "as many sequences each")
    .output("Out", "longer sequences")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      std::vector<int64_t> shape = x.shape;
      if (shape.empty()) return Status::invalid_argument("'{}' has no dimensions", x.name);
      shape[0] = 0;
      for (size_t i = 0; i < context.input_count("X"); ++i) {
        const int64_t rows = context.input("X", i).shape.empty() ? -1 : context.input("X", i).shape[0];
        shape[0] = rows < 0 || shape[0] < 0 ? -1 : shape[0] + rows;
      }
      context.set_output("Out", std::move(shape), x.dtype, x.lod_level);
      return Status();
    })
    .function({.signature = "sequence_concat(input, name=None)",
               .targets = {{"input", "X"}},
               .example = "x = fluid.data('x', [None, 1], lod_level=1)\ny = fluid.layers.sequence_concat([x, x])"});

ARGOSY_OP("sequence_reverse",
          [](const OpContext& op) {
            const Offsets& offsets = checked_offsets(op, "X");
            std::vector<int64_t> rows;
            for (size_t i = 0; i + 1 < offsets.size(); ++i) {
              for (int64_t row = offsets[i + 1]; row-- > offsets[i];) rows.push_back(row);
            }
            op.set_output("Y", take_rows(op.tensor("X"), rows), op.input("X").lod);
          })
    .doc("Each sequence from its end to its beginning.")
    .input("X", "sequences")
    .output("Y", "like X")
    .infer_shape(graph::same_shape_as("X", "Y"))
    .function({.signature = "sequence_reverse(x, name=None)",
               .example = "x = fluid.data('x', [None, 1], lod_level=1)\ny = fluid.layers.sequence_reverse(x)"});

ARGOSY_OP("sequence_slice",
          [](const OpContext& op) {
            const Offsets& offsets = checked_offsets(op, "X");
            const at::Tensor from = op.on_cpu("Offset").to(at::kLong).flatten().contiguous(),
                             length = op.on_cpu("Length").to(at::kLong).flatten().contiguous();
            const auto count = static_cast<int64_t>(offsets.size()) - 1;
            if (from.numel() != count || length.numel() != count)
              op.fail("{} offsets and {} lengths for {} sequences", from.numel(), length.numel(), count);
            std::vector<int64_t> rows;
            Offsets cut = {0};
            for (int64_t i = 0; i < count; ++i) {
              const int64_t begin = offsets[static_cast<size_t>(i)], end = offsets[static_cast<size_t>(i) + 1];
              const int64_t first = from.const_data_ptr<int64_t>()[i], wanted = length.const_data_ptr<int64_t>()[i];
              if (first < 0 || wanted < 0 || wanted > end - begin || first > end - begin - wanted) {
                op.fail("sequence {} has {} rows; {} rows from {} are not in it", i, end - begin, wanted, first);
              }
              append_range(rows, begin + first, begin + first + wanted);
              cut.push_back(static_cast<int64_t>(rows.size()));
            }
            op.set_output("Out", take_rows(op.tensor("X"), rows), one_level(std::move(cut)));
          })
    .doc("Of each sequence a part.")
    .input("X", "sequences")
    .input("Offset", "where the part begins, one per sequence")
    .input("Length", "how long it is, one per sequence")
    .output("Out", "shorter sequences")
    .infer_shape([](ShapeContext& context) {
      context.set_output("Out", context.input("X").shape, context.input("X").dtype);
      return Status();
    })
    .function(
        {.signature = "sequence_slice(input, offset, length, name=None)",
         .targets = {{"input", "X"}},
         .example = "x = fluid.data('x', [None, 1], lod_level=1)\noffset = fluid.data('offset', [None, 1], 'int64')\nlength = "
                    "fluid.data('length', [None, 1], 'int64')\ny = fluid.layers.sequence_slice(x, offset, length)"});

ARGOSY_OP("sequence_reshape",
          [](const OpContext& op) {
            const Offsets& offsets = checked_offsets(op, "X");
            const at::Tensor& x = op.tensor("X");
            const int64_t width = x.size(1), wanted = op.attr<int32_t>("new_dim");
            if (x.dim() != 2 || wanted < 1) op.fail("rows of width {} cannot have width {}", width, wanted);
            Offsets scaled = {0};
            for (size_t i = 1; i < offsets.size(); ++i) {
              if (offsets[i] * width % wanted != 0)
                op.fail("sequence {} has {} values, which rows of {} cannot hold", i - 1, (offsets[i] - offsets[i - 1]) * width,
                        wanted);
              scaled.push_back(offsets[i] * width / wanted);
            }
            op.set_output("Out", x.reshape({-1, wanted}), one_level(std::move(scaled)));
          })
    .doc("Sequences with the same values in rows of another width.")
    .input("X", "sequences")
    .output("Out", "sequences")
    .attr("new_dim", 1, "the new width")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      if (x.shape.size() != 2)
        return Status::invalid_argument("'{}' has shape {}, expected [rows, width]", x.name, graph::shape_to_string(x.shape));
      context.set_output("Out", {-1, context.attribute<int32_t>("new_dim")}, x.dtype, x.lod_level);
      return Status();
    })
    .function({.signature = "sequence_reshape(input, new_dim)",
               .targets = {{"input", "X"}},
               .example = "x = fluid.data('x', [None, 4], lod_level=1)\ny = fluid.layers.sequence_reshape(x, 2)"});

Offsets new_level(const OpContext& op) {
  if (!op.has_input("Y")) {
    const auto& target = op.attr<std::vector<int32_t>>("target_lod");
    return {target.begin(), target.end()};
  }
  const at::Tensor given = op.on_cpu("Y").to(at::kLong).flatten().contiguous();
  return {given.const_data_ptr<int64_t>(), given.const_data_ptr<int64_t>() + given.numel()};
}

ARGOSY_OP("lod_reset",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            if (op.has_input("Y") && op.input("Y").lod != nullptr && !op.input("Y").lod->empty()) {
              const Lod& given = *op.input("Y").lod;
              if (given.back().back() != x.tensor.size(0))
                op.fail("the boundaries of '{}' end at {}, but '{}' has {} rows", op.input_name("Y"), given.back().back(),
                        op.input_name("X"), x.tensor.size(0));
              return op.set_output("Out", x.tensor, op.input("Y").lod);
            }
            Offsets level = new_level(op);
            if (level.size() < 2 || level.front() != 0 || !std::is_sorted(level.begin(), level.end()) ||
                level.back() != x.tensor.size(0)) {
              op.fail("the boundaries {} must begin with 0, grow, and end with the {} rows of '{}'",
                      graph::shape_to_string(level), x.tensor.size(0), op.input_name("X"));
            }
            if (!op.attr<bool>("append") || x.lod == nullptr) return op.set_output("Out", x.tensor, one_level(std::move(level)));
            Lod longer = *x.lod;
            if (longer.back().back() != static_cast<int64_t>(level.size()) - 1) {
              op.fail("the sequences of '{}' are of {} parts, but the new level has {}", op.input_name("X"), longer.back().back(),
                      level.size() - 1);
            }
            longer.push_back(std::move(level));
            op.set_output("Out", x.tensor, std::make_shared<const Lod>(std::move(longer)));
          })
    .doc("The same rows cut into other sequences.")
    .input("X", "rows")
    .optional_input("Y", "has the boundaries, or is a list of them")
    .output("Out", "sequences")
    .attr("target_lod", std::vector<int32_t>{}, "the boundaries, from 0 to the number of rows; without Y")
    .attr("append", false, "a new innermost level instead of another cut")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      const bool appends = context.attribute<bool>("append");
      const int32_t level = context.has_input("Y") && !appends ? std::max(context.input("Y").lod_level, 1)
                            : appends                          ? x.lod_level + 1
                                                               : 1;
      context.set_output("Out", x.shape, x.dtype, level);
      return Status();
    });

}  // namespace
}  // namespace argosy::engine
