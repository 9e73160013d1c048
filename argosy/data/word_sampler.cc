#include "argosy/data/word_sampler.h"

#include <algorithm>
#include <cmath>

namespace argosy::data {

WordSampler::WordSampler(const Vocabulary& vocabulary, double power) : entries_(static_cast<size_t>(vocabulary.size())) {
  std::vector<double> heights(entries_.size());  // 1: as much as a column holds
  double sum = 0;
  for (size_t i = 0; i < heights.size(); ++i)
    sum += heights[i] = std::pow(static_cast<double>(vocabulary.count(static_cast<int64_t>(i))), power);
  std::vector<uint32_t> low, high;
  for (uint32_t i = 0; i < heights.size(); ++i) {
    heights[i] *= static_cast<double>(heights.size()) / sum;
    (heights[i] < 1 ? low : high).push_back(i);
  }
  constexpr double kAll = 4294967296.0;
  const auto share = [](double height) { return static_cast<uint32_t>(std::min(height * kAll, kAll - 1)); };
  while (!low.empty() && !high.empty()) {
    const uint32_t small = low.back(), large = high.back();
    low.pop_back();
    entries_[small] = {share(heights[small]), large};
    heights[large] -= 1 - heights[small];
    if (heights[large] >= 1) continue;
    high.pop_back();
    low.push_back(large);
  }
  for (const auto& rest : {low, high}) {
    for (const uint32_t i : rest) entries_[i] = {share(1), i};
  }
}

}  // namespace argosy::data
