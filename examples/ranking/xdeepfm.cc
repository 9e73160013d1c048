// xDeepFM: a compressed interaction network, whose layers take every pair of a field and a row of the layer before, element by
// element. The twin of xdeepfm.py; run as ranking.h says.
#include "ranking.h"

namespace ranking {

// Sums over the width of each layer's rows; a layer's rows are weighted sums of products.
static std::vector<Variable> interactions(const std::vector<Variable>& parts, int64_t width) {
  const auto count = static_cast<int64_t>(parts.size());
  const Variable first = L::transpose(L::stack(parts, 1), {0, 2, 1});  // [batch, width, fields]
  std::vector<Variable> sums;
  Variable x = first;
  int64_t rows = count;
  for (const int64_t size : {6, 6}) {
    const Variable left = L::reshape(x, {-1, rows, 1}), right = L::reshape(first, {-1, 1, count});
    const Variable pairs = L::reshape(L::matmul(left, right), {-1, rows * count});
    x = L::reshape(L::fc(pairs, size, {.act = "relu"}), {-1, width, size});
    rows = size;
    sums.push_back(L::reduce_sum(x, {.dim = {1}}));
  }
  return sums;
}

Odds xdeepfm(const Clicks& clicks) {
  const std::vector<Variable> parts = fields(clicks);
  const Variable deep = perceptron(L::concat(argosy::inputs(parts, clicks.numbers), 1));
  const Variable linear = alone(clicks);
  return {linear + L::fc(L::concat(argosy::inputs(interactions(parts, 8), deep), 1), 1)};
}

}  // namespace ranking
