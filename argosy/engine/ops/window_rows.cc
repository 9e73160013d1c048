#include "argosy/engine/ops/window_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "argosy/optim/simd.h"

namespace argosy::engine {
namespace {

constexpr int64_t kLanes = 16;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));

constexpr int64_t kPrefetchRows = 8, kCacheLine = 64;

// Numbers of which so many can be multiplied as doubles without running out of their range, each being at least kLeast.
constexpr int64_t kFactors = 32;
constexpr double kLeast = 1e-9;
constexpr float kMostLogit = 80;  // whose power float32 has; of more a sigmoid is 1

}  // namespace

void copy_window_rows(const float* table, std::span<const int64_t> ids, int64_t width, float* out) {
  const auto bytes = static_cast<size_t>(width) * sizeof(float);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i + kPrefetchRows < ids.size()) {
      const char* next = reinterpret_cast<const char*>(table + ids[i + kPrefetchRows] * width);
      for (size_t line = 0; line < bytes; line += kCacheLine) __builtin_prefetch(next + line);
    }
    std::memcpy(out + static_cast<int64_t>(i) * width, table + ids[i] * width, bytes);
  }
}

ARGOSY_SIMD_CLONES
void add_scaled(float* to, const float* from, float scale, int64_t width) {
  int64_t k = 0;
  for (; k + kLanes <= width; k += kLanes) *reinterpret_cast<Lanes*>(to + k) += *reinterpret_cast<const Lanes*>(from + k) * scale;
  for (; k < width; ++k) to[k] += from[k] * scale;
}

// The sum of logarithms is that of a product, of so many factors at a time.
double weigh_negatives(float* rests, int64_t count, float weight) {
  double loss = 0;
  for (int64_t first = 0; first < count; first += kFactors) {
    const int64_t end = std::min(count, first + kFactors);
    double products[4] = {1, 1, 1, 1};
    for (int64_t i = first; i < end; ++i) {
      products[i % 4] *= std::max(double{rests[i]}, kLeast);
      rests[i] = weight * (1.0f - rests[i]);
    }
    loss -= std::log(products[0] * products[1] * products[2] * products[3]);
  }
  return loss;
}

ARGOSY_SIMD_CLONES
double add_positive_pairs(const float* hidden, float* gradient, std::span<const float* const> words, float* const* sums,
                          int64_t width) {
  double loss = 0, product = 1;
  for (size_t w = 0; w < words.size(); ++w) {
    const float* word = words[w];
    Lanes lanes = {};
    int64_t k = 0;
    for (; k + kLanes <= width; k += kLanes)
      lanes += *reinterpret_cast<const Lanes*>(hidden + k) * *reinterpret_cast<const Lanes*>(word + k);
    float logit = 0;
    for (; k < width; ++k) logit += hidden[k] * word[k];
    for (int64_t i = 0; i < kLanes; ++i) logit += lanes[i];
    const float power = std::exp(std::min(logit, kMostLogit));
    const float miss = 1.0f / (1.0f + power);  // 1 - sigmoid
    product *= std::max(double{power} * double{miss}, kLeast);
    if ((w + 1) % kFactors == 0) loss -= std::log(std::exchange(product, 1));
    float* sum = sums[w];
    for (k = 0; k + kLanes <= width; k += kLanes) {
      const Lanes h = *reinterpret_cast<const Lanes*>(hidden + k), v = *reinterpret_cast<const Lanes*>(word + k);
      *reinterpret_cast<Lanes*>(sum + k) -= h * miss;
      *reinterpret_cast<Lanes*>(gradient + k) -= v * miss;
    }
    for (; k < width; ++k) {
      sum[k] -= hidden[k] * miss;
      gradient[k] -= word[k] * miss;
    }
  }
  return loss - std::log(product);
}

}  // namespace argosy::engine
