#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/batch.h"
#include "argosy/data/dataset.h"
#include "argosy/engine/program/prepared.h"
#include "argosy/engine/program/pulled_rows.h"
#include "argosy/engine/remote/remote_parameters.h"

namespace argosy::engine {

// Pulls what the pull_rows operators of a program will ask for, as far as it is in the batch, before the step begins, while its
// thread computes another. Immutable, and so thread-safe as far as `remote` is.
class RowPrefetcher {
 public:
  // REQUIRES: program and remote outlive it.
  RowPrefetcher(const PreparedProgram& program, const std::vector<data::SlotSpec>& slots, RemoteParameters& remote,
                const c10::Device& device);

  bool empty() const { return pulls_.empty(); }  // there is nothing to pull before a step
  Status pull(const data::Batch& batch, PulledTables& rows) const;

 private:
  // The first pull of a table, all of whose ids are columns of a batch.
  struct Pull {
    const Instruction* instruction;
    const RemoteVariable* table;
    std::vector<size_t> columns;
    std::vector<int32_t> values;  // that the columns are bound to
    std::vector<int64_t> paddings;
  };

  int32_t before_reshapes(int32_t value) const;

  const PreparedProgram& program_;
  RemoteParameters& remote_;
  const c10::Device device_;  // where the rows will go
  std::map<int32_t, Pull> pulls_;  // by the value index of the table
};

}  // namespace argosy::engine
