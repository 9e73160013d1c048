#include "argosy/engine/program/row_tables.h"

#include "argosy/engine/program/device.h"

namespace argosy::engine {

bool is_summed_by_rows(const Frame& frame, int32_t index, const at::Tensor& table) {
  return frame.program().values()[static_cast<size_t>(index)].only_looked_up && in_memory(table) &&
         table.numel() >= kLargeTable && table.scalar_type() == at::kFloat && table.is_contiguous();
}

}  // namespace argosy::engine
