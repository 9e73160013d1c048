// Metrics that a program computes: accuracy of a batch, and the area under the curve over many.
#include <ATen/ATen.h>

#include <array>
#include <limits>

#include "argosy/base/mutex.h"
#include "argosy/engine/program/device.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

ARGOSY_OP("accuracy",
          [](const OpContext& op) {
            const at::Tensor &indices = op.tensor("Indices"), &label = op.tensor("Label");
            if (indices.dim() != 2 || label.numel() != indices.size(0)) {
              op.fail("'{}' has {} labels for {} samples", op.input_name("Label"), label.numel(), indices.size(0));
            }
            const at::Tensor correct = indices.eq(label.reshape({-1, 1})).any(1).sum().reshape({1});
            const int64_t total = indices.size(0);
            op.set_output("Accuracy", correct.to(at::kDouble).div(std::max<int64_t>(total, 1)).to(at::kFloat));
            op.set_output("Correct", correct.to(at::kInt));
            op.set_output("Total", at::full({1}, total, op.options(at::kInt)));
          })
    .doc("The fraction of samples whose label is among the given classes.")
    .input("Out", "the scores of the classes; not read")
    .input("Indices", "classes, [samples, k]")
    .input("Label", "the right class, [samples, 1]")
    .output("Accuracy", "a fraction")
    .output("Correct", "how many are right")
    .output("Total", "how many there are")
    .infer_shape([](graph::ShapeContext& context) {
      context.set_output("Accuracy", {1}, graph::DType::float32);
      context.set_output("Correct", {1}, graph::DType::int32);
      context.set_output("Total", {1}, graph::DType::int32);
      return Status();
    })
    .no_gradient();

// The states of an auc are shared by all trainer threads; the lock is chosen by where they lie.
Mutex& state_lock(const void* state) {
  static std::array<Mutex, 16>& locks = *new std::array<Mutex, 16>;
  return locks[reinterpret_cast<uintptr_t>(state) / 64 % locks.size()];
}

struct Histogram {
  std::vector<int64_t> positive, negative;
};

// How many positives and negatives the batch has by bucket of its score.
template <typename T>
Histogram count_scores(const OpContext& op, const at::Tensor& predict, const at::Tensor& label, int64_t thresholds) {
  const auto buckets = static_cast<size_t>(thresholds) + 1;
  Histogram counts{std::vector<int64_t>(buckets), std::vector<int64_t>(buckets)};
  const T* scores = predict.const_data_ptr<T>();
  const int64_t* labels = label.const_data_ptr<int64_t>();
  const int64_t width = predict.size(1);
  for (int64_t i = 0; i < predict.size(0); ++i) {
    const T score = scores[(i + 1) * width - 1];
    if (!(score >= 0 && score <= 1)) op.fail("'{}': {} in row {} is no probability", op.input_name("Predict"), score, i);
    const auto bucket = static_cast<size_t>(score * static_cast<T>(thresholds));
    if (labels[i] > 0)
      ++counts.positive[bucket];
    else if (labels[i] == 0)
      ++counts.negative[bucket];
  }
  return counts;
}

// Adds the batch to a window of the last `steps` batches, kept as: their counts one after another, the sum of them, and how
// many batches there have been. Returns the sum. Without steps the state is the sum alone.
const int64_t* add_to_window(int64_t* state, const std::vector<int64_t>& counts, int64_t steps) {
  const auto buckets = static_cast<int64_t>(counts.size());
  int64_t* sum = state + steps * buckets;
  int64_t* oldest = steps == 0 ? nullptr : state + sum[buckets] % steps * buckets;
  for (int64_t i = 0; i < buckets; ++i) {
    const int64_t count = counts[static_cast<size_t>(i)];
    sum[i] += count;
    if (oldest != nullptr) sum[i] -= oldest[i], oldest[i] = count;
  }
  if (oldest != nullptr) ++sum[buckets];
  return sum;
}

