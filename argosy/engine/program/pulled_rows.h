#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "argosy/base/key_index.h"
#include "argosy/base/status.h"
#include "argosy/engine/remote/remote_parameters.h"

namespace argosy::engine {

// The keys of a batch in a remote table. Row `number + 1` of the table's value in the frame belongs to the key with that
// number; row 0 is zero and stands for padding.
struct PulledRows {
  uint64_t step = 0;  // Frame::step of the run that it is about
  KeyIndex index;

  // What was pulled before the run began, for its first pull_rows operator of this table, on the CPU.
  bool prefetched = false;
  std::vector<at::Tensor> numbers;  // of each of the operator's Ids
  at::Tensor rows;  // on the CPU; also of this run's last pull, where another one may follow it
};

using PulledTables = std::map<int32_t, PulledRows>;  // by the value index of the table

// Ids as numbers of rows; ids equal to `padding` become 0, unless it is -1. Keys that are new get a number. Other negative ids
// are keys of 64 bits without a sign; the id -1 is an error, since scripts mean none by it. REQUIRES: int64.
Result<at::Tensor> number_ids(const at::Tensor& ids, int64_t padding, KeyIndex& index);

// Memory for rows, and what is to be asked for them.
struct RowsToPull {
  at::Tensor rows;
  RowRequest request;  // refers to `rows` and to the keys of the index
};

// For the rows of all keys of `index`: of the first `known` keys they are those that `before` has, the others come with the
// request. On the CPU, in memory from which they go to `device`.
RowsToPull rows_to_pull(const RemoteVariable& table, const KeyIndex& index, size_t known, const at::Tensor& before, bool create,
                        const c10::Device& device);

// All of them, in one message to each server, or in a few where that would be tens of megabytes. REQUIRES: !pulls.empty().
Status pull_together(RemoteParameters& remote, std::span<const RowsToPull> pulls);

}  // namespace argosy::engine
