#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "argosy/data/arrow_interface.h"

namespace argosy::data {

// What the values of an Arrow column are, where a slot can take them.
enum class ArrowKind { int8, uint8, int16, uint16, int32, uint32, int64, uint64, boolean, float16, float32, float64 };

// None: values of this format (of ArrowSchema) are no numbers.
std::optional<ArrowKind> arrow_kind(std::string_view format);
bool is_integer(ArrowKind kind);  // or a boolean
// Whether a finite number is too large for a float32, which would make it infinite.
bool is_beyond_float(double value);

// The numbers of an Arrow array that has no lists, perhaps through a dictionary. Points into the array; thread-safe.
class ArrowNumbers {
 public:
  // REQUIRES: the array is of this kind, or its dictionary is, and its indices are of kind `index`.
  ArrowNumbers(const ArrowArray& array, ArrowKind kind, std::optional<ArrowKind> index);

  // Whether there is no value at `at`: the array or its dictionary says so, or an index is none of the dictionary.
  bool missing(int64_t at) const {
    if (dictionary_ == nullptr) return valid_ != nullptr && !bit(valid_, at + offset_);
    return missing_in_dictionary(at);
  }
  bool any_missing(int64_t begin, int64_t end) const;

  // The first of [begin, end) that is there and is_beyond_float().
  std::optional<double> first_beyond_float(int64_t begin, int64_t end) const;

  // Writes the values of [begin, end), `stride` apart; whatever where one is missing. T is int64_t, for integers only, or float.
  template <typename T>
  void copy(int64_t begin, int64_t end, T* out, int64_t stride = 1) const;

 private:
  static bool bit(const void* bits, int64_t at) { return (static_cast<const uint8_t*>(bits)[at >> 3] >> (at & 7) & 1) != 0; }
  bool missing_in_dictionary(int64_t at) const;
  int64_t index_at(int64_t at) const;
  double real_at(int64_t at) const;  // REQUIRES: of kind float64, and not missing

  ArrowKind kind_;
  const void* values_;  // or the indices
  const void* valid_;   // null: all are there
  int64_t offset_;
  std::optional<ArrowKind> index_;
  const ArrowArray* dictionary_;  // null: none
};

}  // namespace argosy::data
