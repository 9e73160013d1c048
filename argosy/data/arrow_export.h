#pragma once

#include <span>

#include "argosy/data/arrow_interface.h"
#include "argosy/data/batch.h"

namespace argosy::data {

// Batches as rows of a table that other libraries take: a dense slot of one value is a column of numbers, a wider one of lists of
// one size, a ragged one of lists.
ArrowOwned<ArrowSchema> arrow_schema(std::span<const SlotSpec> slots);

// The rows own the batch. REQUIRES: the batch was filled for these slots.
ArrowOwned<ArrowArray> arrow_rows(Batch batch, std::span<const SlotSpec> slots);

}  // namespace argosy::data
