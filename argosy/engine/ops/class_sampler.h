#pragma once

#include <cstdint>
#include <span>

#include "argosy/base/random.h"

namespace argosy::engine {

// Draws classes at random and knows how likely each is. The numbers are those of Paddle's samplers.
class ClassSampler {
 public:
  // Every class of [0, classes) alike.
  static ClassSampler uniform(int64_t classes);
  // Low numbers more often: class c with log((c + 2) / (c + 1)) / log(classes + 1), for classes sorted by falling frequency.
  static ClassSampler log_uniform(int64_t classes);
  // By a table: class c is drawn where a fair draw falls on it and passes alias_probs[c], its alias otherwise (-1: none).
  // The spans must outlive the sampler, and be of one size.
  static ClassSampler table(std::span<const float> probs, std::span<const int32_t> alias, std::span<const float> alias_probs);

  int64_t draw(Random& random) const;
  double probability(int64_t drawn) const;

 private:
  enum class Kind { uniform, log_uniform, table };
  ClassSampler(Kind kind, int64_t classes) : kind_(kind), classes_(classes) {}

  Kind kind_;
  int64_t classes_;
  double log_range_ = 0;
  std::span<const float> probs_, alias_probs_;
  std::span<const int32_t> alias_;
};

}  // namespace argosy::engine
