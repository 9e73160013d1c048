// Embedding lookups, alone and fused with pooling and concat.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstring>

#include "argosy/engine/program/device.h"
#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/program/row_adder.h"
#include "argosy/engine/program/row_tables.h"
#include "argosy/engine/program/tensor_pool.h"

namespace argosy::engine {
namespace {

constexpr int64_t kPrefetchAhead = 16;

// REQUIRES: contiguous int64.
std::span<const int64_t> span_of_ids(const at::Tensor& ids) {
  return {ids.const_data_ptr<int64_t>(), static_cast<size_t>(ids.numel())};
}

// Every id must be a row of the table, or the padding id where there is one; -1 is none.
void check_ids(const OpContext& op, size_t slot, int64_t height, int64_t padding) {
  if (const at::ScalarType type = op.tensor("Ids", slot).scalar_type(); type != at::kLong)
    op.fail("variable '{}' holds {}, expected int64 ids", op.input_name("Ids", slot), c10::toString(type));
  op.check_on_cpu("Ids", slot, [op, slot, height, padding](const at::Tensor& given) {
    const at::Tensor contiguous = given.contiguous();
    const auto ids = span_of_ids(contiguous);
    for (size_t i = 0; i < ids.size(); ++i) {
      if ((ids[i] >= 0 && ids[i] < height) || (padding >= 0 && ids[i] == padding)) continue;
      op.fail("variable '{}': id {} at position {} is outside the table '{}' with {} rows", op.input_name("Ids", slot), ids[i], i,
              op.input_name("W"), height);
    }
  });
}

int32_t table_index(const OpContext& op) { return op.instruction().find_input("W")->values[0]; }

// Rows by torch's functions, where memory cannot be walked through. REQUIRES: ids were checked.
at::Tensor select_rows(const at::Tensor& table, const at::Tensor& ids, int64_t padding) {
  if (padding < 0) return table.index_select(0, ids);
  return at::where((ids != padding).unsqueeze(1), table.index_select(0, ids.clamp(0, table.size(0) - 1)), 0);
}

// Rows copied by hand: no graph, no index checks a second time, the next rows on their way while one is copied.
at::Tensor gather_rows(const at::Tensor& table, std::span<const int64_t> ids, int64_t padding) {
  const int64_t width = table.size(1);
  at::Tensor out = pooled_tensor({static_cast<int64_t>(ids.size()), width}, table.options());
  const float* source = table.const_data_ptr<float>();
  float* target = out.mutable_data_ptr<float>();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kPrefetchAhead < ids.size()) __builtin_prefetch(source + std::max<int64_t>(ids[i + kPrefetchAhead], 0) * width);
    if (padding >= 0 && ids[i] == padding)
      std::memset(target, 0, sizeof(float) * static_cast<size_t>(width));
    else
      std::memcpy(target, source + ids[i] * width, sizeof(float) * static_cast<size_t>(width));
    target += width;
  }
  return out;
}

// Paddle's old operator drops the trailing 1 of [n, 1] ids, the new one (_v2) keeps every dimension.
std::vector<int64_t> output_shape(const at::Tensor& ids, int64_t width, bool drop_last) {
  std::vector<int64_t> shape(ids.sizes().begin(), ids.sizes().end());
  if (drop_last && !shape.empty() && shape.back() == 1) shape.pop_back();
  shape.push_back(width);
  return shape;
}

at::Tensor look_up(const OpContext& op, const at::Tensor& table, const at::Tensor& ids, int64_t padding, LodPtr samples) {
  if (op.instruction().uses_rows || (op.training() && is_summed_by_rows(op.frame(), table_index(op), table))) {
    at::NoGradGuard no_grad;
    at::Tensor leaf =
        in_memory(table) ? gather_rows(table, span_of_ids(ids), padding) : select_rows(table, ids.flatten(), padding);
    leaf.set_requires_grad(true);
    op.frame().pending_lookups().push_back(
        {.table = table_index(op),
         .leaf = leaf,
         .pieces = {{.ids = ids.flatten(), .skip_id = padding, .samples = std::move(samples)}}});
    return leaf;
  }
  if (!op.training() && table.scalar_type() == at::kFloat && in_memory(table))
    return gather_rows(table, span_of_ids(ids), padding);
  at::Tensor rows =
      at::embedding(table, padding >= 0 ? ids.flatten().clamp(0, table.size(0) - 1) : ids.flatten(), padding, false, false);
  if (padding >= 0) rows = rows * (ids.flatten() != padding).unsqueeze(1);
  return rows;
}

