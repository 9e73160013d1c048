#include "argosy/base/post.h"

#include <algorithm>
#include <array>
#include <limits>

#include "argosy/base/line_socket.h"
#include "argosy/base/text.h"

namespace argosy {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"welcome", "letter", "gone", "lost"};  // in the order of Kind

// Cuts the next word off `rest`.
std::string_view next_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return word;
}

Status no_post_line(std::string_view line) {
  return Status::invalid_argument("'{}' is no line of a store's keeper", line.substr(0, std::min(line.find('\n'), size_t{80})));
}

}  // namespace

std::string to_line(const PostLine& line) {
  const auto name = kNames[static_cast<size_t>(line.kind)];
  if (line.kind == PostLine::Kind::lost) return fmt::format("{} {}", name, line.text);
  return fmt::format("{} {} {}", name, line.guest, line.text);
}

Result<PostLine> parse_post_line(std::string_view line) {
  if (line.size() > kLongestLine || line.find('\n') != std::string_view::npos) return no_post_line(line);
  std::string_view rest = line;
  const auto name = std::find(kNames.begin(), kNames.end(), next_word(rest));
  if (name == kNames.end()) return no_post_line(line);
  PostLine parsed{.kind = static_cast<PostLine::Kind>(name - kNames.begin())};
  if (parsed.kind != PostLine::Kind::lost) {
    const auto guest = parse_integer(next_word(rest));
    if (!guest || *guest < 1 || *guest > std::numeric_limits<int>::max()) return no_post_line(line);
    parsed.guest = static_cast<int>(*guest);
  }
  parsed.text = rest;
  if (to_line(parsed) != line) return no_post_line(line);
  return parsed;
}

}  // namespace argosy
