// GRU4Rec: a recurrent network reads the history in order, and its state meets the item that is shown. The twin of gru4rec.py;
// run as ranking.h says.
#include "ranking.h"

namespace ranking {

Odds gru4rec(const Clicks& clicks) {
  constexpr int32_t kState = 16;
  const Variable steps = L::dynamic_gru(L::fc(embed(clicks.history), 3 * kState), kState);
  const Variable session = L::sequence_last_step(steps);
  const Variable shown = L::fc(L::concat({embed(clicks.item), embed(clicks.category)}, 1), kState);
  return {alone(clicks) + L::reduce_sum(session * shown, {.dim = {1}, .keep_dim = true})};
}

}  // namespace ranking
