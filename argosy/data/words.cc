#include "argosy/data/words.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace argosy::data {
namespace {

struct Utf8Lead {
  int length;                // of the whole sequence
  unsigned char low, high;   // what its second byte may be
};

// By the table of the Unicode standard ("Well-Formed UTF-8 Byte Sequences"): no overlong forms, no surrogates, nothing above
// U+10FFFF. Length 0: no character begins with this byte.
Utf8Lead utf8_lead(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

// How long the character at `at` is, which is not ASCII; 0: it is none. Ends at the '\n' at the latest, which is in no sequence.
int utf8_length(const char* at) {
  const auto byte = [&](int i) { return static_cast<unsigned char>(at[i]); };
  const Utf8Lead lead = utf8_lead(byte(0));
  if (lead.length == 0 || byte(1) < lead.low || byte(1) > lead.high) return 0;
  for (int i = 2; i < lead.length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return lead.length;
}

}  // namespace

const char* check_utf8(const char* line, LineError& error) {
  for (;;) {
    if (static_cast<unsigned char>(*line) < 0x80) {
      if (*line == '\n') return line;
      ++line;
      continue;
    }
    const int length = utf8_length(line);
    if (length == 0) {
      error.at = line;
      error.what = fmt::format(
          "byte 0x{:02x} is not part of UTF-8 text; convert the file (iconv -f latin1 -t utf-8), or set max_bad_lines",
          static_cast<unsigned char>(*line));
      return nullptr;
    }
    line += length;
  }
}

}  // namespace argosy::data
