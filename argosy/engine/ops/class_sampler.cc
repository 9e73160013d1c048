#include "argosy/engine/ops/class_sampler.h"

#include <cmath>

namespace argosy::engine {

ClassSampler ClassSampler::uniform(int64_t classes) { return {Kind::uniform, classes}; }

ClassSampler ClassSampler::log_uniform(int64_t classes) {
  ClassSampler sampler(Kind::log_uniform, classes);
  sampler.log_range_ = std::log(static_cast<double>(classes) + 1);
  return sampler;
}

ClassSampler ClassSampler::table(std::span<const float> probs, std::span<const int32_t> alias,
                                 std::span<const float> alias_probs) {
  ClassSampler sampler(Kind::table, static_cast<int64_t>(probs.size()));
  sampler.probs_ = probs;
  sampler.alias_ = alias;
  sampler.alias_probs_ = alias_probs;
  return sampler;
}

int64_t ClassSampler::draw(Random& random) const {
  if (kind_ == Kind::log_uniform) return static_cast<int64_t>(std::exp(random.uniform() * log_range_) - 1) % classes_;
  const auto drawn = static_cast<int64_t>(random.below(static_cast<uint64_t>(classes_)));
  if (kind_ == Kind::uniform) return drawn;
  const auto at = static_cast<size_t>(drawn);
  const int32_t alias = alias_[at];
  const bool use_alias = random.uniform() > alias_probs_[at] && alias >= 0 && alias < classes_;
  return use_alias ? alias : drawn;
}

double ClassSampler::probability(int64_t drawn) const {
  if (kind_ == Kind::uniform) return 1.0 / static_cast<double>(classes_);
  if (kind_ == Kind::table) return probs_[static_cast<size_t>(drawn)];
  return std::log((static_cast<double>(drawn) + 2) / (static_cast<double>(drawn) + 1)) / log_range_;
}

}  // namespace argosy::engine
