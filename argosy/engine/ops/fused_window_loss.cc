// window_loss over sparse lookups: rows, loss and the rows' gradients in one, by products of small matrices.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <array>
#include <cmath>
#include <cstring>

#include "argosy/base/key_index.h"
#include "argosy/engine/ops/window_loss.h"
#include "argosy/engine/ops/window_rows.h"
#include "argosy/engine/program/device.h"
#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/tensor_pool.h"

namespace argosy::engine {
namespace {

// Every id of a slot must be a row of its table.
void check_ids(const OpContext& op, std::string_view slot, std::string_view table) {
  const at::Tensor& ids = op.tensor(slot);
  if (ids.scalar_type() != at::kLong || !ids.is_contiguous())
    op.fail("variable '{}' holds {}, expected contiguous int64 ids", op.input_name(slot), c10::toString(ids.scalar_type()));
  const int64_t height = op.tensor(table).size(0);
  op.check_on_cpu(slot, 0, [op, slot, table, height](const at::Tensor& given) {
    const std::span<const int64_t> span(given.const_data_ptr<int64_t>(), static_cast<size_t>(given.numel()));
    for (size_t i = 0; i < span.size(); ++i) {
      if (span[i] < 0 || span[i] >= height)
        op.fail("variable '{}': id {} at position {} is outside the table '{}' with {} rows", op.input_name(slot), span[i], i,
                op.input_name(table), height);
    }
  });
}

// What the three inputs say of the batch, wherever they are.
void check_batch(const OpContext& op, const WindowOptions& options) {
  check_ids(op, "Center", options.cbow ? "Out" : "In");
  check_ids(op, "Around", options.cbow ? "In" : "Out");
  check_ids(op, "Drawn", "Out");
  const int64_t samples = op.tensor("Center").numel(), windows = static_cast<int64_t>(op.offsets("Around").size()) - 1,
                drawn = op.tensor("Drawn").numel();
  if (samples != windows)
    op.fail("'{}' has {} words, but '{}' has {} windows", op.input_name("Center"), samples, op.input_name("Around"), windows);
  if (samples > 0 && drawn % samples != 0)
    op.fail("'{}' has {} words, which is no multiple of the {} samples", op.input_name("Drawn"), drawn, samples);
  if (op.tensor("In").size(1) != op.tensor("Out").size(1))
    op.fail("rows of '{}' are {} wide, those of '{}' {}", op.input_name("In"), op.tensor("In").size(1), op.input_name("Out"),
            op.tensor("Out").size(1));
}

// The words of a batch, as ids of the tables' rows.
struct WindowBatch {
  std::span<const int64_t> center, around, offsets, drawn;
  int64_t samples() const { return static_cast<int64_t>(center.size()); }
};

// The different rows of one table that a batch uses, one after another, and what is added up for each.
class BatchRows {
 public:
  // A new batch, of so many ids.
  void begin(size_t ids) {
    index_.reset(ids);
    numbers_.clear();
  }
  void add(std::span<const int64_t> ids) {
    for (const int64_t id : ids) numbers_.push_back(index_.add(static_cast<uint64_t>(id)));
  }
  // The rows that were numbered, where they are read more than once; and their sums, 0 so far.
  void gather(const at::Tensor& table) {
    const auto keys = index_.keys();
    values_ = pooled_tensor({static_cast<int64_t>(keys.size()), table.size(1)}, table.options());
    value_data_ = values_.mutable_data_ptr<float>();
    copy_window_rows(table.const_data_ptr<float>(), {reinterpret_cast<const int64_t*>(keys.data()), keys.size()}, table.size(1),
                     value_data_);
  }
  void clear_sums(const at::Tensor& table) {
    width_ = table.size(1);
    sums_ = pooled_tensor({static_cast<int64_t>(index_.size()), width_}, table.options());
    sum_data_ = sums_.mutable_data_ptr<float>();
    std::memset(sum_data_, 0, static_cast<size_t>(sums_.numel()) * sizeof(float));
  }

