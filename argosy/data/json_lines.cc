#include "argosy/data/json_lines.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "argosy/data/number.h"

namespace argosy::data {
namespace {

constexpr int64_t kJsonStep = 64;  // values of a list for which room is made at a time

const char* skip_json_space(const char* at) {
  while (*at == ' ' || *at == '\t' || *at == '\r') ++at;
  return at;
}

const char* json_error(const char* at, std::string what, LineError& error) {
  error = {at, std::move(what)};
  return nullptr;
}

// Behind a string that begins at the quote; null: the line ends in it.
const char* skip_json_string(const char* at) {
  for (++at; *at != '"'; ++at) {
    if (*at == '\\') ++at;
    if (*at == '\n') return nullptr;
  }
  return at + 1;
}

// Behind a value of any kind; null: the line ends in it, or nothing is there.
const char* skip_json_value(const char* at) {
  if (*at == '"') return skip_json_string(at);
  const char* begin = at;
  int64_t open = 0;
  for (; *at != '\n'; ++at) {
    if (*at == '"') {
      at = skip_json_string(at);
      if (at == nullptr) return nullptr;
      --at;
    } else if (*at == '[' || *at == '{') {
      ++open;
    } else if (*at == ']' || *at == '}') {
      if (open == 0) break;
      --open;
    } else if (*at == ',' && open == 0) {
      break;
    }
  }
  return open > 0 || at == begin ? nullptr : at;
}

bool ends_json_value(char c) { return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

const char* read_json_number(const char* at, int64_t& value) { return read_int64(at, value); }
const char* read_json_number(const char* at, float& value) { return read_float(at, value); }

// A number, true or false.
template <typename T>
const char* read_json_value(const char* at, T& value) {
  if (std::strncmp(at, "true", 4) == 0) {
    value = 1;
    return at + 4;
  }
  if (std::strncmp(at, "false", 5) == 0) {
    value = 0;
    return at + 5;
  }
  return read_json_number(at, value);
}

}  // namespace

JsonParser::JsonParser(std::span<const SlotSpec> slots, std::vector<Default> defaults)
    : slots_(slots.begin(), slots.end()), defaults_(std::move(defaults)) {
  for (size_t i = 0; i < slots_.size(); ++i) by_name_[slots_[i].name] = static_cast<int>(i);
}

Result<std::unique_ptr<JsonParser>> JsonParser::make(std::span<const SlotSpec> slots, const ColumnOptions& options) {
  RETURN_IF_ERROR(check_slots(slots));
  if (!options.columns.empty())
    return Status::invalid_argument("set_columns names other columns for slot '{}'; JSON has the member of the slot's own name",
                                    options.columns.begin()->first);
  std::vector<Default> defaults(slots.size());
  for (const auto& [name, value] : options.defaults) {
    const auto slot = std::ranges::find(slots, name, &SlotSpec::name);
    if (slot == slots.end())
      return Status::invalid_argument("set_columns has a default for slot '{}', which the dataset does not have", name);
    const int64_t* integer = std::get_if<int64_t>(&value);
    if (integer == nullptr && slot->type == SlotType::int64)
      return Status::invalid_argument("the default of slot '{}' is {}, expected an integer: the slot is int64", name,
                                      std::get<double>(value));
    Default& one = defaults[static_cast<size_t>(slot - slots.begin())];
    one.given = true;
    one.integer = integer != nullptr ? *integer : 0;
    one.real = integer != nullptr ? static_cast<float>(*integer) : static_cast<float>(std::get<double>(value));
  }
  return std::unique_ptr<JsonParser>(new JsonParser(slots, std::move(defaults)));
}

// Members mostly come in one order, which is that of the slots or not.
int JsonParser::find(std::string_view name, size_t guess) const {
  if (guess < slots_.size() && slots_[guess].name == name) return static_cast<int>(guess);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

const char* JsonParser::parse_line(const char* line, Batch& batch, LineError& error) const {
  const char* at = skip_json_space(line);
  if (*at != '{') return json_error(at, fmt::format("found {}, expected a JSON object", quote_word(at)), error);
  at = skip_json_space(at + 1);
  Members members{.seen = std::vector<bool>(slots_.size())};
  while (*at != '}') {
    at = read_pair(at, members, batch, error);
    if (at == nullptr) return nullptr;
    at = skip_json_space(at);
    if (*at == '}') break;
    const char* next = *at == ',' ? skip_json_space(at + 1) : at;
    if (next == at || *next == '}')
      return json_error(at, fmt::format("found {}, expected ',' and another member, or '}}'", quote_word(at)), error);
    at = next;
  }
  const char* end = skip_json_space(at + 1);
  if (*end != '\n')
    return json_error(end, fmt::format("found {} behind the object, expected the end of the line", quote_word(end)), error);
  for (size_t slot = 0; members.found < slots_.size() && slot < slots_.size(); ++slot) {
    if (!members.seen[slot] && !add_missing(slot, batch.columns[slot]))
      return json_error(
          line, fmt::format("slot '{}' is not there, and it is dense: give it a default (set_columns)", slots_[slot].name),
          error);
  }
  ++batch.size;
  return end + 1;
}

// A name and its value.
const char* JsonParser::read_pair(const char* at, Members& members, Batch& batch, LineError& error) const {
  const char* end = *at == '"' ? skip_json_string(at) : nullptr;
  if (end == nullptr) return json_error(at, fmt::format("found {}, expected the name of a member", quote_word(at)), error);
  const char* colon = skip_json_space(end);
  if (*colon != ':') return json_error(colon, fmt::format("found {}, expected ':'", quote_word(colon)), error);
  const int found = find({at + 1, static_cast<size_t>(end - at - 2)}, members.guess);
  const char* value = skip_json_space(colon + 1);
  if (found < 0) {
    const char* next = skip_json_value(value);
    return next != nullptr ? next : json_error(value, "the object does not end in its line", error);
  }
  const auto slot = static_cast<size_t>(found);
  if (members.seen[slot]) return json_error(at, fmt::format("slot '{}' is there twice", slots_[slot].name), error);
  members.seen[slot] = true;
  ++members.found;
  members.guess = slot + 1;
  return read_member(value, slot, batch, error);
}

const char* JsonParser::read_member(const char* at, size_t slot, Batch& batch, LineError& error) const {
  Column& column = batch.columns[slot];
  if (std::strncmp(at, "null", 4) == 0 && ends_json_value(at[4])) {
    if (add_missing(slot, column)) return at + 4;
    return json_error(at, fmt::format("slot '{}' is null, and it is dense: give it a default (set_columns)", slots_[slot].name),
                      error);
  }
  return slots_[slot].type == SlotType::float32 ? read_values<float>(at, slot, column, error)
                                                : read_values<int64_t>(at, slot, column, error);
}

bool JsonParser::add_missing(size_t slot, Column& column) const {
  const Default& one = defaults_[slot];
  const bool dense = slots_[slot].dense;
  if (dense && !one.given) return false;
  const int64_t count = !one.given ? 0 : dense ? slots_[slot].width : 1;
  if (slots_[slot].type == SlotType::float32)
    std::fill_n(column.room<float>(count), count, one.real);
  else
    std::fill_n(column.room<int64_t>(count), count, one.integer);
  column.add_sample(count);
  return true;
}

// A value at `at`, the `count`-th of the sample: written behind those before it, and counted, unless it is missing.
template <typename T>
const char* JsonParser::read_one(const char* at, size_t slot, Column& column, int64_t& count, LineError& error) const {
  T* out = column.room<T>((count / kJsonStep + 1) * kJsonStep, count);
  if (std::strncmp(at, "null", 4) == 0 && ends_json_value(at[4])) {
    const Default& one = defaults_[slot];
    if (!one.given && slots_[slot].dense)
      return json_error(at,
                        fmt::format("slot '{}', value {}: null, and the slot is dense: give it a default (set_columns)",
                                    slots_[slot].name, count + 1),
                        error);
    if (one.given) out[count++] = std::is_integral_v<T> ? static_cast<T>(one.integer) : static_cast<T>(one.real);
    return at + 4;
  }
  const char* end = read_json_value(at, out[count]);
  if (end == nullptr || !ends_json_value(*end))
    return json_error(at,
                      fmt::format("slot '{}', value {}: found {}, expected {}", slots_[slot].name, count + 1,
                                  quote_word(at, ",]} \t\r"), std::is_integral_v<T> ? "an integer of 64 bits" : "a number"),
                      error);
  ++count;
  return end;
}

template <typename T>
const char* JsonParser::read_values(const char* at, size_t slot, Column& column, LineError& error) const {
  const char* begin = at;
  int64_t count = 0;
  if (*at != '[') {
    at = read_one<T>(at, slot, column, count, error);
    if (at == nullptr) return nullptr;
  } else {
    for (at = skip_json_space(at + 1); *at != ']';) {
      at = read_one<T>(at, slot, column, count, error);
      if (at == nullptr) return nullptr;
      at = skip_json_space(at);
      if (*at == ']') break;
      if (*at != ',')
        return json_error(at, fmt::format("slot '{}': found {}, expected ',' or ']'", slots_[slot].name, quote_word(at)), error);
      at = skip_json_space(at + 1);
      if (*at == ']') return json_error(at, fmt::format("slot '{}': found ']' behind ','", slots_[slot].name), error);
    }
    ++at;
  }
  if (slots_[slot].dense && count != slots_[slot].width)
    return json_error(
        begin,
        fmt::format("slot '{}' has {} values, expected {}: the slot is dense", slots_[slot].name, count, slots_[slot].width),
        error);
  column.add_sample(count);
  return at;
}

}  // namespace argosy::data
