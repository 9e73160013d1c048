#pragma once

#include <cstdint>
#include <span>

// The loops of fused_window_loss that are no products of matrices, over plain rows of `width` floats.
namespace argosy::engine {

// Rows of a table by id, one after another.
void copy_window_rows(const float* table, std::span<const int64_t> ids, int64_t width, float* out);

// to += from * scale.
void add_scaled(float* to, const float* from, float scale, int64_t width);

// Puts a sample's sigmoids, multiplied by `weight`, in the place of 1 - sigmoid, and returns the sum of -log(1 - sigmoid).
double weigh_negatives(float* rests, int64_t count, float weight);

// A hidden vector against words that it should predict: adds the gradients to its own and to each word's, and returns the loss.
double add_positive_pairs(const float* hidden, float* gradient, std::span<const float* const> words, float* const* sums,
                          int64_t width);

}  // namespace argosy::engine
