#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace argosy {

// Splits at every `separator`; "a,,b" has three parts, "" has none.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);  // without spaces, tabs and line ends on both sides

// The whole text as a number, or nullopt.
std::optional<int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);
std::optional<int64_t> parse_bytes(
    std::string_view text);  // "4096", "512M", "1.5G", "2GB", "8GiB": K, M, G, T are powers of 1,024

// The candidate with the smallest edit distance to `word`, if it is near enough to be what was meant.
std::optional<std::string> nearest_name(std::string_view word, const std::vector<std::string>& candidates);

// 1234567 -> "1,234,567".
std::string with_thousands(int64_t value);

}  // namespace argosy
