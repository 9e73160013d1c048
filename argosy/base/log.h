#pragma once

#include <fmt/core.h>

#include <string_view>

namespace argosy {

enum class LogLevel { debug, info, warning, error };

// Writes one line to stderr: time, level, who (see set_log_name), text. Thread-safe.
void log_line(LogLevel level, std::string_view text);

// Puts "worker 1", "server 0", … into every later line of this process.
void set_log_name(std::string_view name);

// Every later line of this process, which has no name, begins with the date too: a launcher's. Lines that do not go to a terminal
// have it anyway.
void set_log_dates();

// Lines below `level` are dropped. The start value comes from ARGOSY_LOG_LEVEL (debug, info, warning, error); info without it.
void set_log_level(LogLevel level);

template <typename... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::debug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace argosy
