// Losses over many classes that look at a few of them only: the label's and some drawn at random.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <unordered_set>

#include "argosy/engine/ops/class_sampler.h"
#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/op.h"
#include "argosy/graph/backward.h"

namespace argosy::engine {
namespace {

Random random_of(const OpContext& op) {
  const at::Tensor draw = at::empty({1}, at::kLong).random_(op.generator(op.attr<int32_t>("seed")));
  return Random(static_cast<uint64_t>(draw.item<int64_t>()));
}

// Labels as [rows, n] int64, each a class.
at::Tensor checked_labels(const OpContext& op, std::string_view slot, int64_t classes) {
  const at::Tensor label = op.tensor(slot).to(at::kLong).contiguous();
  const int64_t* data = label.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < label.numel(); ++i) {
    if (data[i] < 0 || data[i] >= classes) {
      op.fail("'{}': class {} at position {} is outside the {} classes", op.input_name(slot), data[i], i, classes);
    }
  }
  return label.reshape({label.size(0), -1});
}

// True where the gradient of the parameter at `slot` is of rows (is_sparse).
bool takes_rows(const OpContext& op, std::string_view slot) {
  if (!op.instruction().uses_rows) return false;
  const graph::VarDesc* gradient =
      op.frame().program().program().global_block().find_var(graph::gradient_name(op.input_name(slot)));
  return gradient != nullptr && gradient->kind == graph::VarKind::selected_rows;
}

// Rows of a parameter by class. Where its gradient is of rows they are a leaf, as those of a lookup.
at::Tensor rows_of(const OpContext& op, std::string_view slot, const at::Tensor& ids) {
  const at::Tensor& table = op.tensor(slot);
  if (!takes_rows(op, slot)) return at::index_select(table, 0, ids);
  at::NoGradGuard no_grad;
  at::Tensor leaf = at::index_select(table, 0, ids);
  leaf.set_requires_grad(true);
  op.frame().pending_lookups().push_back(
      {.table = op.instruction().find_input(slot)->values[0], .leaf = leaf, .pieces = {{.ids = ids}}});
  return leaf;
}

template <typename T>
std::span<const T> values_of(const OpContext& op, std::string_view slot, at::ScalarType type, int64_t classes) {
  const at::Tensor& values = op.tensor(slot);
  if (values.scalar_type() != type || !values.is_contiguous() || values.numel() != classes) {
    op.fail("'{}' has {} values of {}, expected {} of {}", op.input_name(slot), values.numel(),
            c10::toString(values.scalar_type()), classes, c10::toString(type));
  }
  return {values.const_data_ptr<T>(), static_cast<size_t>(classes)};
}

// Paddle draws from one class less than there are where the draw is log-uniform: the last class never comes.
ClassSampler sampler_of(const OpContext& op, int64_t classes) {
  switch (op.attr<int32_t>("sampler")) {
    case 0: return ClassSampler::uniform(classes);
    case 1: return ClassSampler::log_uniform(std::max<int64_t>(classes - 1, 1));
    case 2:
      return ClassSampler::table(values_of<float>(op, "CustomDistProbs", at::kFloat, classes),
                                 values_of<int32_t>(op, "CustomDistAlias", at::kInt, classes),
                                 values_of<float>(op, "CustomDistAliasProbs", at::kFloat, classes));
    default:
      op.fail("sampler {} is not known; expected 0 (uniform), 1 (log_uniform) or 2 (custom_dist)", op.attr<int32_t>("sampler"));
  }
}

struct Candidates {
  at::Tensor classes, probabilities;  // [rows, true + drawn], int64 and double
};

Candidates draw_candidates(const OpContext& op, const at::Tensor& labels, int64_t class_count) {
  const ClassSampler sampler = sampler_of(op, class_count);
  const auto& fixed = op.attr<std::vector<int32_t>>("custom_neg_classes");
  const int64_t rows = labels.size(0), true_count = labels.size(1), drawn = op.attr<int32_t>("num_neg_samples");
  Candidates out{at::empty({rows, true_count + drawn}, at::kLong), at::empty({rows, true_count + drawn}, at::kDouble)};
  Random random = random_of(op);
  const int64_t* label = labels.const_data_ptr<int64_t>();
  int64_t* classes = out.classes.mutable_data_ptr<int64_t>();
  double* probabilities = out.probabilities.mutable_data_ptr<double>();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < true_count + drawn; ++i, ++classes, ++probabilities) {
      const bool given = static_cast<size_t>(drawn) == fixed.size();
      *classes = i < true_count ? *label++ : given ? fixed[static_cast<size_t>(i - true_count)] : sampler.draw(random);
      *probabilities = sampler.probability(*classes);
    }
  }
  return out;
}

