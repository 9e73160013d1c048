#pragma once

#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/serve/check/side.h"

namespace argosy::serve {

struct CompareOptions {
  double tolerance = 1e-5;           // of predictions: |a - b| <= tolerance * (1 + |b|)
  double parameter_tolerance = 0;    // of parameters, likewise; 0: bit by bit
  size_t max_lines = 20;             // differences that are shown of each kind
  std::vector<std::string> ids = {};  // of the samples, to name them by; empty: by their numbers
};

// One part of the comparison: what it found, and in `differences` a line for each thing that is not the same.
struct Section {
  std::string title;    // "inputs"
  std::string summary;  // "27 against 27", or why it was not compared
  std::vector<std::string> differences;
  bool compared = true;  // false: a side does not show it
};

Section compare_inputs(const Side& a, const Side& b);
Section compare_programs(const Side& a, const Side& b, const CompareOptions& options);
Section compare_parameters(const Side& a, const Side& b, const CompareOptions& options);
Section compare_settings(const Side& a, const Side& b);  // precision, fusion and threads: each difference counts
// An error where a side cannot predict at all.
Result<Section> compare_predictions(const Side& a, const Side& b, const Inputs& samples, const CompareOptions& options);

}  // namespace argosy::serve
