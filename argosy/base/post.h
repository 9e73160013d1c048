#pragma once

#include <string>
#include <string_view>

#include "argosy/base/status.h"

namespace argosy {

// What a launcher and the keeper of its job's store (the program argosy-store) say to each other, a line each:
//   welcome 2 GREETING   to the launcher of another node, first: it is guest 2, and the first node greets with this
//   letter 2 TEXT        from guest 2, or to it
//   gone 2 TEXT          guest 2 has ended; its launcher gives this beforehand, and the keeper posts it last
//   lost WHY             there is no store any more
// A plain value.
struct PostLine {
  enum class Kind { welcome, letter, gone, lost };

  Kind kind = Kind::letter;
  int guest = 0;  // from 1; 0 where a line has none
  std::string text = {};

  friend bool operator==(const PostLine&, const PostLine&) = default;
};

// REQUIRES: the text has no end of line.
std::string to_line(const PostLine& line);

// Any bytes may come: what to_line() would not write, and a line that a LineSocket would not carry, is an error.
Result<PostLine> parse_post_line(std::string_view line);

}  // namespace argosy
