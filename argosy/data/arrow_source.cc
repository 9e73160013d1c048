#include "argosy/data/arrow_source.h"

#include <charconv>
#include <string_view>

namespace argosy::data {
namespace {

std::optional<int64_t> fixed_size(std::string_view format) {
  if (!format.starts_with("+w:")) return std::nullopt;
  int64_t size = 0;
  const auto [end, error] = std::from_chars(format.data() + 3, format.data() + format.size(), size);
  return error == std::errc() && end == format.data() + format.size() && size > 0 ? std::optional(size) : std::nullopt;
}

Status no_numbers(const ArrowSchema& field) {
  return Status::invalid_argument(
      "column '{}' has no numbers (Arrow's format '{}'); slots take integers, floats, booleans, lists of them and dictionaries "
      "of them: write numbers in its place, or leave the column out of the program",
      field.name == nullptr ? "" : field.name, field.format);
}

}  // namespace

Result<ArrowSource> arrow_source(const ArrowSchema& field, int number) {
  ArrowSource source{.column = field.name == nullptr ? "" : field.name, .field = number, .index = {}};
  const ArrowSchema* values = &field;
  const std::string_view format = field.format;
  if (format == "+l" || format == "+L" || format.starts_with("+w:")) {
    const auto size = fixed_size(format);
    if (field.n_children != 1 || (format[1] == 'w' && !size)) return no_numbers(field);
    source.shape = format == "+l" ? ArrowShape::list : format == "+L" ? ArrowShape::large_list : ArrowShape::fixed_list;
    source.size = size.value_or(1);
    values = field.children[0];
  }
  if (values->dictionary != nullptr) {
    source.index = arrow_kind(values->format);
    values = values->dictionary;
  }
  const auto kind = arrow_kind(values->format);
  if (!kind || (source.index && !is_integer(*source.index))) return no_numbers(field);
  source.kind = *kind;
  return source;
}

namespace {

// Offsets that go up and stay among the values.
template <typename Offset>
bool offsets_good(const ArrowArray& list, int64_t first, int64_t rows) {
  const auto* offsets = static_cast<const Offset*>(list.buffers[1]) + first;
  if (offsets[0] < 0) return false;
  for (int64_t i = 0; i < rows; ++i) {
    if (offsets[i + 1] < offsets[i]) return false;
  }
  return offsets[rows] <= list.children[0]->length;
}

bool values_good(const ArrowArray& values, const ArrowSource& source) {
  if (values.n_buffers != 2 || values.offset < 0 || (values.length > 0 && values.buffers[1] == nullptr)) return false;
  if (!source.index) return true;
  const ArrowArray* dictionary = values.dictionary;
  return dictionary != nullptr && dictionary->n_buffers == 2 && (dictionary->length == 0 || dictionary->buffers[1] != nullptr);
}

}  // namespace

bool is_laid_out(const ArrowSource& source, const ArrowArray& rows) {
  if (source.field >= rows.n_children) return false;
  const ArrowArray& array = *rows.children[source.field];
  if (array.offset < 0 || array.length < rows.offset + rows.length) return false;
  if (source.shape == ArrowShape::one) return values_good(array, source);
  if (array.n_children != 1 || !values_good(*array.children[0], source)) return false;
  const int64_t first = rows.offset + array.offset;
  if (source.shape == ArrowShape::fixed_list) return array.children[0]->length >= (first + rows.length) * source.size;
  if (array.n_buffers != 2) return false;
  if (rows.length == 0) return true;
  if (array.buffers[1] == nullptr) return false;
  return source.shape == ArrowShape::list ? offsets_good<int32_t>(array, first, rows.length)
                                          : offsets_good<int64_t>(array, first, rows.length);
}

}  // namespace argosy::data
