#include "argosy/graph/layers/metric.h"

#include <gmock/gmock.h>

#include <cmath>
#include <thread>

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/engine/program/device.h"

namespace argosy::engine {
namespace {

using Metric = LayerTest;

// The area under the ROC curve by definition: how often a positive scores above a negative, ties counting half. Scores are
// rounded down to buckets first, as the metric does.
double pairwise_auc(const at::Tensor& scores, const at::Tensor& label, int64_t thresholds) {
  const at::Tensor bucket = (scores.select(1, -1) * static_cast<float>(thresholds)).floor();
  const at::Tensor up = bucket.masked_select(label.flatten() == 1), down = bucket.masked_select(label.flatten() == 0);
  const at::Tensor difference = up.unsqueeze(1) - down.unsqueeze(0);
  return ((difference > 0).to(at::kDouble) + (difference == 0).to(at::kDouble) * 0.5).mean().item<double>();
}

struct Batch {
  at::Tensor scores = at::rand({60, 2}), label = at::randint(0, 2, {60, 1}, at::kLong);
  Feed feed() const { return {{"p", {.tensor = scores}}, {"label", {.tensor = label}}}; }
};

TEST_F(Metric, AccuracyIsThePartWithTheLabelAmongTheLargest) {
  const Variable p = data("p", {-1, 3}, DType::float32), label = data("label", {-1, 1}, DType::int64);
  const Variable first = layers::accuracy(p, label), second = layers::accuracy(p, label, {.k = 2});
  EXPECT_EQ(first.name(), "accuracy_0.tmp_0");
  const at::Tensor scores = at::tensor({0.1f, 0.7f, 0.2f, 0.5f, 0.3f, 0.2f, 0.3f, 0.1f, 0.6f, 0.2f, 0.5f, 0.3f}).reshape({4, 3});
  const auto got =
      run({{"p", {.tensor = scores}}, {"label", {.tensor = at::tensor({1, 1, 1, 2}, at::kLong).unsqueeze(1)}}}, {first, second});
  EXPECT_FLOAT_EQ(got[0].tensor.item<float>(), 0.25f);
  EXPECT_FLOAT_EQ(got[1].tensor.item<float>(), 0.75f);
}

TEST_F(Metric, AucCountsAllBatchesAndTheLastOnes) {
  const auto auc = layers::auc(data("p", {-1, 2}, DType::float32), data("label", {-1, 1}, DType::int64),
                               {.num_thresholds = 200, .slide_steps = 2});
  EXPECT_EQ(auc.value.name(), "auc_0.tmp_0");
  EXPECT_EQ(auc.states[0].name(), "_generated_var_0");
  EXPECT_EQ(auc.states[0].shape(), (std::vector<int64_t>{3 * 201 + 1}));
  EXPECT_EQ(auc.states[3].shape(), (std::vector<int64_t>{1, 201}));
  start();
  std::vector<Batch> batches(5);
  for (size_t i = 0; i < batches.size(); ++i) {
    const auto got = run(batches[i].feed(), {auc.value, auc.batch_value});
    std::vector<at::Tensor> scores, label;
    for (size_t k = 0; k <= i; ++k) scores.push_back(batches[k].scores), label.push_back(batches[k].label);
    EXPECT_NEAR(got[0].tensor.item<double>(), pairwise_auc(at::cat(scores), at::cat(label), 200), 1e-9);
    const size_t first = i == 0 ? 0 : i - 1;
    scores.erase(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(first));
    label.erase(label.begin(), label.begin() + static_cast<std::ptrdiff_t>(first));
    EXPECT_NEAR(got[1].tensor.item<double>(), pairwise_auc(at::cat(scores), at::cat(label), 200), 1e-9);
  }
}

// Threads that count into the same states lose nothing.
TEST_F(Metric, AucIsExactUnderThreads) {
  if (test_device().is_cpu() && !in_memory(at::empty({0})))
    GTEST_SKIP() << "on the CPU torch adds without atomic operations; it is for GPUs that kernels take this way";
  const auto auc = layers::auc(data("p", {-1, 2}, DType::float32), data("label", {-1, 1}, DType::int64), {.num_thresholds = 50});
  start();
  std::vector<Batch> batches(4);
  constexpr int kRuns = 200;
  std::vector<std::thread> threads;
  for (const Batch& batch : batches) {
    threads.emplace_back([&, feed = batch.feed()] {
      for (int i = 0; i < kRuns; ++i) value_or_throw(runner_.run(*main_, feed, {auc.value.name()}, scope_));
    });
  }
  for (std::thread& thread : threads) thread.join();
  int64_t positives = 0;
  for (const Batch& batch : batches) positives += batch.label.sum().item<int64_t>();
  EXPECT_EQ(stored(auc.states[2].name()).sum().item<int64_t>(), kRuns * positives);
  EXPECT_EQ(stored(auc.states[3].name()).sum().item<int64_t>(), kRuns * (4 * 60 - positives));
}

TEST_F(Metric, TheAreaUnderPrecisionAndRecall) {
  const auto auc =
      layers::auc(data("p", {-1, 1}, DType::float32), data("label", {-1, 1}, DType::int64), {.curve = "PR", .slide_steps = 0});
  start();
  const auto area = [&](std::vector<float> scores, std::vector<int64_t> label) {
    start();
    return run({{"p", {.tensor = at::tensor(scores).unsqueeze(1)}},
                {"label", {.tensor = at::tensor(label, at::kLong).unsqueeze(1)}}},
               auc.value)
        .item<double>();
  };
  EXPECT_DOUBLE_EQ(area({0.9f, 0.8f, 0.2f, 0.1f}, {1, 1, 0, 0}), 1.0);
  // Precision 1 at recall 1/2, then 1/2 (a negative), then 2/3 at recall 1.
  EXPECT_DOUBLE_EQ(area({0.9f, 0.8f, 0.7f}, {1, 0, 1}), 0.5 * 1.0 + 0.5 * (0.5 + 2.0 / 3.0) / 2);
}

// Where scores can be looked at; on other devices the area becomes NaN instead, and the counts stay.
TEST_F(Metric, AucRefusesWhatIsNoProbability) {
  const auto auc = layers::auc(data("p", {-1, 1}, DType::float32), data("label", {-1, 1}, DType::int64));
  start();
  for (const float score : {1.5f, -0.1f, std::nanf("")}) {
    const Feed feed = {{"p", {.tensor = at::full({1, 1}, score)}}, {"label", {.tensor = at::ones({1, 1}, at::kLong)}}};
    if (in_memory(at::empty({1}, test_device()))) {
      EXPECT_THAT(error_of(feed, auc.value), testing::HasSubstr("is no probability"));
    } else {
      EXPECT_TRUE(std::isnan(run(feed, auc.value).item<double>()));
    }
  }
  EXPECT_THROW(layers::auc(data("p", {-1, 1}, DType::float32), data("label", {-1, 1}, DType::int64), {.curve = "lift"}), Error);
}

}  // namespace
}  // namespace argosy::engine
