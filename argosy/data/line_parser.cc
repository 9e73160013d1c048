#include "argosy/data/line_parser.h"

namespace argosy::data {

std::string quote_word(const char* at, std::string_view separators) {
  constexpr int kLongest = 32;
  std::string quoted;
  for (int length = 0; *at != '\n' && separators.find(*at) == std::string_view::npos; ++at, ++length) {
    if (length == kLongest) {
      quoted += "…";
      break;
    }
    const auto byte = static_cast<unsigned char>(*at);
    if (byte >= 0x20 && byte < 0x7f) {
      quoted += *at;
    } else {
      quoted += fmt::format("\\x{:02x}", byte);
    }
  }
  return quoted.empty() ? "the end of the line" : fmt::format("'{}'", quoted);
}

}  // namespace argosy::data
