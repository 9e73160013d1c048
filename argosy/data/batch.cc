#include "argosy/data/batch.h"

#include <algorithm>

namespace argosy::data {

void Batch::reset(std::span<const SlotSpec> slots) {
  size = 0;
  lines.clear();
  const bool same =
      std::equal(columns.begin(), columns.end(), slots.begin(), slots.end(), [](const Column& column, const SlotSpec& slot) {
        return column.type() == slot.type && column.dense() == slot.dense && column.width() == slot.width;
      });
  if (same) {
    for (Column& column : columns) column.clear();
    return;
  }
  columns.clear();
  columns.reserve(slots.size());
  for (const SlotSpec& slot : slots) columns.emplace_back(slot);
}

}  // namespace argosy::data
