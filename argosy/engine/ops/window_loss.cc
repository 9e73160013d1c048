// The loss of word2vec: windows of words against words drawn at random, which the samples of a group share.
#include "argosy/engine/ops/window_loss.h"

#include <ATen/ATen.h>

#include "argosy/engine/program/row_adder.h"

namespace argosy::engine {

WindowOptions window_loss_options(const OpContext& op) {
  const std::string& mode = op.attr<std::string>("mode");
  if (mode != "skip_gram" && mode != "cbow") op.fail("attribute 'mode' is '{}', expected 'skip_gram' or 'cbow'", mode);
  const WindowOptions options{
      .cbow = mode == "cbow", .negatives = op.attr<float>("negatives"), .group = op.attr<int32_t>("group")};
  if (!(options.negatives > 0)) op.fail("attribute 'negatives' is {}, expected a number above 0", options.negatives);
  if (options.group < 1) op.fail("attribute 'group' is {}, expected at least 1", options.group);
  return options;
}

int64_t window_pairs(const WindowOptions& options, std::span<const int64_t> offsets) {
  return options.cbow ? static_cast<int64_t>(offsets.size()) - 1 : offsets.back();
}

namespace {

at::Tensor window_lengths(std::span<const int64_t> offsets, const at::TensorOptions& as) {
  std::vector<double> lengths;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) lengths.push_back(static_cast<double>(offsets[i + 1] - offsets[i]));
  return at::tensor(lengths, at::kDouble).to(as);
}

at::Tensor rows_of_windows(std::span<const int64_t> offsets, const c10::Device& device) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i + 1 < offsets.size(); ++i)
    numbers.insert(numbers.end(), static_cast<size_t>(offsets[i + 1] - offsets[i]), static_cast<int64_t>(i));
  return at::tensor(numbers, at::kLong).to(device);
}

}  // namespace

at::Tensor plain_window_loss(const WindowOptions& options, const at::Tensor& center, const at::Tensor& around,
                             std::span<const int64_t> offsets, const at::Tensor& negatives) {
  const int64_t samples = center.size(0);
  if (samples == 0) return (center.sum() + around.sum() + negatives.sum()).reshape({1});
  const at::Tensor sample_of = rows_of_windows(offsets, center.device()), lengths = window_lengths(offsets, center.options());
  const at::Tensor hidden =
      options.cbow ? at::zeros_like(center).index_add(0, sample_of, around) / lengths.clamp_min(1).unsqueeze(1) : center;
  at::Tensor loss = options.cbow ? at::softplus(-(hidden * center).sum(1)).sum()
                                 : at::softplus(-(hidden.index_select(0, sample_of) * around).sum(1)).sum();
  const at::Tensor pairs = options.cbow ? at::ones_like(lengths) : lengths;
  const int64_t each = negatives.size(0) / samples;
  for (int64_t first = 0; first < samples && each > 0; first += options.group) {
    const int64_t count = std::min(options.group, samples - first);
    const at::Tensor drawn = negatives.narrow(0, first * each, count * each);
    const at::Tensor weights = pairs.narrow(0, first, count) * (options.negatives / static_cast<double>(count * each));
    loss = loss + (at::softplus(at::mm(hidden.narrow(0, first, count), drawn.t())) * weights.unsqueeze(1)).sum();
  }
  return loss.reshape({1});
}

namespace {

// Rows of any shape as [rows, width].
at::Tensor flat_rows(const at::Tensor& rows) { return rows.reshape({-1, rows.size(-1)}); }

void check_rows(const OpContext& op, const at::Tensor& center, const at::Tensor& around, const std::vector<int64_t>& offsets,
                const at::Tensor& negatives) {
  const auto samples = static_cast<int64_t>(offsets.size()) - 1;
  if (center.size(0) != samples)
    op.fail("'{}' has {} rows, but '{}' has {} windows", op.input_name("Center"), center.size(0), op.input_name("Around"),
            samples);
  if (samples > 0 && negatives.size(0) % samples != 0)
    op.fail("'{}' has {} rows, which is no multiple of the {} samples", op.input_name("Drawn"), negatives.size(0), samples);
  if (around.size(1) != center.size(1) || negatives.size(1) != center.size(1)) {
    op.fail("rows of '{}', '{}' and '{}' are {}, {} and {} wide, expected one width", op.input_name("Center"),
            op.input_name("Around"), op.input_name("Drawn"), center.size(1), around.size(1), negatives.size(1));
  }
}

ARGOSY_OP("window_loss",
          [](const OpContext& op) {
            const WindowOptions options = window_loss_options(op);
            const at::Tensor center = flat_rows(op.tensor("Center")), around = flat_rows(op.tensor("Around")),
                             negatives = flat_rows(op.tensor("Drawn"));
            const auto& offsets = op.offsets("Around");
            check_rows(op, center, around, offsets, negatives);
            const at::Tensor loss = plain_window_loss(options, center, around, offsets, negatives);
            if (op.is_read("PerPair"))
              op.set_output("PerPair", loss.detach() / static_cast<double>(std::max<int64_t>(window_pairs(options, offsets), 1)));
            op.set_output("Loss", loss);
          })
    .doc(
        "The loss of word2vec by negative sampling, for the rows of words, of the words around each, and of words drawn at "
        "random. In skip_gram a word "
        "predicts each word around it, in cbow the mean of the words around predicts the word; either way against `negatives` "
        "words drawn at random. "
        "`group` samples share what was drawn for all of them, each pair with such a weight that it counts `negatives` of them. "
        "The loss is the "
        "sum over all pairs, so that a learning rate means what it means in word2vec. Where all rows come from sparse lookups, "
        "rows and gradients "
        "are computed together, by products of small matrices.")
    .input("Center", "a row per sample")
    .input("Around", "a row per word around, LoD level 1: a sequence per sample")
    .input("Drawn", "k rows per sample")
    .output("Loss", "one number, the sum over all pairs")
    .output("PerPair", "the mean over them, to look at: no gradient")
    .attr("mode", std::string("skip_gram"), "skip_gram or cbow")
    .attr("negatives", 5.0f, "how many drawn words each pair counts")
    .attr("group", 32, "how many samples share their negatives")
    .infer_shape([](graph::ShapeContext& context) -> Status {
      const auto& center = context.input("Center");
      context.set_output("Loss", {1}, center.dtype);
      context.set_output("PerPair", {1}, center.dtype);
      return {};
    })
    .function({.signature = "window_loss(center, around, drawn, mode='skip_gram', negatives=5.0, group=32, name=None)",
               .returns = {"Loss", "PerPair:per_pair"},
               .stops = {"PerPair"},
               .options = "WindowLossOptions",
               .result = "WindowLoss"});

}  // namespace
}  // namespace argosy::engine
