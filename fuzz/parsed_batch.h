#pragma once

#include <cstdint>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/data/batch.h"
#include "argosy/data/slot.h"

// What the fuzzers of parsers ask for, and what holds of whatever a parser makes.
namespace argosy::data {

inline const std::vector<SlotSpec> kSlots = {{.name = "dense", .type = SlotType::float32, .dense = true, .width = 2},
                                      {.name = "ids", .type = SlotType::int64, .dense = false, .width = 1},
                                      {.name = "weights", .type = SlotType::float32, .dense = false, .width = 1},
                                      {.name = "label", .type = SlotType::int64, .dense = true, .width = 1}};

inline void check_batch(const Batch& batch) {
  for (const Column& column : batch.columns) {
    if (column.dense()) {
      ARGOSY_CHECK(column.count() == batch.size * column.width(), "a dense column has another number of values");
      continue;
    }
    ARGOSY_CHECK(static_cast<int64_t>(column.offsets().size()) == batch.size + 1,
                 "a ragged column has another number of samples");
    ARGOSY_CHECK(column.offsets().back() == column.count(), "the offsets end elsewhere");
  }
}

}  // namespace argosy::data
