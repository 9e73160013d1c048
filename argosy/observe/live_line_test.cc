#include "argosy/observe/live_line.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "argosy/base/fd.h"
#include "argosy/base/log.h"

namespace argosy::observe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

JobView some_job(double samples) {
  JobView view;
  view.samples = samples;
  view.samples_per_second = 7;
  return view;
}

// stderr is a terminal of our own while it lives; read() gives what was written to it.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) : outside_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::grantpt(outside_.get()), ::unlockpt(outside_.get());
    const Fd inside(::open(::ptsname(outside_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(inside.get(), TIOCSWINSZ, &size);
    before_ = Fd(::dup(STDERR_FILENO));
    ::dup2(inside.get(), STDERR_FILENO);
    ::fcntl(outside_.get(), F_SETFL, O_NONBLOCK);
    ::setenv("TERM", "xterm", 1);
  }
  ~Terminal() { ::dup2(before_.get(), STDERR_FILENO); }

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

TEST(LiveLine, OnATerminalItIsWrittenOver) {
  Terminal terminal(80);
  LiveLine line({.terminal_seconds = 0});
  line.show(some_job(10));
  line.show(some_job(20));
  const std::string text = terminal.read();
  EXPECT_THAT(text,
              AllOf(HasSubstr("\r\033[K0:00 · 7 samples/s · 10 samples"), HasSubstr("\r\033[K0:00 · 7 samples/s · 20 samples")));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

TEST(LiveLine, LeavesNoHalfLine) {
  Terminal terminal(80);
  {
    LiveLine line({.terminal_seconds = 0});
    line.show(some_job(10));
    terminal.read();
  }
  EXPECT_EQ(terminal.read(), "\r\033[K");
}

// A line of the log comes above it, not into it.
TEST(LiveLine, GivesWayToTheLog) {
  Terminal terminal(80);
  LiveLine line({.terminal_seconds = 0});
  line.show(some_job(10));
  terminal.read();
  log_warning("something else");
  EXPECT_THAT(terminal.read(), testing::MatchesRegex("\r.\\[K.*something else\r?\n"));
  line.clear();
  EXPECT_THAT(terminal.read(), IsEmpty()) << "there is no line to take off";
}

TEST(LiveLine, FitsTheTerminal) {
  Terminal terminal(30);
  LiveLine line({.terminal_seconds = 0});
  line.show(some_job(123'456'789));
  EXPECT_THAT(terminal.read(), testing::EndsWith("…"));
}

TEST(LiveLine, QuietShowsNothing) {
  Terminal terminal(80);
  LiveLine line({.quiet = true, .terminal_seconds = 0});
  EXPECT_FALSE(line.is_due());
  line.show(some_job(10));
  EXPECT_THAT(terminal.read(), IsEmpty());
}

TEST(LiveLine, IsShownFromTimeToTime) {
  Terminal terminal(80);
  LiveLine line({.terminal_seconds = 1000});
  EXPECT_FALSE(line.is_due());
  line.show(some_job(10));
  EXPECT_THAT(terminal.read(), IsEmpty());
}

TEST(LiveLine, ElsewhereItIsALineOfTheLog) {
  testing::internal::CaptureStderr();
  {
    LiveLine line({.file_seconds = 0});
    line.show(some_job(10));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), AllOf(HasSubstr("10 samples"), HasSubstr("\n"), Not(HasSubstr("\033[K"))));
}

}  // namespace
}  // namespace argosy::observe
