#include "argosy/inspect/tensor_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "argosy/base/text.h"
#include "argosy/graph/var_desc.h"

namespace argosy::inspect {
namespace {

int64_t elements(const graph::TensorFile& tensor) {
  return static_cast<int64_t>(tensor.bytes.size() / graph::dtype_size(tensor.dtype));
}

// Element `index` as a number; the bytes need not be aligned. REQUIRES: float32 or float64.
double element(const graph::TensorFile& tensor, int64_t index) {
  const char* at = tensor.bytes.data() + static_cast<size_t>(index) * graph::dtype_size(tensor.dtype);
  if (tensor.dtype == graph::DType::float64) {
    double value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  float value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool is_numeric(graph::DType dtype) { return dtype == graph::DType::float32 || dtype == graph::DType::float64; }

int64_t row_size(const graph::TensorFile& tensor) {
  return tensor.shape.empty() || tensor.shape[0] == 0 ? elements(tensor) : elements(tensor) / tensor.shape[0];
}

void add_numbers(const graph::TensorFile& tensor, TensorFacts& facts) {
  const int64_t count = elements(tensor), row = row_size(tensor);
  double squares = 0, sum = 0;
  int64_t finite = 0;
  bool zero = true;
  for (int64_t i = 0; i < count; ++i) {
    const double value = element(tensor, i);
    zero &= value == 0;
    if ((i + 1) % row == 0) {
      facts.zero_rows += zero ? 1 : 0;
      zero = true;
    }
    if (!std::isfinite(value)) {
      ++facts.not_finite;
      continue;
    }
    facts.min = finite == 0 ? value : std::min(facts.min, value);
    facts.max = finite == 0 ? value : std::max(facts.max, value);
    squares += value * value;
    sum += value;
    ++finite;
  }
  facts.norm = std::sqrt(squares);
  facts.mean = finite == 0 ? 0 : sum / static_cast<double>(finite);
}

}  // namespace

std::string bytes_text(uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

TensorFacts facts_of(const graph::TensorFile& tensor) {
  TensorFacts facts{.dtype = tensor.dtype, .shape = tensor.shape, .bytes = tensor.bytes.size()};
  if (!tensor.lod.empty() && !tensor.lod[0].empty()) facts.sequences = tensor.lod[0].size() - 1;
  facts.numeric = is_numeric(tensor.dtype) && elements(tensor) > 0;
  if (facts.numeric) add_numbers(tensor, facts);
  if (tensor.shape.size() < 2) facts.zero_rows = -1;
  return facts;
}

std::string TensorFacts::line() const {
  std::string text = fmt::format("{} {}  {}", graph::dtype_name(dtype), graph::shape_to_string(shape), bytes_text(bytes));
  if (sequences > 0) text += fmt::format("  {} sequences", with_thousands(static_cast<int64_t>(sequences)));
  if (numeric) text += fmt::format("  norm {:.6g}  [{:.4g}, {:.4g}]", norm, min, max);
  if (numeric && zero_rows > 0) text += fmt::format("  {} of {} rows are 0", with_thousands(zero_rows), with_thousands(shape[0]));
  if (not_finite > 0) text += fmt::format("  {} ELEMENTS ARE NOT FINITE", with_thousands(not_finite));
  return text;
}

std::string difference_of(const graph::TensorFile& a, const graph::TensorFile& b) {
  if (a.dtype != b.dtype || a.shape != b.shape)
    return fmt::format("{} {} against {} {}", graph::dtype_name(a.dtype), graph::shape_to_string(a.shape),
                       graph::dtype_name(b.dtype), graph::shape_to_string(b.shape));
  if (a.lod != b.lod) return "its sequences have other boundaries";
  if (a.bytes == b.bytes) return "";
  if (!is_numeric(a.dtype)) return "its values differ";
  const int64_t row = row_size(a);
  int64_t rows = 0, first = -1, last = -1, most = 0;
  double largest = -1, squares = 0;
  for (int64_t i = 0; i < elements(a); ++i) {
    const double left = element(a, i), right = element(b, i), by = std::abs(left - right);
    if (left == right || (std::isnan(left) && std::isnan(right))) continue;
    if (first < 0) first = i / row;
    if (i / row != last) ++rows;
    last = i / row;
    squares += by * by;
    if (!std::isnan(largest) && !(by <= largest)) largest = by, most = i;  // what is no number is more than any
  }
  if (first < 0) return "";  // 0 and -0
  return fmt::format(
      "{} of {} rows differ, the first is {}; norm of the difference {:.4g}; most at row {}, column {}: {:.8g} against {:.8g}",
      with_thousands(rows), with_thousands(a.shape.empty() ? 1 : a.shape[0]), first, std::sqrt(squares), most / row, most % row,
      element(a, most), element(b, most));
}

}  // namespace argosy::inspect
