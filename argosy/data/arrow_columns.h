#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/arrow_interface.h"
#include "argosy/data/batch.h"
#include "argosy/data/column_options.h"

namespace argosy::data {

// How the columns of a table, whose schema it was made for, fill the slots of a dataset: by name, whatever their order; columns
// that no slot names are passed over.
//
// A slot takes columns of numbers, of lists of numbers of any size (list, large_list) or of one size (fixed_size_list), and
// dictionaries of numbers. An integer slot takes integers and booleans, a float slot any number. A ragged slot has the values of
// its row's list, or the one value; a missing value is no value. A dense slot needs as many as it is wide, none of them missing.
// ColumnOptions has what is otherwise. Thread-safe after construction.
class ArrowColumns {
 public:
  ~ArrowColumns();
  struct Slot;  // where its values are; this room's own

  // What rows have: every field of the schema, or those of fields() only.
  enum class Rows { whole, projected };

  // `name` is for messages: the file. Refuses columns that are missing, of another type, or of lists of another size.
  static Result<std::shared_ptr<const ArrowColumns>> make(const ArrowSchema& schema, Rows rows, std::span<const SlotSpec> slots,
                                                          const ColumnOptions& options, std::string_view name);

  // Refuses options of slots that are not there.
  static Status check_options(std::span<const SlotSpec> slots, const ColumnOptions& options);

  // Those of the schema's fields that are used, ascending.
  std::span<const int> fields() const { return fields_; }

  // Whether the rows are laid out as the schema said: what a table of another process's making has to pass once.
  Status check(const ArrowArray& rows) const;

  struct BadRow {
    int64_t row = 0;
    std::string what;  // names the column
  };
  // The first of rows [first, first + count) that append() cannot take. REQUIRES: check(rows) was ok; the rows are there.
  std::optional<BadRow> first_bad(const ArrowArray& rows, int64_t first, int64_t count) const;
  // Adds them to a batch that was reset for the slots. REQUIRES: the same, and none of them is bad.
  void append(const ArrowArray& rows, int64_t first, int64_t count, Batch& batch) const;

 private:
  ArrowColumns(std::vector<Slot> slots, std::vector<int> fields);

  std::vector<Slot> slots_;
  std::vector<int> fields_;
};

}  // namespace argosy::data
