#include "argosy/observe/json_writer.h"

#include <fmt/core.h>

#include <cmath>

namespace argosy::observe {
namespace {

// How many bytes of well-formed UTF-8 a text begins with as one character; 0: none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xC2 && first < 0xE0 ? 2
                        : (first & 0xF0) == 0xE0        ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (length == 3 && ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F))) return 0;
  if (length == 4 && ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F))) return 0;
  return length;
}

}  // namespace

JsonWriter& JsonWriter::open(std::string_view key, char bracket) {
  begin_value(key);
  json_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  json_ += bracket;
  return *this;
}

void JsonWriter::begin_value(std::string_view key) {
  if (!json_.empty() && json_.back() != '{' && json_.back() != '[') json_ += ',';
  if (key.empty()) return;
  quote(key);
  json_ += ':';
}

JsonWriter& JsonWriter::text(std::string_view key, std::string_view value) {
  begin_value(key);
  quote(value);
  return *this;
}

JsonWriter& JsonWriter::number(std::string_view key, double value) {
  begin_value(key);
  json_ += std::isfinite(value) ? fmt::format("{}", value) : "null";
  return *this;
}

JsonWriter& JsonWriter::boolean(std::string_view key, bool value) {
  begin_value(key);
  json_ += value ? "true" : "false";
  return *this;
}

void JsonWriter::quote(std::string_view text) {
  json_ += '"';
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const char c = text[0];
    if (length == 0)
      json_ += "\\ufffd";
    else if (c == '"' || c == '\\')
      json_ += {'\\', c};
    else if (c == '\n')
      json_ += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == 0x7f)
      json_ += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      json_ += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  json_ += '"';
}

}  // namespace argosy::observe
