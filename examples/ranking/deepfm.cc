// DeepFM: logistic regression, a factorization machine, and a network over the same embeddings. The twin of deepfm.py; run as
// ranking.h says.
#include "ranking.h"

namespace ranking {

Odds deepfm(const Clicks& clicks) {
  const std::vector<Variable> parts = fields(clicks);
  const Variable whole = L::square(L::sums(parts));
  std::vector<Variable> squares;
  for (const Variable& part : parts) squares.push_back(L::square(part));
  const Variable pairs = L::reduce_sum(whole - L::sums(squares), {.dim = {1}, .keep_dim = true});
  const Variable deep = L::fc(perceptron(L::concat(argosy::inputs(parts, clicks.numbers), 1)), 1);
  return {alone(clicks) + pairs * 0.5 + deep};
}

}  // namespace ranking