  std::span<const uint32_t> numbers() const { return numbers_; }  // of the ids, in the order in which they were added
  const float* value(uint32_t number) const { return value_data_ + int64_t{number} * width_; }
  float* sum(uint32_t number) { return sum_data_ + int64_t{number} * width_; }

  PendingLookup pending(int32_t table, const at::Tensor& loss) const {
    const auto keys = index_.keys();
    at::Tensor ids = at::empty({static_cast<int64_t>(keys.size())}, at::kLong);
    std::memcpy(ids.mutable_data_ptr<int64_t>(), keys.data(), keys.size() * sizeof(int64_t));
    return {.table = table, .leaf = loss, .pieces = {{.ids = ids, .gradient = sums_, .unique = true}}};
  }

 private:
  KeyIndex index_;
  std::vector<uint32_t> numbers_;
  int64_t width_ = 0;
  at::Tensor values_, sums_;
  float *value_data_ = nullptr, *sum_data_ = nullptr;
};

// What a thread keeps of the operator from step to step, and one step of it.
class WindowStep {
 public:
  // Leaves the gradients in `in` and `out`; returns the loss.
  double run(const WindowOptions& options, const WindowBatch& batch, const at::Tensor& in_table, const at::Tensor& out_table) {
    options_ = options;
    width_ = in_table.size(1);
    number_rows(batch, in_table, out_table);
    hidden_ = pooled_tensor({batch.samples(), width_}, in_table.options());
    gradient_ = pooled_tensor({batch.samples(), width_}, in_table.options());
    hidden_data_ = hidden_.mutable_data_ptr<float>();
    gradient_data_ = gradient_.mutable_data_ptr<float>();
    fill_hidden(batch, in_table);
    double loss = add_negatives(batch);
    loss += options.cbow ? add_centers(batch) : add_windows(batch);
    spread_hidden(batch);
    hidden_ = gradient_ = at::Tensor();
    return loss;
  }

  BatchRows in, out;

 private:
  void number_rows(const WindowBatch& batch, const at::Tensor& in_table, const at::Tensor& out_table) {
    const auto predicted = options_.cbow ? batch.center : batch.around, given = options_.cbow ? batch.around : batch.center;
    in.begin(given.size());
    in.add(given);
    in.clear_sums(in_table);
    if (options_.cbow) in.gather(in_table);
    out.begin(predicted.size() + batch.drawn.size());
    out.add(predicted);
    out.add(batch.drawn);
    out.clear_sums(out_table);
    out.gather(out_table);
    drawn_ = out.numbers().subspan(predicted.size());
  }

  float* hidden(int64_t i) { return hidden_data_ + i * width_; }
  float* gradient(int64_t i) { return gradient_data_ + i * width_; }

  void fill_hidden(const WindowBatch& batch, const at::Tensor& table) {
    if (!options_.cbow) return copy_window_rows(table.const_data_ptr<float>(), batch.center, width_, hidden_data_);
    for (int64_t i = 0; i < batch.samples(); ++i) {
      std::memset(hidden(i), 0, static_cast<size_t>(width_) * sizeof(float));
      const int64_t begin = batch.offsets[static_cast<size_t>(i)], end = batch.offsets[static_cast<size_t>(i) + 1];
      const float share = 1.0f / static_cast<float>(std::max<int64_t>(end - begin, 1));
      for (int64_t k = begin; k < end; ++k) add_scaled(hidden(i), in.value(in.numbers()[static_cast<size_t>(k)]), share, width_);
    }
  }

