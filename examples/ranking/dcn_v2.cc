// DCN-v2: crosses of all inputs, x0 * (W x + b) + x, beside a network. The twin of dcn_v2.py; run as ranking.h says.
#include "ranking.h"

namespace ranking {

Odds dcn_v2(const Clicks& clicks) {
  const Variable first = L::concat(argosy::inputs(fields(clicks), clicks.numbers), 1);
  Variable x = first;
  for (int i = 0; i < 2; ++i) x = first * L::fc(x, first.shape()[1]) + x;
  return {L::fc(L::concat({x, perceptron(first)}, 1), 1)};
}

}  // namespace ranking
