#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <string>

#include "argosy/base/fd.h"

namespace argosy {

// stderr is a terminal of our own while it lives; read() gives what was written to it.
class OwnTerminal {
 public:
  explicit OwnTerminal(unsigned short columns) : outside_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::grantpt(outside_.get()), ::unlockpt(outside_.get());
    const Fd inside(::open(::ptsname(outside_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(inside.get(), TIOCSWINSZ, &size);
    before_ = Fd(::dup(STDERR_FILENO));
    ::dup2(inside.get(), STDERR_FILENO);
    ::fcntl(outside_.get(), F_SETFL, O_NONBLOCK);
    ::setenv("TERM", "xterm", 1);
  }
  ~OwnTerminal() { ::dup2(before_.get(), STDERR_FILENO); }
  OwnTerminal(const OwnTerminal&) = delete;

  std::string read() {
    std::string text;
    char bytes[4096];
    for (ssize_t count; (count = ::read(outside_.get(), bytes, sizeof bytes)) > 0;)
      text.append(bytes, static_cast<size_t>(count));
    return text;
  }

 private:
  Fd outside_, before_;
};

}  // namespace argosy
