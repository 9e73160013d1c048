#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/graph/program.h"

namespace argosy::engine {

// A number that a program computes for each batch, and what it is: "loss" or "auc".
struct Measure {
  std::string name, variable;
};

// The loss that a program minimises, and its AUC over all batches; what it has not is left out.
std::vector<Measure> measures_of(const graph::Program& program);

// Whether anybody sees what the functions below tell.
bool training_is_observed();

// What a worker tells of its training to who observes the process (argosy/observe). Thread-safe.
void count_batch(int64_t samples, double read_seconds, double compute_seconds);
void set_measure(std::string_view name, double value);
// How much of the current pass has been read, from 0 to 1, where that is known.
void set_pass_ratio(std::optional<double> ratio);

}  // namespace argosy::engine
