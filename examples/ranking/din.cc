// DIN: a history weighted by what each of its items has to do with the one that is shown. The twin of din.py; run as ranking.h
// says.
#include "ranking.h"

namespace ranking {

// The history's rows, summed by weights that a network gives them. `history` are sequences, `target` one row for each.
static Variable attention(const Variable& history, const Variable& target) {
  const Variable shown = L::sequence_expand_as(target, history);
  const Variable distance = history - shown, product = history * shown;
  const Variable hidden = L::fc(L::concat({history, shown, distance, product}, 1), 16, {.act = "sigmoid"});
  const Variable weights = L::sequence_softmax(L::fc(hidden, 1));
  return L::sequence_pool(L::elementwise_mul(history, weights, {.axis = 0}), "sum");
}

Odds din(const Clicks& clicks) {
  const Variable item = embed(clicks.item), interest = attention(embed(clicks.history), item);
  const std::vector<Variable> parts = {embed(clicks.user), item,          embed(clicks.category), interest,
                                       interest * item,    clicks.numbers};
  const Variable linear = alone(clicks);
  return {linear + L::fc(perceptron(L::concat(parts, 1)), 1)};
}

}  // namespace ranking
