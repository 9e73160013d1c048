#pragma once

#include <cstddef>
#include <string_view>

#include "argosy/data/line_parser.h"

namespace argosy::data {

// The words of a line of UTF-8 text: what stands between spaces, tabs and carriage returns. Other space (such as U+00A0) is part
// of words, as it is for word2vec's own program.
//
// REQUIRES of every function: a '\n' at or after `line`.

// The end of the line where all of it is UTF-8; otherwise null, and `error` says which bytes are not.
const char* check_utf8(const char* line, LineError& error);

// Calls body(word) for each word, and returns the line's end. Inline: it runs once for each word of a corpus.
template <typename Body>
const char* for_each_word(const char* line, const Body& body) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  for (;;) {
    while (is_space(*line)) ++line;
    if (*line == '\n') return line;
    const char* begin = line;
    while (!is_space(*line) && *line != '\n') ++line;
    body(std::string_view(begin, static_cast<size_t>(line - begin)));
  }
}

}  // namespace argosy::data
