// Losses over many classes of which a few are drawn.
#include <deque>

#include "argosy/base/error.h"
#include "argosy/graph/layers/loss.h"
#include "argosy/graph/layers/operators.h"

namespace argosy::layers {

using graph::LayerHelper;

namespace {

// A way to draw from a distribution in constant time (Walker's aliases): class c gets a fair share of the draws, keeps the part
// own[c] of them and hands the rest to alias[c].
struct AliasTable {
  std::vector<float> alias, own;  // alias is -1 where a class keeps all
};

AliasTable make_aliases(const std::vector<float>& probabilities) {
  const size_t count = probabilities.size();
  AliasTable table{std::vector<float>(count, -1), std::vector<float>(count, 1)};
  std::vector<double> share(count);
  std::deque<size_t> poor, rich;
  const auto sort_in = [&](size_t at) {
    if (share[at] > 1)
      rich.push_back(at);
    else if (share[at] < 1)
      poor.push_back(at);
  };
  for (size_t i = 0; i < count; ++i) {
    share[i] = static_cast<double>(probabilities[i]) * static_cast<double>(count);
    sort_in(i);
  }
  while (!poor.empty() && !rich.empty()) {
    const size_t taker = poor.front(), giver = rich.front();
    poor.pop_front();
    rich.pop_front();
    table.own[taker] = static_cast<float>(share[taker]);
    table.alias[taker] = static_cast<float>(giver);
    share[giver] -= 1 - share[taker];
    sort_in(giver);
  }
  return table;
}

Variable constant_parameter(LayerHelper& helper, std::vector<float> values, DType dtype) {
  const auto count = static_cast<int64_t>(values.size());
  Variable parameter = helper.create_parameter(ParamAttr(graph::values_initializer(std::move(values))), {count}, dtype);
  parameter.set_stop_gradient(true);
  return parameter;
}

int32_t sampler_number(const NceOptions& options, int32_t classes) {
  if (options.sampler == "uniform") return 0;
  if (options.sampler == "log_uniform") return 1;
  if (options.sampler != "custom_dist") {
    throw Error(Status::invalid_argument("nce: sampler '{}' is not known; expected uniform, log_uniform or custom_dist",
                                         options.sampler));
  }
  if (options.custom_dist.size() != static_cast<size_t>(classes)) {
    throw Error(
        Status::invalid_argument("nce: custom_dist has {} probabilities for {} classes", options.custom_dist.size(), classes));
  }
  return 2;
}

void put_distribution(LayerHelper& helper, graph::SlotMap& inputs, const std::vector<float>& probabilities) {
  const AliasTable table = make_aliases(probabilities);
  inputs["CustomDistProbs"] = {constant_parameter(helper, probabilities, DType::float32).name()};
  inputs["CustomDistAlias"] = {constant_parameter(helper, table.alias, DType::int32).name()};
  inputs["CustomDistAliasProbs"] = {constant_parameter(helper, table.own, DType::float32).name()};
}

}  // namespace

Variable nce(const Variable& input, const Variable& label, int32_t num_total_classes, const NceOptions& options) {
  const int32_t sampler = sampler_number(options, num_total_classes);
  if (input.shape().size() != 2)
    throw Error(Status::invalid_argument("nce: '{}' has shape {}, expected [rows, width]", input.name(),
                                         graph::shape_to_string(input.shape())));
  LayerHelper helper("nce", options.name);
  const Variable weight = helper.create_parameter(options.param, {num_total_classes, input.shape()[1]}, input.dtype());
  graph::SlotMap inputs = {{"Input", {input.name()}}, {"Label", {label.name()}}, {"Weight", {weight.name()}}};
  if (!options.bias.absent)
    inputs["Bias"] = {helper.create_parameter(options.bias, {num_total_classes, 1}, input.dtype(), true).name()};
  const Variable cost = helper.create_tmp(input.dtype());
  const Variable logits = helper.create_tmp(input.dtype());
  const Variable labels = helper.create_tmp(label.dtype());
  if (options.sample_weight) inputs["SampleWeight"] = {options.sample_weight.name()};
  if (sampler == 2) put_distribution(helper, inputs, options.custom_dist);
  helper.append_op({.type = "nce",
                    .inputs = std::move(inputs),
                    .outputs = {{"Cost", {cost.name()}}, {"SampleLogits", {logits.name()}}, {"SampleLabels", {labels.name()}}},
                    .attributes = {{"num_total_classes", num_total_classes},
                                   {"num_neg_samples", options.num_neg_samples},
                                   {"seed", options.seed},
                                   {"sampler", sampler},
                                   {"is_sparse", options.is_sparse},
                                   {"remote_prefetch", options.is_sparse}}});
  return operate("elementwise_div", cost, options.num_neg_samples + 1.0);
}

namespace {

// What sample_logits makes, and the labels as one_hot makes them of it. In the order of their names.
struct SampleVariables {
  Variable samples, probabilities, logits, label, soft_label, logits_dim, labels_dim;
};

SampleVariables make_sample_variables(LayerHelper& helper, const Variable& logits, const Variable& label,
                                      const SampledSoftmaxOptions& options) {
  const bool given = static_cast<bool>(options.customized_samples);
  return {.samples = given ? options.customized_samples : helper.create_tmp(DType::int64),
          .probabilities = given ? options.customized_probabilities : helper.create_tmp(logits.dtype()),
          .logits = helper.create_tmp(logits.dtype()),
          .label = helper.create_tmp(DType::int64),
          .soft_label = helper.create_tmp(DType::float32),
          .logits_dim = helper.create_tmp(logits.dtype()),
          .labels_dim = helper.create_tmp(label.dtype())};
}

void append_sample_logits(LayerHelper& helper, const Variable& logits, const Variable& label, const SampleVariables& made,
                          int32_t num_samples, const SampledSoftmaxOptions& options) {
  graph::SlotMap inputs = {{"Logits", {logits.name()}}, {"Labels", {label.name()}}};
  const bool given = static_cast<bool>(options.customized_samples);
  if (given) {
    inputs["CustomizedSamples"] = {made.samples.name()};
    inputs["CustomizedProbabilities"] = {made.probabilities.name()};
  }
  helper.append_op({.type = "sample_logits",
                    .inputs = std::move(inputs),
                    .outputs = {{"Samples", {made.samples.name()}},
                                {"Probabilities", {made.probabilities.name()}},
                                {"SampledLabels", {made.label.name()}},
                                {"SampledLogits", {made.logits.name()}},
                                {"LogitsDim", {made.logits_dim.name()}},
                                {"LabelsDim", {made.labels_dim.name()}}},
                    .attributes = {{"use_customized_samples", given},
                                   {"uniq", true},
                                   {"remove_accidental_hits", options.remove_accidental_hits},
                                   {"num_samples", num_samples},
                                   {"seed", options.seed}}});
}

}  // namespace

Variable sampled_softmax_with_cross_entropy(const Variable& logits, const Variable& label, int32_t num_samples,
                                            const SampledSoftmaxOptions& options) {
  if (static_cast<bool>(options.customized_samples) != static_cast<bool>(options.customized_probabilities)) {
    throw Error(Status::invalid_argument(
        "sampled_softmax_with_cross_entropy: customized_samples and customized_probabilities go together"));
  }
  LayerHelper helper("sample_logits", "");
  const SampleVariables made = make_sample_variables(helper, logits, label, options);
  const Variable loss = helper.create_tmp(logits.dtype());
  const Variable softmax = helper.create_tmp(logits.dtype());
  append_sample_logits(helper, logits, label, made, num_samples, options);
  helper.append_op({.type = "one_hot",
                    .inputs = {{"X", {made.label.name()}}},
                    .outputs = {{"Out", {made.soft_label.name()}}},
                    .attributes = {{"depth", num_samples + 1}}});
  helper.append_op({.type = "softmax_with_cross_entropy",
                    .inputs = {{"Logits", {made.logits.name()}}, {"Label", {made.soft_label.name()}}},
                    .outputs = {{"Softmax", {softmax.name()}}, {"Loss", {loss.name()}}},
                    .attributes = {{"soft_label", true}, {"ignore_index", 0}, {"numeric_stable_mode", false}}});
  return operate("elementwise_div", loss, static_cast<double>(options.num_true));
}

}  // namespace argosy::layers
