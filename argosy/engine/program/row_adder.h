#pragma once

#include <ATen/core/Tensor.h>

#include "argosy/engine/program/value.h"

namespace argosy::engine {

// The gradients of equal rows added up on the device where they are, without waiting for it: nothing is left out or moved
// together, as RowMerger does on the CPU, since only the device knows how many different rows there are.
struct SummedRows {
  at::Tensor ids;     // [n] int64: the row of each occurrence
  at::Tensor sums;    // [n, width]: at one occurrence of each row the sum of all, 0 at the others
  at::Tensor leader;  // [n] int64: where the sum of each occurrence's row is
  at::Tensor any;     // one boolean: false where every id was a padding; undefined: there is no padding

  at::Tensor totals() const;     // [n, width]: the sum at every occurrence
  at::Tensor is_leader() const;  // [n, 1] boolean
  LookupGradient as_gradient(const LookupGradient& of) const;
};

// Keeps one number for each row of the table from step to step. Confined to one thread.
class RowAdder {
 public:
  SummedRows add_up(const LookupGradient& gradient);

 private:
  at::Tensor places_;  // [height]: for each row of the last batch one of its occurrences; the others are of no use
};

// For each row of sequences with these boundaries the number of its sequence, on `device`. Undefined where each has one row.
at::Tensor sequence_numbers(const std::vector<int64_t>& offsets, const c10::Device& device);

}  // namespace argosy::engine
