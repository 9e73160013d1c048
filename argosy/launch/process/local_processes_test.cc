#include "argosy/launch/process/local_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "argosy/base/fd.h"
#include "argosy/base/file.h"
#include "argosy/base/text.h"
#include "argosy/launch/process/stop_signal.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// Processes that are shell scripts with logs in a folder of the test's own.
class LocalProcessesTest : public testing::Test {
 protected:
  LocalProcessesTest() {
    folder_ = fs::temp_directory_path() /
              fmt::format("argosy-processes-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  ~LocalProcessesTest() override { fs::remove_all(folder_); }

  ProcessSpec process(const std::string& name, const std::string& script) const {
    return {.name = name, .command = {"/bin/sh", "-c", script}, .log = (folder_ / "logs" / name).string()};
  }
  std::string log(const std::string& name) const {
    const auto text = read_file(folder_ / "logs" / name);
    return text.ok() ? *text : "";
  }

  // How process i ended; a test that waits for one that never does fails here.
  static ExitStatus end_of(LocalProcesses& processes, size_t i) {
    const Deadline deadline = Deadline::after_seconds(30);
    while (!processes.poll(i) && !deadline.passed()) processes.wait(Deadline::after_seconds(0.02));
    EXPECT_TRUE(processes.poll(i).has_value()) << "process " << i << " still runs";
    return processes.poll(i).value_or(ExitStatus{});
  }
  // Waits until the log has the text.
  bool says(LocalProcesses& processes, const std::string& name, const std::string& text) const {
    const Deadline deadline = Deadline::after_seconds(30);
    while (log(name).find(text) == std::string::npos && !deadline.passed()) processes.wait(Deadline::after_seconds(0.01));
    return log(name).find(text) != std::string::npos;
  }

  fs::path folder_;
};

TEST_F(LocalProcessesTest, AProcessHasItsVariablesItsLogAndNotWhatIsWithheld) {
  ::setenv("ARGOSY_TEST_HANDED", "down", 1);
  ::setenv("ARGOSY_TEST_KEPT", "back", 1);
  ::setenv("ARGOSY_TEST_BOTH", "launcher", 1);
  ProcessSpec spec = process("worker", "echo $ARGOSY_TEST_HANDED,$ARGOSY_TEST_KEPT,$ARGOSY_TEST_BOTH,$OWN; echo oh >&2");
  spec.environment = {{"OWN", "own"}, {"ARGOSY_TEST_BOTH", "job"}};
  spec.without = {"ARGOSY_TEST_KEPT"};
  LocalProcesses processes({spec});
  EXPECT_FALSE(processes.poll(0).has_value()) << "before it is started";
  ASSERT_TRUE(processes.start_all().ok());
  EXPECT_EQ(end_of(processes, 0).to_string(), ExitStatus{}.to_string());
  EXPECT_EQ(log("worker"), "down,,job,own\noh\n");
  for (const char* name : {"ARGOSY_TEST_HANDED", "ARGOSY_TEST_KEPT", "ARGOSY_TEST_BOTH"}) ::unsetenv(name);
}

// The log is opened for appending: what the process before said is the reason why there is another.
TEST_F(LocalProcessesTest, AProcessThatIsStartedAgainGoesOnInItsLog) {
  LocalProcesses processes({process("server", "echo line; exit 3")});
  for (int time = 0; time < 3; ++time) {
    ASSERT_TRUE(processes.start(0).ok());
    EXPECT_THAT(end_of(processes, 0).to_string(), HasSubstr("3"));
  }
  EXPECT_EQ(log("server"), "line\nline\nline\n");
}

TEST_F(LocalProcessesTest, WhatCannotBeStartedIsNamed) {
  ProcessSpec spec = process("worker 4", "");
  spec.command = {"/nowhere/program"};
  LocalProcesses processes({spec});
  const Status failed = processes.start(0);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.message(), HasSubstr("worker 4"));
  EXPECT_THAT(failed.message(), HasSubstr("/nowhere/program"));
  EXPECT_FALSE(processes.poll(0).has_value());
  processes.stop(0, 0);  // nothing to stop is nothing done

  ProcessSpec unwritable = process("worker 5", "true");
  std::ofstream(folder_ / "file") << "no folder";
  unwritable.log = (folder_ / "file" / "log").string();
  const Status refused = LocalProcesses({unwritable}).start_all();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.message(), HasSubstr("worker 5"));
  EXPECT_THAT(refused.message(), HasSubstr(unwritable.log));
}

// A log beside where the launcher was started has no folder in its name.
TEST_F(LocalProcessesTest, ALogMayLieInTheFolderOfTheLauncher) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  ProcessSpec spec = process("worker", "echo here");
  spec.log = "plain.log";
  LocalProcesses processes({spec});
  const Status started = processes.start_all();
  if (started.ok()) end_of(processes, 0);
  fs::current_path(before);
  ASSERT_TRUE(started.ok()) << started.message();
  EXPECT_EQ(*read_file(folder_ / "plain.log"), "here\n");
}

