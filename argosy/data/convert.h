#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/data/column_file.h"
#include "argosy/data/column_options.h"
#include "argosy/data/dataset.h"

// Samples in files of another format, the values bit by bit the same: what `argosy convert` does.
namespace argosy::data {

struct ConvertOptions {
  std::vector<SlotSpec> slots;          // of MultiSlot text, in order; from a table: those to take, none: all its columns
  std::optional<CriteoOptions> criteo;  // set: the text is Criteo's, with its own slots
  ColumnOptions columns;                // from a table
  ColumnWriteOptions write;             // to a table
  int64_t max_bad_lines = 0;
};

struct ConvertCount {
  int64_t samples = 0, bad_lines = 0;
};

// The new file takes its place when it is whole.
Result<ConvertCount> text_to_parquet(const std::string& text, const std::string& parquet, const ConvertOptions& options);
// MultiSlot text. A row without a value of some slot is an error: the text has no word for it.
Result<ConvertCount> table_to_text(const std::string& table, const std::string& text, const ConvertOptions& options);

// "dense:float32:13,C1:int64": names, types, and, of dense slots, widths.
Result<std::vector<SlotSpec>> parse_slots(std::string_view text);

// The columns of a table as slots: what has one value per row and is a float, and lists of one size, are dense.
Result<std::vector<SlotSpec>> slots_of_table(const ArrowSchema& schema);

}  // namespace argosy::data