// Walks from the highest score down. ROC: positives over negatives; PR: precision over recall.
double area(const int64_t* positive, const int64_t* negative, int64_t buckets, bool precision_recall) {
  double positives = 0, negatives = 0, sum = 0, precision = 1;
  for (int64_t i = buckets - 1; i >= 0; --i) {
    const double up = static_cast<double>(positive[i]), right = static_cast<double>(negative[i]);
    if (up == 0 && right == 0) continue;
    const double before = positives, precision_before = precision;
    positives += up;
    negatives += right;
    precision = positives / (positives + negatives);
    sum += precision_recall ? up * (precision + precision_before) / 2 : right * (positives + before) / 2;
  }
  if (precision_recall) return positives > 0 ? sum / positives : 0.0;
  return positives > 0 && negatives > 0 ? sum / positives / negatives : sum;
}

at::Tensor state_of(const OpContext& op, std::string_view in, std::string_view out, int64_t expected) {
  const at::Tensor& state = op.tensor(in);
  if (state.scalar_type() != at::kLong || !state.is_contiguous() || state.numel() < expected) {
    op.fail("state '{}' has {} values of {}, expected {} of int64", op.input_name(in), state.numel(),
            c10::toString(state.scalar_type()), expected);
  }
  if (op.desc().outputs.find(out)->front() != op.input_name(in))
    op.fail("'{}' is not updated in place: the output '{}' is another variable", op.input_name(in), out);
  return state.detach();
}

// How many of a batch are in each bucket, added to `sum` by torch's functions: `counted` says which. Threads may add at once.
void count_on_device(const at::Tensor& sum, const at::Tensor& bucket, const at::Tensor& counted) {
  sum.index_add_(0, bucket, counted.to(at::kLong));
}

// As add_to_window() does, without knowing on the CPU which batch is the oldest.
at::Tensor window_on_device(const at::Tensor& state, const at::Tensor& bucket, const at::Tensor& counted, int64_t buckets,
                            int64_t steps) {
  const at::Tensor flat = state.view(-1), sum = flat.narrow(0, steps * buckets, buckets);
  if (steps == 0) return count_on_device(sum, bucket, counted), sum;
  const at::Tensor batches = flat.narrow(0, (steps + 1) * buckets, 1), oldest = batches.remainder(steps);
  const at::Tensor last = flat.narrow(0, 0, steps * buckets).view({steps, buckets});
  const at::Tensor counts = at::zeros({buckets}, flat.options());
  count_on_device(counts, bucket, counted);
  sum.add_(counts).sub_(last.index_select(0, oldest).view(-1));
  last.index_copy_(0, oldest, counts.unsqueeze(0));
  batches.add_(1);
  return sum;
}

// area() by torch's functions: buckets from the highest score down, each with what is above it.
at::Tensor area_on_device(const at::Tensor& positive, const at::Tensor& negative, bool precision_recall) {
  const at::Tensor up = positive.flip(0).to(at::kDouble), right = negative.flip(0).to(at::kDouble);
  const at::Tensor positives = up.cumsum(0), negatives = right.cumsum(0), all = positives.select(0, -1);
  if (!precision_recall) {
    const at::Tensor sum = (right * (positives - up / 2)).sum(), rest = negatives.select(0, -1);
    return at::where((all > 0).logical_and(rest > 0), sum / all / rest, sum);
  }
  const at::Tensor total = positives + negatives, precision = at::where(total > 0, positives / total, 1.0);
  const at::Tensor before = at::cat({at::ones({1}, precision.options()), precision.narrow(0, 0, precision.size(0) - 1)});
  return at::where(all > 0, (up * (precision + before) / 2).sum() / all, 0.0);
}

