#include "argosy/observe/live_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "argosy/base/log.h"
#include "argosy/base/log_prelude.h"

namespace argosy::observe {
namespace {

constexpr size_t kUsualWidth = 80;

bool is_live_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : kUsualWidth;
}

}  // namespace

LiveLine::LiveLine(Options options) : options_(options), terminal_(is_live_terminal()) {
  if (terminal_ && !options_.quiet) set_log_prelude([this] { clear(); });
}

LiveLine::~LiveLine() {
  clear();
  set_log_prelude(nullptr);
}

bool LiveLine::is_due() const {
  if (options_.quiet) return false;
  return since_shown_.seconds() >= (terminal_ ? options_.terminal_seconds : options_.file_seconds);
}

void LiveLine::show(const JobView& view) {
  if (!is_due()) return;
  since_shown_.restart();
  if (!terminal_) return log_info("{}", job_line(view, 300));
  MutexLock lock(mutex_);
  std::fprintf(stderr, "\r\033[K%s", job_line(view, terminal_width() - 1).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void LiveLine::clear() {
  MutexLock lock(mutex_);
  if (!shown_) return;
  shown_ = false;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace argosy::observe
