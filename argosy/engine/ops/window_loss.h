#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>

#include "argosy/engine/program/op.h"

namespace argosy::engine {

// How the loss of word2vec is put together; see the operator window_loss.
struct WindowOptions {
  bool cbow = false;
  float negatives = 5;  // that each pair counts
  int64_t group = 32;   // samples that share their negatives
};
WindowOptions window_loss_options(const OpContext& op);

// The loss by torch's functions, which autograd differentiates: summed over all pairs. Rows are [samples, width],
// [words around, width] and [samples * k, width]; sample i has the words [offsets[i], offsets[i + 1]) around it.
at::Tensor plain_window_loss(const WindowOptions& options, const at::Tensor& center, const at::Tensor& around,
                             std::span<const int64_t> offsets, const at::Tensor& negatives);

// How many pairs of a hidden vector and a word it should predict there are.
int64_t window_pairs(const WindowOptions& options, std::span<const int64_t> offsets);

}  // namespace argosy::engine
