#include "argosy/engine/train/evaluation_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "argosy/base/random.h"
#include "argosy/base/thread.h"

namespace argosy::engine {
namespace {

constexpr size_t kSamples = 6000, kThreads = 3;

struct Samples {
  std::vector<float> predictions;
  std::vector<int64_t> labels;
};

// Predictions in the middle of the metric's buckets, so that counting in buckets loses nothing.
Samples draw(uint64_t seed) {
  Random random(seed);
  Samples samples;
  for (size_t i = 0; i < kSamples; ++i) {
    const auto label = static_cast<int64_t>(random.below(2));
    samples.labels.push_back(label);
    samples.predictions.push_back((static_cast<float>(random.below(80) + (label != 0 ? 20 : 0)) + 0.5f) / 100.0f);
  }
  return samples;
}

// Every pair of a positive and a negative: the definition.
double pairwise_auc(const Samples& samples) {
  double won = 0, pairs = 0;
  for (size_t i = 0; i < kSamples; ++i) {
    for (size_t j = 0; j < kSamples; ++j) {
      if (samples.labels[i] != 1 || samples.labels[j] != 0) continue;
      pairs += 1;
      won += samples.predictions[i] > samples.predictions[j] ? 1.0 : samples.predictions[i] == samples.predictions[j] ? 0.5 : 0.0;
    }
  }
  return won / pairs;
}

template <typename Update>
void from_threads(Update update) {
  std::vector<Thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back("metric", [=] { update(t * kSamples / kThreads, kSamples / kThreads); });
  }
}

TEST(AucMetric, EqualsItsDefinitionWithSeveralThreads) {
  const uint64_t seed = static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed()) + 1;
  SCOPED_TRACE(seed);
  const Samples samples = draw(seed);
  AucMetric auc(100);
  from_threads([&](size_t begin, size_t count) {
    EXPECT_TRUE(
        auc.update(std::span(samples.predictions).subspan(begin, count), std::span(samples.labels).subspan(begin, count)).ok());
  });
  EXPECT_NEAR(auc.value(), pairwise_auc(samples), 1e-9);
  auc.reset();
  EXPECT_EQ(auc.value(), 0.0);
}

TEST(AucMetric, RefusesWhatIsNoProbabilityAndCountsNoneOfIt) {
  AucMetric auc;
  const std::vector<int64_t> labels = {1, 0};
  for (const float wrong : {-0.1f, 1.1f, std::nanf("")}) {
    EXPECT_EQ(auc.update(std::vector<float>{0.9f, wrong}, labels).code(), Code::invalid_argument);
  }
  EXPECT_EQ(auc.value(), 0.0);
  EXPECT_TRUE(auc.update(std::vector<float>{1.0f, 0.0f}, labels).ok());
  EXPECT_EQ(auc.value(), 1.0);
}

TEST(PrecisionAndRecall, CountEverySampleOnce) {
  const Samples samples = draw(3);
  PrecisionMetric precision;
  RecallMetric recall;
  from_threads([&](size_t begin, size_t count) {
    precision.update(std::span(samples.predictions).subspan(begin, count), std::span(samples.labels).subspan(begin, count));
    recall.update(std::span(samples.predictions).subspan(begin, count), std::span(samples.labels).subspan(begin, count));
  });
  double hits = 0, predicted = 0, positives = 0;
  for (size_t i = 0; i < kSamples; ++i) {
    const bool guess = std::rint(samples.predictions[i]) == 1.0f;
    hits += guess && samples.labels[i] == 1;
    predicted += guess;
    positives += samples.labels[i] == 1;
  }
  EXPECT_EQ(precision.value(), hits / predicted);
  EXPECT_EQ(recall.value(), hits / positives);
}

TEST(ErrorMetric, MeansOverAllBatches) {
  ErrorMetric error;
  error.update(std::vector<float>{1, 2}, std::vector<float>{0, 4});
  error.update(std::vector<float>{3}, std::vector<float>{3});
  EXPECT_DOUBLE_EQ(error.mean_absolute(), 1.0);
  EXPECT_DOUBLE_EQ(error.root_mean_squared(), std::sqrt(5.0 / 3.0));
}

TEST(MeanMetric, WeighsBatchesBySize) {
  MeanMetric mean;
  EXPECT_EQ(mean.value(), 0.0);
  mean.update(1.0, 1);
  mean.update(0.0, 3);
  EXPECT_EQ(mean.value(), 0.25);
}

}  // namespace
}  // namespace argosy::engine
