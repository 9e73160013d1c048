// DSSM: a tower for the user and one for the item, which meet in the cosine of what they give. The twin of dssm.py; run as
// ranking.h says.
#include "ranking.h"

namespace ranking {

static Variable tower(const std::vector<Variable>& parts) { return L::fc(L::fc(L::concat(parts, 1), 32, {.act = "relu"}), 8); }

static Variable row_sum(const Variable& x) { return L::reduce_sum(x, {.dim = {1}, .keep_dim = true}); }

Odds dssm(const Clicks& clicks) {
  const Variable user = tower({embed(clicks.user), L::sequence_pool(embed(clicks.history), "average"), clicks.numbers});
  const Variable item = tower({embed(clicks.item), embed(clicks.category)});
  const Variable product = row_sum(user * item), users = row_sum(user * user), items = row_sum(item * item);
  return {L::fc(product / L::sqrt(users * items + 1e-6), 1)};
}

}  // namespace ranking
