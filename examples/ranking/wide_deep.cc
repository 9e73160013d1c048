// Wide & Deep: logistic regression beside a network over embeddings. The twin of wide_deep.py; run as ranking.h says.
#include "ranking.h"

namespace ranking {

Odds wide_deep(const Clicks& clicks) {
  std::vector<Variable> parts;
  for (const Variable& slot : {clicks.user, clicks.item, clicks.category}) parts.push_back(embed(slot));
  parts.push_back(clicks.numbers);
  const Variable deep = L::concat(parts, 1), wide = alone(clicks);
  return {wide + L::fc(perceptron(deep), 1)};
}

}  // namespace ranking