void run_nce(const OpContext& op) {
  const Value& input = op.input("Input");
  const at::Tensor& x = input.tensor;
  const int64_t class_count = op.attr<int32_t>("num_total_classes"), drawn = op.attr<int32_t>("num_neg_samples");
  if (class_count < 1 || op.tensor("Weight").size(0) != class_count) {
    op.fail("'{}' has {} rows, expected one for each of {} classes", op.input_name("Weight"), op.tensor("Weight").size(0),
            class_count);
  }
  const at::Tensor labels = checked_labels(op, "Label", class_count);
  if (labels.size(0) != x.size(0))
    op.fail("'{}' has {} rows, '{}' has {}", op.input_name("Label"), labels.size(0), op.input_name("Input"), x.size(0));
  const Candidates candidates = draw_candidates(op, labels, class_count);
  const at::Tensor ids = candidates.classes.flatten();
  const int64_t each = candidates.classes.size(1), true_count = labels.size(1);
  at::Tensor logits = at::bmm(rows_of(op, "Weight", ids).reshape({x.size(0), each, -1}), x.unsqueeze(2)).squeeze(2);
  if (op.has_input("Bias")) logits = logits + rows_of(op, "Bias", ids).reshape({x.size(0), each});
  const at::Tensor odds = candidates.probabilities.to(x.scalar_type()) * static_cast<double>(drawn);
  const at::Tensor scores = at::sigmoid(logits), total = at::log(scores + odds);
  const at::Tensor right = (total - at::log_sigmoid(logits)).narrow(1, 0, true_count);
  const at::Tensor wrong = (total - at::log(odds)).narrow(1, true_count, drawn);
  at::Tensor cost = right.sum(1, true) + wrong.sum(1, true);
  if (op.has_input("SampleWeight")) cost = cost * op.tensor("SampleWeight").reshape({-1, 1});
  op.set_output("Cost", std::move(cost), input.lod);
  op.set_output("SampleLogits", scores.detach());
  op.set_output("SampleLabels", candidates.classes);
}

Status infer_nce(graph::ShapeContext& context) {
  const auto &input = context.input("Input"), &label = context.input("Label"), &weight = context.input("Weight");
  if (input.shape.size() != 2 || weight.shape.size() != 2 || input.shape[1] != weight.shape[1]) {
    return Status::invalid_argument("'{}' {} does not fit '{}' {}; expected [rows, width] and [classes, width]", input.name,
                                    graph::shape_to_string(input.shape), weight.name, graph::shape_to_string(weight.shape));
  }
  if (context.attribute<int32_t>("num_neg_samples") < 1)
    return Status::invalid_argument("num_neg_samples is {}, expected at least 1", context.attribute<int32_t>("num_neg_samples"));
  const int64_t each = context.attribute<int32_t>("num_neg_samples") + (label.shape.size() == 2 ? label.shape[1] : 1);
  context.set_output("Cost", {input.shape[0], 1}, input.dtype);
  context.set_output("SampleLogits", {input.shape[0], each}, input.dtype);
  context.set_output("SampleLabels", {input.shape[0], each}, graph::DType::int64);
  return {};
}

ARGOSY_OP("nce", run_nce)
    .doc("Noise-contrastive estimation: the label's class against classes drawn for each row.")
    .input("Input", "[rows, width]")
    .input("Label", "the true classes, [rows, n]")
    .input("Weight", "[classes, width]")
    .optional_input("Bias", "[classes, 1]")
    .optional_input("SampleWeight", "multiplies the cost, [rows, 1]")
    .optional_input("CustomDistProbs", "the probability of each class, for sampler 2")
    .optional_input("CustomDistAlias", "its alias")
    .optional_input("CustomDistAliasProbs", "the part of a fair share that is its own")
    .output("Cost", "[rows, 1]")
    .output("SampleLogits", "the sigmoid of the scores of the candidates")
    .output("SampleLabels", "the candidates: true classes, then drawn ones")
    .attr("num_total_classes", 1, "how many classes there are")
    .attr("num_neg_samples", 10, "how many are drawn for a row")
    .attr("sampler", 0, "0: uniform, 1: log-uniform, 2: the given distribution")
    .attr("seed", 0, "draw the same in every run")
    .attr("is_sparse", false, "the gradients hold only the rows of the batch")
    .attr("remote_prefetch", false, "set by the transpiler")
    .attr("custom_neg_classes", std::vector<int32_t>{}, "take these instead of drawing, where there are num_neg_samples of them")
    .infer_shape(infer_nce)
    .cpu_only();

// How likely a class is among `wanted` different ones that took `tries` draws.
double chance(double probability, int64_t wanted, int64_t tries) {
  if (tries == wanted) return probability * static_cast<double>(wanted);
  return -std::expm1(static_cast<double>(tries) * std::log1p(-probability));
}