// The scores are not looked at on the CPU: one that is no probability counts nowhere, and makes the result NaN.
void auc_on_device(const OpContext& op, const at::Tensor& predict, const at::Tensor& label, const at::Tensor& positive,
                   const at::Tensor& negative) {
  const int64_t thresholds = op.attr<int32_t>("num_thresholds"), steps = op.attr<int32_t>("slide_steps");
  const at::Tensor scores = predict.select(1, -1), labels = label.flatten();
  const at::Tensor good = (scores >= 0).logical_and(scores <= 1);
  const at::Tensor bucket = at::where(good, scores * thresholds, 0).to(at::kLong);
  const at::Tensor up = window_on_device(positive, bucket, good.logical_and(labels > 0), thresholds + 1, steps);
  const at::Tensor down = window_on_device(negative, bucket, good.logical_and(labels == 0), thresholds + 1, steps);
  const at::Tensor area = area_on_device(up, down, op.attr<std::string>("curve") == "PR");
  op.set_output("AUC", at::where(good.all(), area, std::numeric_limits<double>::quiet_NaN()).reshape({1}));
}

void run_auc(const OpContext& op) {
  const at::Tensor predict = op.tensor("Predict").contiguous(), label = op.tensor("Label").to(at::kLong).contiguous();
  const int64_t thresholds = op.attr<int32_t>("num_thresholds"), steps = op.attr<int32_t>("slide_steps");
  if (predict.dim() != 2 || predict.size(1) < 1 || label.numel() != predict.size(0)) {
    op.fail("'{}' has {} labels for scores of shape {}", op.input_name("Label"), label.numel(),
            graph::shape_to_string(predict.sizes().vec()));
  }
  const int64_t size = steps == 0 ? thresholds + 1 : (steps + 1) * (thresholds + 1) + 1;
  const at::Tensor positive = state_of(op, "StatPos", "StatPosOut", size), negative = state_of(op, "StatNeg", "StatNegOut", size);
  if (!in_memory(positive)) return auc_on_device(op, predict, label, positive, negative);
  const Histogram counts = predict.scalar_type() == at::kDouble
                               ? count_scores<double>(op, predict, label, thresholds)
                               : count_scores<float>(op, predict.to(at::kFloat), label, thresholds);
  double result = 0;
  {
    const MutexLock lock(state_lock(positive.const_data_ptr()));
    const int64_t* positives = add_to_window(positive.data_ptr<int64_t>(), counts.positive, steps);
    const int64_t* negatives = add_to_window(negative.data_ptr<int64_t>(), counts.negative, steps);
    result = area(positives, negatives, thresholds + 1, op.attr<std::string>("curve") == "PR");
  }
  op.set_output("AUC", at::full({1}, result, at::kDouble));
}

Status infer_auc(graph::ShapeContext& context) {
  const auto curve = context.attribute<std::string>("curve");
  if (curve != "ROC" && curve != "PR") return Status::invalid_argument("curve '{}' is not known; expected ROC or PR", curve);
  const int64_t buckets = context.attribute<int32_t>("num_thresholds") + 1, steps = context.attribute<int32_t>("slide_steps");
  const std::vector<int64_t> state =
      steps == 0 ? std::vector<int64_t>{1, buckets} : std::vector<int64_t>{(1 + steps) * buckets + 1};
  context.set_output("AUC", {1}, graph::DType::float64);
  context.set_output("StatPosOut", state, graph::DType::int64);
  context.set_output("StatNegOut", state, graph::DType::int64);
  return {};
}

ARGOSY_OP("auc", run_auc)
    .doc("The area under the curve, over all batches or over the last ones; counts are kept in buckets of the score.")
    .input("Predict", "probabilities; the last column counts")
    .input("Label", "0 or 1")
    .input("StatPos", "positives by bucket")
    .input("StatNeg", "negatives by bucket")
    .output("AUC", "the area")
    .output("StatPosOut", "the same variable as StatPos")
    .output("StatNegOut", "the same variable as StatNeg")
    .attr("curve", std::string("ROC"), "ROC | PR")
    .attr("num_thresholds", 4095, "one less than the number of buckets")
    .attr("slide_steps", 1, "over the last so many batches; 0: over all")
    .infer_shape(infer_auc)
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
