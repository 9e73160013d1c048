#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "argosy/data/batch.h"

namespace argosy::data {

// Text given to a parser ends with '\n' and has this many readable bytes after it, whatever they are: numbers are read
// eight bytes at a time.
inline constexpr size_t kTextPadding = 32;

// Why a line is bad: the byte where it went wrong (null: no byte of its own), and a sentence that names slot, found and expected.
struct LineError {
  const char* at = nullptr;
  std::string what;
};

// Where a line stands, however the files are read.
struct LinePlace {
  uint64_t file_key = 0;  // stands for the file's name without its folder
  int64_t line = 1;       // its number in the file, from 1
};

// A text format whose samples are each in one line; a line has one sample, or, of a corpus, any number. Thread-safe: parsing
// changes the batch and nothing else.
class LineParser {
 public:
  virtual ~LineParser() = default;

  // Adds what the line at `line` has to the batch, which was reset for slots(), and returns where the next line
  // starts. A bad line gives nullptr, fills `error` and may leave an unfinished sample behind (drop_unfinished_sample).
  // REQUIRES: a '\n' at or after `line`, and kTextPadding readable bytes after that.
  virtual const char* parse_line(const char* line, Batch& batch, LineError& error) const = 0;

  // The same for formats in which random numbers are drawn by the line's place.
  virtual const char* parse_line_at(const char* line, const LinePlace&, Batch& batch, LineError& error) const {
    return parse_line(line, batch, error);
  }

  virtual std::span<const SlotSpec> slots() const = 0;
};

// The word at `at` as an error message shows it: in quotes, cut when long, unprintable bytes as \xNN; "the end of the line"
// where there is none.
std::string quote_word(const char* at, std::string_view separators = " \t\r");

}  // namespace argosy::data
