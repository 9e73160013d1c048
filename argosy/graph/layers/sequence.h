#pragma once

#include <string>
#include <vector>

#include "argosy/graph/layer_helper.h"

// Layer functions over sequences: variables whose rows are cut into sequences by boundaries (LoD). See nn.h for what holds
// for all layer functions.
namespace argosy::layers {

using graph::Variable;

struct SequencePoolOptions {
  bool is_test = false;
  float pad_value = 0.0f;  // what an empty sequence gives
};
// One row for each sequence of the innermost level: its sum, average, sqrt (sum over root of length), max, first or last.
Variable sequence_pool(const Variable& input, const std::string& pool_type, const SequencePoolOptions& options = {});
Variable sequence_first_step(const Variable& input);
Variable sequence_last_step(const Variable& input);

}  // namespace argosy::layers
