// Logistic regression: each user, item and category by itself. The twin of logistic_regression.py; run as ranking.h says.
#include "ranking.h"

namespace ranking {

Odds logistic_regression(const Clicks& clicks) { return {alone(clicks)}; }

}  // namespace ranking
