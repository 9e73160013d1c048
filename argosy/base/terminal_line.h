#pragma once

#include <cstddef>
#include <string_view>

namespace argosy {

// The line at the bottom of the terminal that a process writes over again and again: how its work goes on. There is one in a
// process; lines of the log (base/log.h) come above it. All of it is thread-safe.

// Whether stderr is a terminal on which a line can be written over.
bool has_terminal();
size_t terminal_width();  // of stderr, in columns; 80 where it is not known

// Shows `text` in place of what was shown. REQUIRES: has_terminal(); `text` is narrower than the terminal and has no line end.
void show_terminal_line(std::string_view text);

// Takes the line off: before something else is written to the terminal. Does nothing where none is shown.
void clear_terminal_line();

}  // namespace argosy