TEST_F(LocalProcessesTest, StopLetsAProcessEndByItself) {
  LocalProcesses processes(
      {process("tidy", "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.02; done"), process("done", "true")});
  ASSERT_TRUE(processes.start_all().ok());
  ASSERT_TRUE(says(processes, "tidy", "up"));
  end_of(processes, 1);
  processes.stop(30, stop_signals());
  EXPECT_THAT(log("tidy"), HasSubstr("bye\n"));
  EXPECT_FALSE(processes.poll(0).has_value()) << "there is none any more";
}

TEST_F(LocalProcessesTest, WhatDoesNotEndBySigtermIsKilledAfterTheGrace) {
  LocalProcesses processes({process("stubborn", "trap '' TERM; echo $$; while :; do sleep 0.02; done")});
  ASSERT_TRUE(processes.start_all().ok());
  ASSERT_TRUE(says(processes, "stubborn", "\n"));
  int calls = 0;
  processes.stop(0.12, stop_signals(), [&] { ++calls; });
  EXPECT_GE(calls, 1);
  const auto pid = parse_integer(trim(log("stubborn")));
  ASSERT_TRUE(pid.has_value());
  EXPECT_EQ(::kill(static_cast<pid_t>(*pid), 0), -1) << "it has been killed and collected";
}

// A second Ctrl-C is impatient: the grace is over.
TEST_F(LocalProcessesTest, OneMoreStopSignalEndsTheGrace) {
  LocalProcesses processes({process("stubborn", "trap '' TERM; echo up; while :; do sleep 0.02; done")});
  ASSERT_TRUE(processes.start_all().ok());
  ASSERT_TRUE(says(processes, "stubborn", "up"));
  const int before = stop_signals();
  Stopwatch watch;
  processes.stop(60, before, [&] { stop_from_signal(SIGINT); });
  EXPECT_LT(watch.seconds(), 30) << "did not wait for the grace";
  EXPECT_EQ(stop_signal(), SIGINT);
  EXPECT_GT(stop_signals(), before);
}

// What a child has started and moved to a group of its own, as timeout does with itself, goes with it.
TEST_F(LocalProcessesTest, TheDestructorKillsTheWholeSession) {
  pid_t grandchild = 0;
  {
    LocalProcesses processes({process("parent", "timeout 600 sleep 600 & echo $!; wait")});
    ASSERT_TRUE(processes.start_all().ok());
    ASSERT_TRUE(says(processes, "parent", "\n"));
    grandchild = static_cast<pid_t>(parse_integer(trim(log("parent"))).value_or(0));
    ASSERT_GT(grandchild, 0);
    ASSERT_EQ(::kill(grandchild, 0), 0);
  }
  const auto stat = read_file(fmt::format("/proc/{}/stat", grandchild));
  if (stat.ok()) {
    EXPECT_THAT(*stat, HasSubstr(") Z ")) << "dead, and not collected yet";
  }
}

TEST_F(LocalProcessesTest, AWaitEndsByAnotherDescriptorAndByItsDeadline) {
  LocalProcesses processes({process("long", "sleep 600")});
  ASSERT_TRUE(processes.start_all().ok());
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Fd read_end(ends[0]), write_end(ends[1]);
  ASSERT_EQ(::write(write_end.get(), "x", 1), 1);
  Stopwatch watch;
  const int others[] = {-1, read_end.get()};
  processes.wait(Deadline::after_seconds(60), others);
  EXPECT_LT(watch.seconds(), 30);
  wait_for_event({}, Deadline::after_seconds(0));  // what another test's signal has left
  watch.restart();
  processes.wait(Deadline::after_seconds(0.02));
  EXPECT_GE(watch.seconds(), 0.015) << "nothing happened before";
}

// A signal that came before the wait ends it: none is missed.
TEST_F(LocalProcessesTest, AStopSignalThatCameBeforeTheWaitEndsIt) {
  stop_from_signal(SIGTERM);
  Stopwatch watch;
  wait_for_event({}, Deadline::after_seconds(60));
  EXPECT_LT(watch.seconds(), 30);
  EXPECT_EQ(stop_signal(), SIGTERM);
  watch.restart();
  wait_for_event({}, Deadline::after_seconds(0.02));
  EXPECT_GE(watch.seconds(), 0.015) << "it counts once";
}

TEST_F(LocalProcessesTest, AReportHasTheNameTheEndAndTheLastLines) {
  LocalProcesses processes({process("worker 1", "seq 1 30; exit 7")});
  ASSERT_TRUE(processes.start_all().ok());
  const ExitStatus exit = end_of(processes, 0);
  testing::internal::CaptureStderr();
  processes.report(0, exit.to_string());
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("worker 1: " + exit.to_string()));
  EXPECT_THAT(shown, HasSubstr(":\n11\n12\n"));
  EXPECT_THAT(shown, HasSubstr("\n30\n"));
  EXPECT_THAT(shown, Not(HasSubstr("\n10\n")));
}

}  // namespace
}  // namespace argosy::launch
