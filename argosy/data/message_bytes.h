#pragma once

#include <string>
#include <string_view>

namespace argosy::data {

// How the messages of a log become lines.
enum class MessageForm {
  text,   // as they are; line ends in them are spaces
  bytes,  // as append_bytes_line() writes them
};

// Any bytes as a line: '\n' is "\n" in two characters, '\' is "\\"; then the line's end.
void append_bytes_line(std::string_view bytes, std::string& text);

// The bytes of a line, which is given without its end. False: no line of append_bytes_line().
bool bytes_of_line(std::string_view line, std::string& bytes);

}  // namespace argosy::data
