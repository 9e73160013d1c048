#include "argosy/base/terminal_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "argosy/base/mutex.h"

namespace argosy {
namespace {

constexpr size_t kUsualWidth = 80, kLeastWidth = 20;
constexpr const char* kClear = "\r\033[K";

std::atomic<bool> shown{false};  // looked at without the lock by who has nothing to clear

// Leaked on purpose: a thread may log while static objects are destroyed.
Mutex& mutex() {
  static Mutex& instance = *new Mutex;
  return instance;
}

}  // namespace

bool has_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > kLeastWidth ? size.ws_col : kUsualWidth;
}

void show_terminal_line(std::string_view text) {
  const MutexLock lock(mutex());
  std::fprintf(stderr, "%s%.*s", kClear, static_cast<int>(text.size()), text.data());
  std::fflush(stderr);
  shown = true;
}

void clear_terminal_line() {
  if (!shown) return;
  const MutexLock lock(mutex());
  if (!shown.exchange(false)) return;
  std::fputs(kClear, stderr);
  std::fflush(stderr);
}

}  // namespace argosy
