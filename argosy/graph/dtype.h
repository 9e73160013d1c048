#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace argosy::graph {

// Element types, with the numbers of Paddle's wire format.
enum class DType : int {
  boolean = 0,
  int16 = 1,
  int32 = 2,
  int64 = 3,
  float16 = 4,
  float32 = 5,
  float64 = 6,
  uint8 = 20,
  int8 = 21,
  bfloat16 = 22,
};

std::string_view dtype_name(DType dtype);                    // "float32", "bool", …
std::optional<DType> parse_dtype(std::string_view name);     // also "FP32", "VarType.FP32"
std::optional<DType> dtype_from_number(int number);
size_t dtype_size(DType dtype);
bool is_floating(DType dtype);

}  // namespace argosy::graph
