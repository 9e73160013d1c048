#include "argosy/base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "argosy/base/log.h"
#include "argosy/base/own_terminal_test.h"
#include "argosy/base/terminal_line.h"

namespace argosy {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

void pass_milliseconds(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

// Who observes the process sees what is under way, and nothing of what has ended.
TEST(Progress, IsRunningWorkWhileItLives) {
  EXPECT_THAT(running_work(), IsEmpty());
  {
    Progress load("load"), save("save");
    load.set(0.25);
    const auto works = running_work();
    ASSERT_EQ(works.size(), 2);
    EXPECT_EQ(works[0].what, "load");
    EXPECT_EQ(works[0].ratio, 0.25);
    EXPECT_EQ(works[1].what, "save");
    EXPECT_FALSE(works[1].ratio.has_value());
  }
  EXPECT_THAT(running_work(), IsEmpty());
}

// Two series of a metric with equal labels would be refused by who reads them.
TEST(Progress, OfEqualNamesTheLeastFarIsTold) {
  Progress one("load"), other("load");
  one.set(0.75);
  other.set(0.5);
  const auto works = running_work();
  ASSERT_EQ(works.size(), 1);
  EXPECT_EQ(works[0].ratio, 0.5);
}

TEST(Progress, StaysBetweenNothingAndAll) {
  Progress load("load");
  load.set(1.5);
  EXPECT_EQ(running_work()[0].ratio, 1);
  load.set(-1);
  EXPECT_EQ(running_work()[0].ratio, 0);
  load.set(std::nullopt);
  EXPECT_FALSE(running_work()[0].ratio.has_value());
}

TEST(RunningWork, SaysHowFarAndHowLong) {
  EXPECT_EQ((RunningWork{.what = "load", .ratio = 0.25, .seconds = 10}).text(),
            "load 25 % [█████···············] 10 s, 30 s left");
  EXPECT_EQ((RunningWork{.what = "load", .ratio = 0, .seconds = 10}).text(), "load 0 % [····················] 10 s");
  EXPECT_EQ((RunningWork{.what = "save", .ratio = {}, .seconds = 10}).text(), "save, 10 s");
}

// The bar gives way to a line of the log, comes back, and leaves a line that says how long it took.
TEST(Progress, OnATerminalThereIsABar) {
  OwnTerminal terminal(80);
  {
    Progress load("load");
    load.set(0.1);
    EXPECT_THAT(terminal.read(), IsEmpty()) << "it may be over in a moment";
    pass_milliseconds(600);
    load.set(0.5);
    EXPECT_THAT(terminal.read(), AllOf(StartsWith("\r\033[Kload 50 % [██████████··········]"), Not(HasSubstr("\n"))));
    load.set(0.51);
    EXPECT_THAT(terminal.read(), IsEmpty()) << "it was drawn a moment ago";
    log_info("something else");
    EXPECT_THAT(terminal.read(), AllOf(StartsWith("\r\033[K"), HasSubstr("something else")));
    pass_milliseconds(300);
    load.set(0.75);
    EXPECT_THAT(terminal.read(), StartsWith("\r\033[Kload 75 %"));
  }
  EXPECT_THAT(terminal.read(), AllOf(StartsWith("\r\033[K"), HasSubstr("load: ended after 0."), EndsWith("\n")));
}

TEST(Progress, WhatIsShortIsShownNowhere) {
  testing::internal::CaptureStderr();
  {
    Progress load("load");
    for (int i = 0; i <= 100; ++i) load.set(i / 100.0);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty());
}

TEST(TerminalLine, IsTakenOffOnce) {
  OwnTerminal terminal(80);
  show_terminal_line("how it goes on");
  EXPECT_EQ(terminal.read(), "\r\033[Khow it goes on");
  clear_terminal_line();
  EXPECT_EQ(terminal.read(), "\r\033[K");
  clear_terminal_line();
  EXPECT_THAT(terminal.read(), IsEmpty());
}

TEST(TerminalLine, IsForTerminalsThatCanDoIt) {
  EXPECT_EQ(terminal_width(), 80) << "where it is not known";
  OwnTerminal terminal(132);
  EXPECT_TRUE(has_terminal());
  EXPECT_EQ(terminal_width(), 132);
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(has_terminal());
}

}  // namespace
}  // namespace argosy