// One set of classes for the whole batch, behind each row's own labels.
Candidates draw_for_batch(const OpContext& op, const at::Tensor& labels, int64_t class_count) {
  const int64_t wanted = op.attr<int32_t>("num_samples"), rows = labels.size(0), true_count = labels.size(1);
  if (wanted > class_count) op.fail("num_samples is {}, but there are {} classes to draw from", wanted, class_count);
  const ClassSampler sampler = ClassSampler::log_uniform(class_count);
  Random random = random_of(op);
  std::vector<int64_t> drawn;
  std::unordered_set<int64_t> seen;
  int64_t tries = 0;
  for (; static_cast<int64_t>(drawn.size()) < wanted; ++tries) {
    const int64_t one = sampler.draw(random);
    if (seen.insert(one).second || !op.attr<bool>("uniq")) drawn.push_back(one);
  }
  Candidates out;
  out.classes = at::cat({labels, at::tensor(drawn, at::kLong).unsqueeze(0).expand({rows, wanted})}, 1);
  out.probabilities = at::empty({rows, true_count + wanted}, at::kDouble);
  const int64_t* classes = out.classes.const_data_ptr<int64_t>();
  double* probabilities = out.probabilities.mutable_data_ptr<double>();
  for (int64_t i = 0; i < out.classes.numel(); ++i) probabilities[i] = chance(sampler.probability(classes[i]), wanted, tries);
  return out;
}

void run_sample_logits(const OpContext& op) {
  constexpr double kLargest = 1e20;
  const at::Tensor& logits = op.tensor("Logits");
  const int64_t class_count = logits.size(1);
  const at::Tensor labels = checked_labels(op, "Labels", class_count);
  Candidates candidates;
  if (op.has_input("CustomizedSamples")) {
    candidates = {checked_labels(op, "CustomizedSamples", class_count), op.tensor("CustomizedProbabilities")};
  } else {
    candidates = draw_for_batch(op, labels, class_count);
    op.set_output("Samples", candidates.classes);
    op.set_output("Probabilities", candidates.probabilities.to(logits.scalar_type()));
  }
  const at::Tensor logs = at::log(candidates.probabilities).clamp(-kLargest, kLargest).to(logits.scalar_type());
  at::Tensor sampled = (logits.gather(1, candidates.classes) - logs).clamp(-kLargest, kLargest);
  const int64_t true_count = labels.size(1), drawn = candidates.classes.size(1) - true_count;
  if (op.attr<bool>("remove_accidental_hits")) {
    const at::Tensor hits = (candidates.classes.narrow(1, true_count, drawn).unsqueeze(2) == labels.unsqueeze(1)).any(2);
    const at::Tensor none = at::zeros({labels.size(0), true_count}, at::kBool);
    sampled = sampled - at::cat({none, hits}, 1).to(sampled.scalar_type()) * kLargest;
  }
  op.set_output("SampledLogits", std::move(sampled));
  op.set_output("SampledLabels",
                at::arange(true_count, at::kLong).unsqueeze(0).expand({labels.size(0), true_count}).contiguous());
}

Status infer_sample_logits(graph::ShapeContext& context) {
  const auto &logits = context.input("Logits"), &labels = context.input("Labels");
  if (logits.shape.size() != 2 || labels.shape.size() != 2) {
    return Status::invalid_argument("'{}' {} and '{}' {} must have 2 dimensions", logits.name,
                                    graph::shape_to_string(logits.shape), labels.name, graph::shape_to_string(labels.shape));
  }
  const int64_t each = context.attribute<int32_t>("num_samples") + labels.shape[1];
  context.set_output("Samples", {logits.shape[0], each}, graph::DType::int64);
  context.set_output("Probabilities", {logits.shape[0], each}, logits.dtype);
  context.set_output("SampledLogits", {logits.shape[0], each}, logits.dtype);
  context.set_output("SampledLabels", labels.shape, graph::DType::int64);
  context.set_output("LogitsDim", {logits.shape[0], logits.shape[1], 0}, logits.dtype);
  context.set_output("LabelsDim", {labels.shape[0], labels.shape[1], 0}, labels.dtype);
  return {};
}

ARGOSY_OP("sample_logits", run_sample_logits)
    .doc("The logits of the labels and of classes drawn once for the batch, corrected by how likely each was drawn.")
    .input("Logits", "[rows, classes]")
    .input("Labels", "[rows, n]")
    .optional_input("CustomizedSamples", "candidates instead of drawn ones, [rows, n + num_samples]")
    .optional_input("CustomizedProbabilities", "how likely each of them was")
    .output("Samples", "the candidates: labels, then drawn classes")
    .output("Probabilities", "how likely each was")
    .output("SampledLogits", "[rows, n + num_samples]")
    .output("SampledLabels", "where the labels are among the candidates")
    .optional_output("LogitsDim", "not made")
    .optional_output("LabelsDim", "not made")
    .attr("num_samples", 1, "how many are drawn")
    .attr("uniq", true, "draw different ones")
    .attr("remove_accidental_hits", true, "a drawn class that is a label of the row does not count")
    .attr("use_customized_samples", false, "as the inputs say")
    .attr("seed", 0, "draw the same in every run")
    .infer_shape(infer_sample_logits)
    .cpu_only();

}  // namespace
}  // namespace argosy::engine
