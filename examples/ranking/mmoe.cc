// MMoE: clicks and orders by the same experts, which each task weighs by a gate of its own. The twin of mmoe.py; run as
// ranking.h says.
#include "ranking.h"

namespace ranking {

Odds mmoe(const Clicks& clicks) {
  constexpr int64_t kExperts = 3, kWidth = 16;
  const std::vector<Variable> parts = fields(clicks);
  const Variable x = L::concat(argosy::inputs(parts, parts[0] * parts[1], clicks.numbers), 1);
  std::vector<Variable> experts;
  for (int64_t i = 0; i < kExperts; ++i) experts.push_back(L::fc(x, kWidth, {.act = "relu"}));
  const Variable all = L::stack(experts, 1);  // [batch, experts, width]
  Odds odds;
  for (int task = 0; task < 2; ++task) {
    const Variable gate = L::reshape(L::fc(x, kExperts, {.act = "softmax"}), {-1, kExperts, 1});
    const Variable mixed = L::reduce_sum(L::elementwise_mul(all, gate), {.dim = {1}});
    odds.push_back(L::fc(L::fc(mixed, 16, {.act = "relu"}), 1));
  }
  return odds;
}

}  // namespace ranking
