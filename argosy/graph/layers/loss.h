#pragma once

#include "argosy/graph/layer_helper.h"

// Layer functions for losses. See nn.h for what holds for all layer functions.
namespace argosy::layers {

using graph::Variable;

struct CrossEntropyOptions {
  bool soft_label = false;      // the label is a distribution over the classes
  int32_t ignore_index = -100;  // rows with this label have no loss
};
// -log of the probability that `input` (after softmax) gives to the label; [..., 1].
Variable cross_entropy(const Variable& input, const Variable& label, const CrossEntropyOptions& options = {});

struct SoftmaxWithCrossEntropyOptions {
  bool soft_label = false;
  int32_t ignore_index = -100;
  bool numeric_stable_mode = true;  // recorded; the computation is always the stable one
  int32_t axis = -1;
};
struct SoftmaxWithCrossEntropy {
  Variable loss, softmax;
};
// softmax and cross_entropy in one.
SoftmaxWithCrossEntropy softmax_with_cross_entropy(const Variable& logits, const Variable& label,
                                                   const SoftmaxWithCrossEntropyOptions& options = {});

}  // namespace argosy::layers
