#include "argosy/data/multislot.h"

#include <algorithm>

#include "argosy/data/number.h"

namespace argosy::data {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool ends_word(char c) { return is_space(c) || c == '\n' || c == '\r'; }

const char* skip_spaces(const char* at) {
  while (is_space(*at)) ++at;
  return at;
}

// Where the line goes on after its last value: the next line, or nullptr with `at` on what does not belong there.
const char* line_end(const char*& at) {
  at = skip_spaces(at);
  if (*at == '\n') return at + 1;
  if (at[0] == '\r' && at[1] == '\n') return at + 2;
  return nullptr;
}

const char* read_value(const char* at, int64_t& value) { return read_int64(at, value); }
const char* read_value(const char* at, float& value) { return read_float(at, value); }

// Reads `count` values. `at` ends after the last one, or on the word that is none, and then false comes back. The buffer
// grows with the words that are there, never with what a count says: a line cannot ask for more memory than it has bytes.
template <typename T>
bool read_values(const char*& at, int64_t count, Column& column, int64_t& read) {
  constexpr int64_t kStep = 1024;
  T* out = column.room<T>(std::min(count, kStep));
  for (read = 0; read < count; ++read) {
    if (read > 0 && read % kStep == 0) out = column.room<T>(read + std::min(count - read, kStep), read);
    at = skip_spaces(at);
    const char* end = read_value(at, out[read]);
    if (end == nullptr || !ends_word(*end)) [[unlikely]]
      return false;
    at = end;
  }
  column.add_sample(count);
  return true;
}

std::string_view type_words(SlotType type) { return type == SlotType::float32 ? "a float" : "an integer of 64 bits"; }

}  // namespace

const char* MultiSlotParser::parse_line(const char* line, Batch& batch, LineError& error) const {
  const char* at = line;
  for (size_t i = 0; i < slots_.size(); ++i) {
    at = skip_spaces(at);
    int64_t count;
    const char* values = parse_count(at, slots_[i], count);
    if (values == nullptr) [[unlikely]]
      return fail_count(at, i, error);
    at = values;
    Column& column = batch.columns[i];
    int64_t read;
    const bool good = slots_[i].type == SlotType::float32 ? read_values<float>(at, count, column, read)
                                                          : read_values<int64_t>(at, count, column, read);
    if (!good) [[unlikely]]
      return fail_value(at, i, read, count, error);
  }
  const char* next = line_end(at);
  if (next == nullptr) [[unlikely]] {
    error = {
        at,
        fmt::format(
            "found {} after the last slot '{}', expected the end of the line; does the line have more slots than the dataset?",
            quote_word(at), slots_.back().name)};
    return nullptr;
  }
  ++batch.size;
  return next;
}

const char* MultiSlotParser::parse_count(const char* at, const SlotSpec& slot, int64_t& count) const {
  uint64_t number;
  const char* end = read_digits(at, number);
  if (end == nullptr || !ends_word(*end) || number == 0 || number > INT64_MAX) return nullptr;
  count = static_cast<int64_t>(number);
  return slot.dense && count != slot.width ? nullptr : end;
}

const char* MultiSlotParser::fail_count(const char* at, size_t slot, LineError& error) const {
  const SlotSpec& spec = slots_[slot];
  const std::string where = fmt::format("slot '{}' ({} of {})", spec.name, slot + 1, slots_.size());
  const std::string found = quote_word(at);
  if (spec.dense) {
    error = {at, fmt::format("{}: found {} where the count is, expected {}: the slot is dense and has {} values per sample",
                             where, found, spec.width, spec.width)};
  } else if (found == "'0'") {
    error = {at,
             fmt::format("{}: found the count 0, expected 1 or more; give a sample without a feature one that stands for none",
                         where)};
  } else {
    error = {at, fmt::format("{}: found {}, expected the count of values, 1 or more", where, found)};
  }
  return nullptr;
}

const char* MultiSlotParser::fail_value(const char* at, size_t slot, int64_t value, int64_t count, LineError& error) const {
  const SlotSpec& spec = slots_[slot];
  error = {at, fmt::format("slot '{}' ({} of {}), value {} of {}: found {}, expected {}", spec.name, slot + 1, slots_.size(),
                           value + 1, count, quote_word(at), type_words(spec.type))};
  return nullptr;
}

}  // namespace argosy::data