void run_lookup(const OpContext& op, bool drop_last) {
  const at::Tensor& table = op.tensor("W");
  const Value& ids = op.input("Ids");
  int64_t padding = op.attr<int64_t>("padding_idx");
  const at::Tensor contiguous = ids.tensor.contiguous();
  check_ids(op, 0, table.size(0), padding);
  at::Tensor rows;
  {
    at::AutoGradMode record(op.training());
    rows = look_up(op, table, contiguous, padding, ids.lod);
    rows = rows.reshape(output_shape(ids.tensor, table.size(1), drop_last));
  }
  op.set_output("Out", std::move(rows), ids.lod);
}

graph::ShapeRule infer_lookup(bool drop_last) {
  return [drop_last](graph::ShapeContext& context) -> Status {
    const auto &table = context.input("W"), &ids = context.input("Ids");
    if (table.shape.size() != 2)
      return Status::invalid_argument("table '{}' has shape {}, expected [rows, width]", table.name,
                                      graph::shape_to_string(table.shape));
    std::vector<int64_t> shape = ids.shape;
    if (drop_last) {
      if (shape.empty() || shape.back() != 1) {
        return Status::invalid_argument("ids '{}' have shape {}; the last dimension must be 1", ids.name,
                                        graph::shape_to_string(ids.shape));
      }
      shape.pop_back();
    }
    shape.push_back(table.shape[1]);
    context.set_output("Out", std::move(shape), table.dtype, ids.lod_level);
    return {};
  };
}

OpRegistration described_lookup(OpRegistration op, const char* text, bool drop_last) {
  return op.doc(text)
      .input("W", "the table, [rows, width]")
      .input("Ids", "int64 row numbers")
      .output("Out", "the rows")
      .attr("is_sparse", false, "the gradient is of the rows that were looked up, not of the whole table")
      .attr("is_distributed", false, "the table lives on parameter servers")
      .attr("padding_idx", int64_t{-1}, "rows of this id are zero and get no gradient; -1: none")
      .attr("remote_prefetch", false, "set by the transpiler")
      .attr("is_test", false, "a lookup makes no new rows on the servers")
      .attr("table_class", std::string("MemorySparseTable"), "the servers' kind of table")
      .attr("slot", 0, "recorded beside the rows on the servers")
      .attr("entry", std::string("none"), "which new keys a server admits")
      .attr("entry_config", std::string(), "its settings")
      .attr("table_names", std::vector<std::string>{}, "set by the transpiler")
      .attr("epmap", std::vector<std::string>{}, "set by the transpiler")
      .attr("height_sections", std::vector<int64_t>{}, "set by the transpiler")
      .attr("trainer_id", 0, "set by the transpiler")
      .attr("grad_inplace", false, "set by the transpiler")
      .infer_shape(infer_lookup(drop_last));
}

const OpRegistration kLookup = described_lookup({"lookup_table", [](const OpContext& op) { run_lookup(op, true); }},
                                                "Rows of a table by id; ids are [..., 1].", true);
const OpRegistration kLookupV2 = described_lookup({"lookup_table_v2", [](const OpContext& op) { run_lookup(op, false); }},
                                                  "Rows of a table by id; ids of any shape.", false);

// One slot of the fused lookup: adds the rows of each sample into its columns of the output.
void pool_slot(const at::Tensor& table, std::span<const int64_t> ids, const std::vector<int64_t>& offsets, bool average,
               float* out, int64_t stride) {
  const int64_t width = table.size(1);
  const float* rows = table.const_data_ptr<float>();
  const auto count = static_cast<int64_t>(ids.size());
  for (size_t sample = 0; sample + 1 < offsets.size(); ++sample, out += stride) {
    const int64_t begin = offsets[sample], end = offsets[sample + 1];
    if (begin + kPrefetchAhead < count) __builtin_prefetch(rows + ids[static_cast<size_t>(begin + kPrefetchAhead)] * width);
    if (end - begin == 1) {
      std::memcpy(out, rows + ids[static_cast<size_t>(begin)] * width, sizeof(float) * static_cast<size_t>(width));
      continue;
    }
    std::memset(out, 0, sizeof(float) * static_cast<size_t>(width));
    const float scale = average && end > begin ? 1.0f / static_cast<float>(end - begin) : 1.0f;
    for (int64_t i = begin; i < end; ++i) {
      const float* row = rows + ids[static_cast<size_t>(i)] * width;
      for (int64_t k = 0; k < width; ++k) out[k] += row[k] * scale;
    }
  }
}

void copy_columns(const at::Tensor& from, float* to, int64_t stride) {
  const at::Tensor source = from.contiguous();
  const int64_t rows = source.size(0), width = source.size(1);
  const float* in = source.const_data_ptr<float>();
  for (int64_t i = 0; i < rows; ++i) std::memcpy(to + i * stride, in + i * width, sizeof(float) * static_cast<size_t>(width));
}

