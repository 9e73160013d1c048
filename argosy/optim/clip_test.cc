#include "argosy/optim/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "argosy/base/random.h"
#include "argosy/optim/regularize.h"

namespace argosy::optim {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> gradient(Random& random, size_t n, float size) {
  std::vector<float> made(n);
  for (float& number : made) number = size * static_cast<float>(random.normal());
  return made;
}

double norm(const std::vector<float>& numbers) {
  double sum = 0;
  for (const float number : numbers) sum += static_cast<double>(number) * number;
  return std::sqrt(sum);
}

// The norm is at most clip_norm, the direction is kept, and what is short enough is not touched at all.
TEST(Clip, ByNormKeepsTheDirectionAndWhatIsShortEnough) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    const auto size = static_cast<float>(std::pow(10.0, static_cast<double>(random.below(13)) - 6));
    const auto limit = static_cast<float>(std::pow(10.0, static_cast<double>(random.below(9)) - 4));
    const std::vector<float> before = gradient(random, 1 + random.below(100), size);
    std::vector<float> after = before;
    const float factor = clip_factor(sum_of_squares(after), limit);
    scale(after, factor);
    ASSERT_LE(norm(after), limit * (1 + 1e-5)) << size;
    if (norm(before) < limit * (1 - 1e-6)) {
      ASSERT_EQ(after, before);
    }
    for (size_t i = 0; i < before.size(); ++i) ASSERT_EQ(after[i], before[i] * factor);
  }
}

// Gradients that share a norm are cut by one factor: the squared norm of a group is the sum over its gradients.
TEST(Clip, ByGlobalNormIsByNormOfAllGradientsTogether) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 100; ++round) {
    std::vector<float> all;
    double sum = 0;
    for (size_t part = 0; part < 1 + random.below(5); ++part) {
      const auto one = gradient(random, random.below(70), 3);
      sum += sum_of_squares(one);
      all.insert(all.end(), one.begin(), one.end());
    }
    ASSERT_NEAR(sum, sum_of_squares(all), 1e-9 * (1 + sum));
    ASSERT_FLOAT_EQ(clip_factor(sum, 2), clip_factor(sum_of_squares(all), 2));
  }
}

TEST(Clip, SumOfSquaresOfEveryLengthIsThatOfALoop) {
  Random random(11);
  for (size_t n = 0; n < 70; ++n) {
    const auto numbers = gradient(random, n, 1);
    EXPECT_NEAR(sum_of_squares(numbers), norm(numbers) * norm(numbers), 1e-12 * (1 + static_cast<double>(n))) << n;
  }
  EXPECT_EQ(sum_of_squares(std::vector<float>{std::numeric_limits<float>::max()}),
            static_cast<double>(std::numeric_limits<float>::max()) * std::numeric_limits<float>::max())
      << "squares that float32 has no room for";
}

// A factor is a number whatever the gradients are: a clip must not make NaN of what was finite.
TEST(Clip, TheFactorIsFiniteAtTheEndsOfTheNumbers) {
  for (const double sum : {0.0, 1e-300, 1.0, 1e76, 1e300}) {
    for (const float limit : {std::numeric_limits<float>::min(), 1.0f, std::numeric_limits<float>::max()}) {
      const float factor = clip_factor(sum, limit);
      EXPECT_TRUE(factor >= 0 && factor <= 1) << factor << " for " << sum << " and " << limit;
    }
  }
}

// Whatever check() lets pass can be used: what it does to a finite gradient is finite.
TEST(Clip, WhatPassesTheCheckMakesNoNan) {
  for (const double limit :
       {0.0, -1.0, 1e-30, 1e-60, 1.0, 1e30, 1e300, static_cast<double>(kInfinity), static_cast<double>(kNan)}) {
    for (const GradientClip& clip :
         {GradientClip(GradientClipByNorm{.clip_norm = limit}), GradientClip(GradientClipByGlobalNorm{.clip_norm = limit})}) {
      if (!clip.check().ok()) continue;
      for (const double sum : {0.0, 25.0, 1e300}) {
        EXPECT_TRUE(std::isfinite(clip_factor(sum, clip.clip_norm))) << limit << " and " << sum;
      }
    }
  }
  EXPECT_EQ((GradientClip(GradientClipByGlobalNorm{.clip_norm = kInfinity}).check().message()),
            "GradientClipByGlobalNorm: clip_norm is inf; expected a finite number above 0");
  EXPECT_FALSE(GradientClip(GradientClipByNorm{.clip_norm = kNan}).check().ok());
}

TEST(Clip, ByValueTakesBoundsOfAnyKindThatAscend) {
  EXPECT_FALSE(GradientClip(GradientClipByValue{.max = kNan}).check().ok());
  EXPECT_FALSE(GradientClip(GradientClipByValue{.max = 1, .min = 2}).check().ok());
  EXPECT_TRUE(GradientClip(GradientClipByValue{.max = 1, .min = 1}).check().ok());
  const GradientClip one_sided = GradientClipByValue{.max = 1, .min = -kInfinity};
  ASSERT_TRUE(one_sided.check().ok());
  std::vector<float> grad = {-1e30f, 5};
  clip_by_value(grad, one_sided.min, one_sided.max);
  EXPECT_EQ(grad, (std::vector<float>{-1e30f, 1}));
  std::vector<float> infinite = {kInfinity, -kInfinity};
  clip_by_value(infinite, -2, 3);
  EXPECT_EQ(infinite, (std::vector<float>{3, -2}));
}

// Any length, so that no tail behind the processor's vectors is left out.
TEST(Clip, EveryElementOfEveryLengthIsClippedScaledAndRegularized) {
  for (size_t n = 0; n < 40; ++n) {
    std::vector<float> clipped(n, 9), scaled(n, 9), grad(n, 1);
    clip_by_value(clipped, -2, 2);
    scale(scaled, 0.5f);
    const std::vector<float> param(n, -4);
    regularize(L2Decay{0.25}, param, grad);
    regularize(L1Decay{2}, param, grad);
    EXPECT_EQ(clipped, std::vector<float>(n, 2)) << n;
    EXPECT_EQ(scaled, std::vector<float>(n, 4.5f)) << n;
    EXPECT_EQ(grad, std::vector<float>(n, 1 - 1 - 2)) << n;
  }
}

}  // namespace
}  // namespace argosy::optim