  // Each group's hidden vectors against its negatives: logits, then weights in their place, then both gradients.
  double add_negatives(const WindowBatch& batch) {
    const int64_t samples = batch.samples(), each = samples > 0 ? static_cast<int64_t>(batch.drawn.size()) / samples : 0;
    if (each == 0) {
      if (samples > 0) gradient_.zero_();
      return 0;
    }
    at::Tensor rows = pooled_tensor({samples * each, width_}, hidden_.options()),
               sums = pooled_tensor(rows.sizes(), rows.options());
    for (size_t i = 0; i < drawn_.size(); ++i)
      std::memcpy(rows.mutable_data_ptr<float>() + static_cast<int64_t>(i) * width_, out.value(drawn_[i]),
                  static_cast<size_t>(width_) * sizeof(float));
    const int64_t whole = samples / options_.group * options_.group;
    double loss = add_groups(batch, 0, whole / options_.group, options_.group, each, rows, sums);
    if (whole < samples) loss += add_groups(batch, whole, 1, samples - whole, each, rows, sums);
    for (size_t i = 0; i < drawn_.size(); ++i)
      add_scaled(out.sum(drawn_[i]), sums.const_data_ptr<float>() + static_cast<int64_t>(i) * width_, 1.0f, width_);
    return loss;
  }

  // `count` groups of `size` samples from `first` on.
  double add_groups(const WindowBatch& batch, int64_t first, int64_t count, int64_t size, int64_t each, const at::Tensor& rows,
                    const at::Tensor& sums) {
    if (count == 0) return 0;
    const int64_t drawn = size * each;
    const at::Tensor h = hidden_.narrow(0, first, count * size).view({count, size, width_});
    const at::Tensor n = rows.narrow(0, first * each, count * drawn).view({count, drawn, width_});
    at::Tensor weights = pooled_tensor({count, size, drawn}, h.options());
    at::baddbmm_out(weights, weights, h, n.transpose(1, 2), 0, -1);
    weights.sigmoid_();  // of minus the logits: 1 - sigmoid, whose logarithm has all digits also where a sigmoid is nearly 1
    double loss = 0;
    float* at = weights.mutable_data_ptr<float>();
    for (int64_t i = first; i < first + count * size; ++i, at += drawn) {
      const auto pairs =
          options_.cbow ? int64_t{1} : batch.offsets[static_cast<size_t>(i) + 1] - batch.offsets[static_cast<size_t>(i)];
      const float weight = static_cast<float>(pairs) * options_.negatives / static_cast<float>(drawn);
      loss += weight * weigh_negatives(at, drawn, weight);
    }
    at::Tensor to_hidden = gradient_.narrow(0, first, count * size).view(h.sizes()),
               to_rows = sums.narrow(0, first * each, count * drawn).view(n.sizes());
    at::bmm_out(to_hidden, weights, n);
    at::bmm_out(to_rows, weights.transpose(1, 2), h);
    return loss;
  }

