#include "argosy/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include "argosy/base/terminal_line.h"

namespace argosy {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

// What is no terminal is a file, or somebody who keeps the lines, and is read later.
std::atomic<bool> with_dates{std::getenv("ARGOSY_NOTICE_FD") != nullptr || ::isatty(STDERR_FILENO) == 0};

std::string pattern_for(std::string_view name) {
  std::string pattern = with_dates ? "%Y-%m-%d %H:%M:%S.%e %^%l%$ " : "%H:%M:%S.%e %^%l%$ ";
  for (char c : name) pattern += c == '%' ? std::string("%%") : std::string(1, c);
  return pattern + (name.empty() ? "%v" : ": %v");
}

// Leaked on purpose: a thread may log while static objects are destroyed.
spdlog::logger& logger() {
  static spdlog::logger& instance = *[] {
    auto* made = new spdlog::logger("argosy", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    const char* wanted = std::getenv("ARGOSY_LOG_LEVEL");
    made->set_level(wanted != nullptr ? spdlog::level::from_str(wanted) : spdlog::level::info);
    made->set_pattern(pattern_for(""));
    return made;
  }();
  return instance;
}

}  // namespace

void log_line(LogLevel level, std::string_view text) {
  if (logger().should_log(spdlog_level(level))) clear_terminal_line();
  logger().log(spdlog_level(level), text);
}
void set_log_name(std::string_view name) { logger().set_pattern(pattern_for(name)); }
void set_log_dates() {
  with_dates = true;
  logger().set_pattern(pattern_for(""));
}
void set_log_level(LogLevel level) { logger().set_level(spdlog_level(level)); }

}  // namespace argosy
