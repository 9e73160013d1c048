#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <vector>

#include "argosy/base/key_index.h"
#include "argosy/base/status.h"
#include "argosy/data/batch.h"
#include "argosy/data/dataset.h"
#include "argosy/engine/remote.h"

namespace argosy::engine {

class PreparedProgram;
struct Instruction;

// The keys of a batch in a remote table. Row `number + 1` of the table's value in the frame belongs to the key with that
// number; row 0 is zero and stands for padding.
struct PulledRows {
  uint64_t step = 0;  // Frame::step of the run that it is about
  KeyIndex index;

  // What was pulled before the run began, for its first pull_rows operator of this table.
  bool ahead = false;
  std::vector<at::Tensor> numbers;  // of each of the operator's Ids
  at::Tensor rows;
};

// Ids as numbers of rows; ids equal to `padding` become 0, unless it is -1. Keys that are new get a number. REQUIRES: int64.
at::Tensor number_ids(const at::Tensor& ids, int64_t padding, KeyIndex& index);

// The rows of all keys of `index`: of the first `known` keys those that `before` has, the others from the servers.
Result<at::Tensor> pull_numbered(RemoteParameters& remote, const RemoteVariable& table, const KeyIndex& index, size_t known,
                                 const at::Tensor& before, bool create);

// Pulls what the pull_rows operators of a program will ask for, as far as it is in the batch, before the step begins. Immutable,
// and so thread-safe as far as `remote` is.
class RowsAhead {
 public:
  using Rows = std::map<int32_t, PulledRows>;  // by the value index of the table

  // REQUIRES: program and remote outlive it.
  RowsAhead(const PreparedProgram& program, const std::vector<data::SlotSpec>& slots, RemoteParameters& remote);

  bool empty() const { return pulls_.empty(); }  // there is nothing to pull ahead
  Status pull(const data::Batch& batch, Rows& rows) const;

 private:
  // The first pull of a table, all of whose ids are columns of a batch.
  struct Pull {
    const Instruction* instruction;
    const RemoteVariable* table;
    std::vector<size_t> columns;
    std::vector<int32_t> values;  // that the columns are bound to
    std::vector<int64_t> paddings;
  };

  const PreparedProgram& program_;
  RemoteParameters& remote_;
  std::map<int32_t, Pull> pulls_;  // by the value index of the table
};

}  // namespace argosy::engine
