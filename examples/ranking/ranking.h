// What the ranking models share: their inputs, and training and testing them, on one machine or on parameter servers. The twin of
// ranking.py.
//
//   ranking deepfm data                                                          on this machine
//   fleetrun --no-python --server_num 2 --worker_num 2 ranking deepfm data       the same program on servers
#pragma once

#include <argosy/argosy.h>

#include <string>
#include <vector>

namespace ranking {

using argosy::Variable;
namespace L = argosy::layers;

// What a line of clicks.py's files has.
struct Clicks {
  Variable user, item, category, history, numbers, click, order;
};

// Rows of the slot's table; the history uses the items' one.
Variable embed(const Variable& slot, int64_t width = 8, const std::string& table = "embedding");

// Fully connected layers with relu.
Variable perceptron(Variable x, const std::vector<int64_t>& sizes = {32, 16});

// Logistic regression: a number for each user, item and category, and one for each of the numbers.
Variable alone(const Clicks& clicks);

// The embeddings of user, item and category, and the mean of the history's.
std::vector<Variable> fields(const Clicks& clicks);

// Each gives the log odds of a click, and of an order where it has a second one.
using Odds = std::vector<Variable>;
Odds logistic_regression(const Clicks& clicks);
Odds wide_deep(const Clicks& clicks);
Odds deepfm(const Clicks& clicks);
Odds dcn_v2(const Clicks& clicks);
Odds xdeepfm(const Clicks& clicks);
Odds din(const Clicks& clicks);
Odds mmoe(const Clicks& clicks);
Odds dssm(const Clicks& clicks);
Odds gru4rec(const Clicks& clicks);

}  // namespace ranking
