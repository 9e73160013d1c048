#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "argosy/base/status.h"
#include "argosy/data/arrow_interface.h"
#include "argosy/data/arrow_numbers.h"

namespace argosy::data {

enum class ArrowShape { one, list, large_list, fixed_list };

// A column, as its field in the schema says.
struct ArrowSource {
  std::string column;
  int field = 0;  // of rows
  ArrowShape shape = ArrowShape::one;
  int64_t size = 1;  // of a fixed list
  ArrowKind kind = ArrowKind::int64;
  std::optional<ArrowKind> index;  // of a dictionary
};

// What the schema says of a column. Refuses one that has no numbers.
Result<ArrowSource> arrow_source(const ArrowSchema& field, int number);

// Whether the column of these rows is laid out as the schema said: buffers that are there, offsets that go up and stay among the
// values.
bool is_laid_out(const ArrowSource& source, const ArrowArray& rows);

// A column of some rows. REQUIRES: is_laid_out(from, rows); both outlive it.
struct ArrowView {
  ArrowView(const ArrowSource& from, const ArrowArray& rows)
      : source(from),
        array(*rows.children[from.field]),
        first(rows.offset + (from.shape == ArrowShape::one ? 0 : array.offset)),
        numbers(from.shape == ArrowShape::one ? array : *array.children[0], from.kind, from.index) {}

  bool lists() const { return source.shape != ArrowShape::one; }
  // Of a row's list: where it begins among the values. That of the row behind the last one is where that one ends.
  int64_t begin_of(int64_t row) const {
    switch (source.shape) {
      case ArrowShape::one: return first + row;
      case ArrowShape::fixed_list: return (first + row) * source.size;
      case ArrowShape::list: return static_cast<const int32_t*>(array.buffers[1])[first + row];
      case ArrowShape::large_list: break;
    }
    return static_cast<const int64_t*>(array.buffers[1])[first + row];
  }
  bool list_missing(int64_t row) const {
    if (!lists() || array.null_count == 0 || array.buffers[0] == nullptr) return false;
    const int64_t at = first + row;
    return (static_cast<const uint8_t*>(array.buffers[0])[at >> 3] >> (at & 7) & 1) == 0;
  }
  bool any_list_missing(int64_t begin, int64_t end) const {
    if (!lists() || array.null_count == 0 || array.buffers[0] == nullptr) return false;
    for (int64_t row = begin; row < end; ++row) {
      if (list_missing(row)) return true;
    }
    return false;
  }
  // Whether rows [begin, end) are values that lie together, none of them missing.
  bool whole(int64_t begin, int64_t end) const {
    return !any_list_missing(begin, end) && !numbers.any_missing(begin_of(begin), begin_of(end));
  }

  const ArrowSource& source;
  const ArrowArray& array;
  const int64_t first;  // row 0, among the array's
  const ArrowNumbers numbers;
};

}  // namespace argosy::data
