#include "argosy/cli/checks.h"

#include <algorithm>

#include "argosy/base/text.h"

namespace argosy::cli {
namespace {

constexpr double kMost = 1e9;

std::string unlike(const std::string& text, const std::string& expected) {
  return fmt::format("found '{}', expected {}", text, expected);
}

CLI::Validator number(const char* range, bool zero) {
  return {[range, zero](std::string& text) {
            const auto value = parse_number(text);
            const bool fits = value && *value <= kMost && (*value > 0 || (zero && *value == 0));
            return fits ? std::string() : unlike(text, std::string("a number ") + range);
          },
          range};
}

}  // namespace

CLI::Validator whole_number(int64_t least, int64_t most) {
  const bool bounded = most != std::numeric_limits<int>::max() && most != std::numeric_limits<int64_t>::max();
  const std::string range = bounded ? fmt::format("from {} to {}", least, most) : fmt::format("from {}", least);
  return {[least, most, range](std::string& text) {
            const auto value = parse_integer(text);
            if (value && *value >= least && *value <= most) return std::string();
            return unlike(text, "a whole number " + (value && *value > most ? fmt::format("from {} to {}", least, most) : range));
          },
          range};
}

CLI::Validator number_from_zero() { return number("from 0", true); }

CLI::Validator number_above_zero() { return number("above 0", false); }

CLI::Validator one_of(std::vector<std::string> choices) {
  const std::string shown = join(choices, "|");
  return {[choices = std::move(choices)](std::string& text) {
            const bool known = std::ranges::find(choices, text) != choices.end();
            return known ? std::string() : unlike(text, join(choices, ", "));
          },
          shown};
}

CLI::Validator checked_by(std::function<Status(const std::string& text)> check) {
  return {[check = std::move(check)](std::string& text) { return check(text).message(); }, ""};
}

}  // namespace argosy::cli
