#include "argosy/graph/dtype.h"

#include <array>
#include <string>

#include "argosy/base/check.h"

namespace argosy::graph {
namespace {

struct Row {
  DType dtype;
  std::string_view name, wire_name;
  size_t size;
  bool floating;
};

constexpr std::array<Row, 10> kRows = {{
    {DType::boolean, "bool", "BOOL", 1, false},
    {DType::int16, "int16", "INT16", 2, false},
    {DType::int32, "int32", "INT32", 4, false},
    {DType::int64, "int64", "INT64", 8, false},
    {DType::float16, "float16", "FP16", 2, true},
    {DType::float32, "float32", "FP32", 4, true},
    {DType::float64, "float64", "FP64", 8, true},
    {DType::uint8, "uint8", "UINT8", 1, false},
    {DType::int8, "int8", "INT8", 1, false},
    {DType::bfloat16, "bfloat16", "BF16", 2, true},
}};

const Row& row_of(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return row;
  }
  check_failed(__FILE__, __LINE__, "known dtype", std::to_string(static_cast<int>(dtype)));
}

}  // namespace

std::string_view dtype_name(DType dtype) { return row_of(dtype).name; }
size_t dtype_size(DType dtype) { return row_of(dtype).size; }
bool is_floating(DType dtype) { return row_of(dtype).floating; }

std::optional<DType> parse_dtype(std::string_view name) {
  constexpr std::string_view kPrefix = "VarType.";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  for (const Row& row : kRows) {
    if (name == row.name || name == row.wire_name) return row.dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_number(int number) {
  for (const Row& row : kRows) {
    if (static_cast<int>(row.dtype) == number) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace argosy::graph