// One slot by torch's functions: [samples, width].
at::Tensor pooled_slot(const at::Tensor& table, const at::Tensor& ids, const std::vector<int64_t>& offsets, bool average) {
  const at::Tensor rows = table.index_select(0, ids.flatten()), numbers = sequence_numbers(offsets, table.device());
  if (!numbers.defined()) return rows;
  const auto samples = static_cast<int64_t>(offsets.size()) - 1;
  at::Tensor sums = at::zeros({samples, table.size(1)}, rows.options()).index_add_(0, numbers, rows);
  if (!average) return sums;
  std::vector<float> lengths;
  for (size_t i = 0; i + 1 < offsets.size(); ++i)
    lengths.push_back(static_cast<float>(std::max<int64_t>(offsets[i + 1] - offsets[i], 1)));
  return sums.div_(at::tensor(lengths).to(table.device()).unsqueeze(1));
}

// Writes the parts of the fused lookup into memory, or collects them where that cannot be walked through.
class FusedParts {
 public:
  FusedParts(const at::Tensor& table, int64_t samples, int64_t columns) : table_(table), columns_(columns) {
    if (in_memory(table)) out_ = pooled_tensor({samples, columns}, table.options());
  }
  void add_dense(const at::Tensor& dense) {
    out_.defined() ? copy_columns(dense, target(), columns_) : parts_.push_back(dense);
    column_ += dense.size(1);
  }
  void add_slot(const at::Tensor& ids, const std::vector<int64_t>& offsets, bool average) {
    if (out_.defined())
      pool_slot(table_, span_of_ids(ids), offsets, average, target(), columns_);
    else
      parts_.push_back(pooled_slot(table_, ids, offsets, average));
    column_ += table_.size(1);
  }
  int64_t column() const { return column_; }
  at::Tensor result() const { return out_.defined() ? out_ : at::cat(parts_, 1); }

 private:
  float* target() { return out_.mutable_data_ptr<float>() + column_; }

  const at::Tensor& table_;
  const int64_t columns_;
  int64_t column_ = 0;
  at::Tensor out_;
  std::vector<at::Tensor> parts_;
};

// Parts in the order of the concat: "e" is the next slot of Ids, "d" the next of Dense.
void run_fused(const OpContext& op) {
  const at::Tensor& table = op.tensor("W");
  const std::string& layout = op.attr<std::string>("layout");
  const bool average = op.attr<bool>("average");
  const int64_t width = table.size(1);
  const auto samples = static_cast<int64_t>(op.offsets("Ids", 0).size()) - 1;
  int64_t columns = static_cast<int64_t>(op.input_count("Ids")) * width;
  for (size_t i = 0; i < op.input_count("Dense"); ++i) {
    if (op.tensor("Dense", i).size(0) != samples) {
      op.fail("variable '{}' has {} rows, but the sequences are {}", op.input_name("Dense", i), op.tensor("Dense", i).size(0),
              samples);
    }
    columns += op.tensor("Dense", i).size(1);
  }
  at::NoGradGuard no_grad;
  FusedParts parts(table, samples, columns);
  std::vector<LookupGradient::Piece> pieces;
  size_t slot = 0, dense = 0;
  for (const char part : layout) {
    if (part == 'd') {
      parts.add_dense(op.tensor("Dense", dense++));
      continue;
    }
    const Value& value = op.input("Ids", slot);
    const at::Tensor ids = value.tensor.contiguous();
    const auto& offsets = op.offsets("Ids", slot);
    if (static_cast<int64_t>(offsets.size()) - 1 != samples) {
      op.fail("variable '{}' has {} sequences, '{}' has {}", op.input_name("Ids", slot), offsets.size() - 1,
              op.input_name("Ids", 0), samples);
    }
    check_ids(op, slot, table.size(0), -1);
    pieces.push_back({.ids = ids, .lod = value.lod, .average = average, .column = parts.column()});
    parts.add_slot(ids, offsets, average);
    ++slot;
  }
  at::Tensor out = parts.result();
  if (op.instruction().uses_rows) {
    out.set_requires_grad(true);
    op.frame().pending_lookups().push_back({.table = table_index(op), .leaf = out, .pieces = std::move(pieces)});
  }
  op.set_output("Out", std::move(out));
}

ARGOSY_OP("fused_embedding_concat", run_fused)
    .doc(
        "lookup_table and sequence_pool of several slots over one table, and the concat of the results with dense inputs; made "
        "by a pass.")
    .input("W", "the table")
    .input_list("Ids", "the slots")
    .optional_input_list("Dense", "inputs without gradient")
    .output("Out", "one row per sample")
    .attr("layout", std::string(), "the order of the parts: e for a slot, d for a dense input")
    .attr("average", false, "pool by the mean instead of the sum");

}  // namespace
}  // namespace argosy::engine
