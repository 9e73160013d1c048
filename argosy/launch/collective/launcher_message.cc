#include "argosy/launch/collective/launcher_message.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

constexpr size_t kMostFields = 16;

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("-._:,;[]/").find(c) != std::string_view::npos;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 16 && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

std::string encoded(const std::string& text) {
  std::string out;
  for (const char c : text) out += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      if (!is_plain(text[i])) return std::nullopt;
      out += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

Status not_a_message(std::string_view line) {
  return Status::invalid_argument("'{}' is no message of a launcher", encoded(std::string(line.substr(0, 80))));
}

}  // namespace

std::string LauncherMessage::text(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

Result<int> LauncherMessage::number(const std::string& name) const {
  const auto value = parse_integer(text(name));
  if (!value || *value < -1 || *value > std::numeric_limits<int>::max())
    return Status::invalid_argument("message '{}': field '{}' is '{}', expected a whole number", kind, name, text(name));
  return static_cast<int>(*value);
}

std::vector<std::string> LauncherMessage::list(const std::string& name) const { return split(text(name), ','); }

std::string to_line(const LauncherMessage& message) {
  std::string line = message.kind;
  for (const auto& [name, value] : message.fields) line += fmt::format(" {}={}", name, encoded(value));
  return line;
}

Result<LauncherMessage> parse_line(std::string_view line) {
  const std::vector<std::string> words = split(line, ' ');
  if (words.empty() || !is_name(words[0]) || words.size() > kMostFields + 1) return not_a_message(line);
  LauncherMessage message{.kind = words[0]};
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    if (equals == std::string::npos || !is_name(name)) return not_a_message(line);
    const auto value = decoded(std::string_view(words[i]).substr(equals + 1));
    if (!value || !message.fields.emplace(name, *value).second) return not_a_message(line);
  }
  return message;
}

}  // namespace argosy::launch