  double add_windows(const WindowBatch& batch) {
    double loss = 0;
    for (int64_t i = 0; i < batch.samples(); ++i) {
      const int64_t begin = batch.offsets[static_cast<size_t>(i)], end = batch.offsets[static_cast<size_t>(i) + 1];
      loss += add_positives(i, out.numbers().subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    }
    return loss;
  }

  double add_centers(const WindowBatch& batch) {
    double loss = 0;
    for (int64_t i = 0; i < batch.samples(); ++i) loss += add_positives(i, out.numbers().subspan(static_cast<size_t>(i), 1));
    return loss;
  }

  double add_positives(int64_t sample, std::span<const uint32_t> words) {
    values_.clear();
    sums_.clear();
    for (const uint32_t word : words) {
      values_.push_back(out.value(word));
      sums_.push_back(out.sum(word));
    }
    return add_positive_pairs(hidden(sample), gradient(sample), values_, sums_.data(), width_);
  }

  void spread_hidden(const WindowBatch& batch) {
    for (int64_t i = 0; i < batch.samples(); ++i) {
      if (!options_.cbow) {
        add_scaled(in.sum(in.numbers()[static_cast<size_t>(i)]), gradient(i), 1.0f, width_);
        continue;
      }
      const int64_t begin = batch.offsets[static_cast<size_t>(i)], end = batch.offsets[static_cast<size_t>(i) + 1];
      const float share = 1.0f / static_cast<float>(std::max<int64_t>(end - begin, 1));
      for (int64_t k = begin; k < end; ++k) add_scaled(in.sum(in.numbers()[static_cast<size_t>(k)]), gradient(i), share, width_);
    }
  }

  WindowOptions options_;
  int64_t width_ = 0;
  std::span<const uint32_t> drawn_;  // numbers of the negatives in `out`
  at::Tensor hidden_, gradient_;  // [samples, width]
  float *hidden_data_ = nullptr, *gradient_data_ = nullptr;
  std::vector<const float*> values_;
  std::vector<float*> sums_;
};

// REQUIRES: check_batch().
WindowBatch window_batch(const OpContext& op) {
  const auto ids = [&](std::string_view slot) -> std::span<const int64_t> {
    const at::Tensor& tensor = op.tensor(slot);
    return {tensor.const_data_ptr<int64_t>(), static_cast<size_t>(tensor.numel())};
  };
  return {.center = ids("Center"), .around = ids("Around"), .offsets = op.offsets("Around"), .drawn = ids("Drawn")};
}

at::Tensor rows_as_leaf(const OpContext& op, const char* table, const char* slot) {
  at::Tensor leaf;
  const at::Tensor ids = op.tensor(slot).flatten();
  {
    at::NoGradGuard no_grad;
    leaf = op.tensor(table).index_select(0, ids);
  }
  leaf.set_requires_grad(true);
  op.frame().pending_lookups().push_back(
      {.table = op.instruction().find_input(table)->values[0], .leaf = leaf, .pieces = {{.ids = ids}}});
  return leaf;
}

// Where memory cannot be walked through: rows as leaves, the plain formula, autograd.
at::Tensor loss_on_device(const OpContext& op, const WindowOptions& options) {
  const at::Tensor center = rows_as_leaf(op, options.cbow ? "Out" : "In", "Center"),
                   around = rows_as_leaf(op, options.cbow ? "In" : "Out", "Around"), drawn = rows_as_leaf(op, "Out", "Drawn");
  at::AutoGradMode record(true);
  return plain_window_loss(options, center, around, op.offsets("Around"), drawn);
}

at::Tensor loss_in_memory(const OpContext& op, const WindowOptions& options) {
  at::NoGradGuard no_grad;
  WindowStep& step = op.state<WindowStep>([] { return new WindowStep; });
  const double sum = step.run(options, window_batch(op), op.tensor("In").detach(), op.tensor("Out").detach());
  at::Tensor loss = at::full({1}, sum, at::kFloat);
  loss.set_requires_grad(true);
  auto& pending = op.frame().pending_lookups();
  pending.push_back(step.in.pending(op.instruction().find_input("In")->values[0], loss));
  pending.push_back(step.out.pending(op.instruction().find_input("Out")->values[0], loss));
  return loss;
}

ARGOSY_OP("fused_window_loss",
          [](const OpContext& op) {
            const WindowOptions options = window_loss_options(op);
            check_batch(op, options);
            const at::Tensor loss = in_memory(op.tensor("In")) ? loss_in_memory(op, options) : loss_on_device(op, options);
            if (op.is_read("PerPair"))
              op.set_output("PerPair", loss.detach() / static_cast<double>(
                                                           std::max<int64_t>(window_pairs(options, op.offsets("Around")), 1)));
            op.set_output("Loss", loss);
          })
    .doc("Sparse lookups and the window_loss of their rows; made by a pass.")
    .input("In", "the table of rows that predict")
    .input("Out", "the table of rows that are predicted")
    .input("Center", "ids")
    .input("Around", "ids, LoD level 1")
    .input("Drawn", "ids, k per sample")
    .output("Loss", "as window_loss")
    .output("PerPair", "as window_loss")
    .attr("mode", std::string("skip_gram"), "as window_loss")
    .attr("negatives", 5.0f, "as window_loss")
    .attr("group", 32, "as window_loss");

}  // namespace
}  // namespace argosy::engine
