#include "argosy/base/env.h"

#include <cstdlib>

#include "argosy/base/text.h"

namespace argosy {
namespace {

template <typename T>
Result<std::optional<T>> parsed(const char* name, std::optional<T> (*parse)(std::string_view), const char* expected) {
  const auto text = env_text(name);
  if (!text) return std::optional<T>{};
  if (const auto value = parse(*text)) return std::optional<T>(*value);
  return Status::invalid_argument("environment variable {}='{}': expected {}", name, *text, expected);
}

std::optional<bool> parse_flag(std::string_view text) {
  for (std::string_view yes : {"1", "true", "True", "yes", "on"}) {
    if (text == yes) return true;
  }
  for (std::string_view no : {"0", "false", "False", "no", "off", ""}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> env_text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<std::optional<int64_t>> env_integer(const char* name) { return parsed<int64_t>(name, &parse_integer, "a whole number"); }
Result<std::optional<double>> env_number(const char* name) { return parsed<double>(name, &parse_number, "a number"); }
Result<std::optional<bool>> env_flag(const char* name) { return parsed<bool>(name, &parse_flag, "1, 0, true or false"); }

}  // namespace argosy
