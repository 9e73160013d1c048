#include "argosy/observe/live_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/base/log.h"
#include "argosy/base/own_terminal_test.h"

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

TEST(LiveLine, OnATerminalItIsWrittenOver) {
  OwnTerminal terminal(80);
  LiveLine line({.terminal_seconds = 0});
  line.show(some_job(10));
  line.show(some_job(20));
  const std::string text = terminal.read();
  EXPECT_THAT(text,
              AllOf(HasSubstr("\r\033[K0:00 · 7 samples/s · 10 samples"), HasSubstr("\r\033[K0:00 · 7 samples/s · 20 samples")));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

TEST(LiveLine, LeavesNoHalfLine) {
  OwnTerminal terminal(80);
  {
    LiveLine line({.terminal_seconds = 0});
    line.show(some_job(10));
    terminal.read();
  }
  EXPECT_EQ(terminal.read(), "\r\033[K");
}

// A line of the log comes above it, not into it.
TEST(LiveLine, GivesWayToTheLog) {
  OwnTerminal terminal(80);
  LiveLine line({.terminal_seconds = 0});
  line.show(some_job(10));
  terminal.read();
  log_warning("something else");
  EXPECT_THAT(terminal.read(), testing::MatchesRegex("\r.\\[K.*something else\r?\n"));
  line.clear();
  EXPECT_THAT(terminal.read(), IsEmpty()) << "there is no line to take off";
}

TEST(LiveLine, FitsTheTerminal) {
  OwnTerminal terminal(30);
  LiveLine line({.terminal_seconds = 0});
  line.show(some_job(123'456'789));
  EXPECT_THAT(terminal.read(), testing::EndsWith("…"));
}

TEST(LiveLine, QuietShowsNothing) {
  OwnTerminal terminal(80);
  LiveLine line({.quiet = true, .terminal_seconds = 0});
  EXPECT_FALSE(line.is_due());
  line.show(some_job(10));
  EXPECT_THAT(terminal.read(), IsEmpty());
}

TEST(LiveLine, IsShownFromTimeToTime) {
  OwnTerminal terminal(80);
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
