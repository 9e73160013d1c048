#pragma once

#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Layer functions for losses. See nn.h for what holds for all layer functions.
namespace argosy::layers {

struct CrossEntropyOptions {
  bool soft_label = false;      // the label is a distribution over the classes
  int32_t ignore_index = -100;  // rows with this label have no loss
};
// -log of the probability that `input` (after softmax) gives to the label; [..., 1].
Variable cross_entropy(const Variable& input, const Variable& label, const CrossEntropyOptions& options = {});

Variable square_error_cost(const Variable& input, const Variable& label);  // (input - label)^2
Variable mse_loss(const Variable& input, const Variable& label);           // its mean

struct LabelSmoothOptions {
  Variable prior_dist;  // uniform where empty
  float epsilon = 0.1f;
  std::string name;
};
Variable label_smooth(const Variable& label, const LabelSmoothOptions& options = {});

struct NceOptions {
  Variable sample_weight;       // none where empty
  ParamAttr param, bias;
  int32_t num_neg_samples = 10;
  std::string name;
  std::string sampler = "uniform";  // or "log_uniform", "custom_dist"
  std::vector<float> custom_dist;   // the probability of each class
  int32_t seed = 0;
  bool is_sparse = false;  // the gradients hold only the rows of the batch
};
// Noise-contrastive estimation: the label's class against some drawn at random.
Variable nce(const Variable& input, const Variable& label, int32_t num_total_classes, const NceOptions& options = {});

struct SampledSoftmaxOptions {
  int32_t num_true = 1;
  bool remove_accidental_hits = true;
  Variable customized_samples, customized_probabilities;  // both, to give the candidates instead of drawing them
  int32_t seed = 0;
};
// softmax_with_cross_entropy over the label's class and some drawn at random, once for the batch.
Variable sampled_softmax_with_cross_entropy(const Variable& logits, const Variable& label, int32_t num_samples,
                                            const SampledSoftmaxOptions& options = {});

}  // namespace argosy::layers
