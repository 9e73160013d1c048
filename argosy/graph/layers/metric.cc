#include "argosy/graph/layers/metric.h"

#include "argosy/base/error.h"
#include "argosy/graph/build.h"
#include "argosy/graph/function_call.h"

namespace argosy::layers {

using graph::LayerHelper;

namespace {

void append_auc(LayerHelper& helper, const Variable& input, const Variable& label, const Variable& positives,
                const Variable& negatives, const Variable& out, const AucOptions& options, int32_t slide_steps) {
  helper.append_op(
      {.type = "auc",
       .inputs = {{"Predict", {input.name()}},
                  {"Label", {label.name()}},
                  {"StatPos", {positives.name()}},
                  {"StatNeg", {negatives.name()}}},
       .outputs = {{"AUC", {out.name()}}, {"StatPosOut", {positives.name()}}, {"StatNegOut", {negatives.name()}}},
       .attributes = {{"curve", options.curve}, {"num_thresholds", options.num_thresholds}, {"slide_steps", slide_steps}}});
}

}  // namespace

Variable accuracy(const Variable& input, const Variable& label, const AccuracyOptions& options) {
  LayerHelper helper("accuracy", "");
  const std::vector<Variable> top = graph::call("topk", {input, graph::Attribute(options.k)});  // values and indices
  const Variable out = helper.create_tmp(DType::float32);
  const Variable correct = options.correct ? options.correct : helper.create_tmp(DType::int32);
  const Variable total = options.total ? options.total : helper.create_tmp(DType::int32);
  helper.append_op({.type = "accuracy",
                    .inputs = {{"Out", {top[0].name()}}, {"Indices", {top[1].name()}}, {"Label", {label.name()}}},
                    .outputs = {{"Accuracy", {out.name()}}, {"Correct", {correct.name()}}, {"Total", {total.name()}}}});
  return out;
}

Auc auc(const Variable& input, const Variable& label, const AucOptions& options) {
  if (options.num_thresholds < 1 || options.slide_steps < 0) {
    throw Error(Status::invalid_argument("auc: num_thresholds is {} and slide_steps {}; expected at least 1 and 0",
                                         options.num_thresholds, options.slide_steps));
  }
  LayerHelper helper("auc", "");
  const Variable value = helper.create_tmp(DType::float64);
  const Variable batch_value = helper.create_tmp(DType::float64);
  const int64_t buckets = options.num_thresholds + 1;
  const std::vector<int64_t> all = {1, buckets};  // what counts all batches has this form, as in Paddle
  const std::vector<int64_t> window =
      options.slide_steps == 0 ? all : std::vector<int64_t>{(1 + options.slide_steps) * buckets + 1};
  std::vector<Variable> states;
  for (const std::vector<int64_t>& shape : {window, window, all, all}) {
    states.push_back(
        helper.create_state(graph::unique_name("_generated_var"), shape, DType::int64, graph::constant_initializer(0)));
    states.back().desc().stop_gradient = false;  // as Paddle has it; nothing is differentiated here
  }
  append_auc(helper, input, label, states[0], states[1], batch_value, options, options.slide_steps);
  append_auc(helper, input, label, states[2], states[3], value, options, 0);
  return {.value = value, .batch_value = batch_value, .states = std::move(states)};
}

}  // namespace argosy::layers
