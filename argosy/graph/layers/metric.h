#pragma once

#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Layer functions for metrics. See nn.h for what holds for all layer functions.
namespace argosy::layers {

struct AccuracyOptions {
  int32_t k = 1;            // right where the label is among the k largest
  Variable correct, total;  // take the counts of the batch; made where empty
};
// The fraction of the batch that `input`, a score for each class, gets right.
Variable accuracy(const Variable& input, const Variable& label, const AccuracyOptions& options = {});

struct AucOptions {
  std::string curve = "ROC";
  int32_t num_thresholds = 4095;  // the scores are counted in so many buckets and one
  int32_t slide_steps = 1;        // batch_value covers the last so many batches; 0: all
};
struct Auc {
  Variable value;        // over all batches since the states were zero
  Variable batch_value;  // over the last slide_steps batches
  std::vector<Variable> states;  // positives and negatives by bucket: of batch_value, then of value
};
// The area under the curve of the last column of `input`, a probability, against `label`, 0 or 1. Exact where several
// threads train: the states are shared.
Auc auc(const Variable& input, const Variable& label, const AucOptions& options = {});

}  // namespace argosy::layers
