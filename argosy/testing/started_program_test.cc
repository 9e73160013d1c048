#include "argosy/testing/started_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace argosy::testing {
namespace {

Result<StartedProgram> shell(const std::string& script) { return StartedProgram::start({.command = {"/bin/sh", "-c", script}}); }

TEST(StartedProgram, HasSaidItsFirstLine) {
  auto program = shell("echo 127.0.0.1:6170; echo more; exec sleep 1000");
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->line(), "127.0.0.1:6170");
  EXPECT_EQ(program->end().signal, SIGTERM);
}

TEST(StartedProgram, EndsAsItWants) {
  auto program = shell("trap 'exit 3' TERM; echo here; while :; do sleep 0.01; done");
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->end().code, 3);
}

TEST(StartedProgram, OneThatEndsOrIsNotThereIsAnError) {
  EXPECT_THAT(shell("echo -n half; exit 1").status().message(),
              ::testing::HasSubstr("has ended before it said where it listens"));
  EXPECT_FALSE(StartedProgram::start({.command = {"/no/such/program"}}).ok());
}

TEST(StartedProgram, IsKilledWithItsObject) {
  pid_t pid = 0;
  {
    auto program = shell("echo here; exec sleep 1000");
    ASSERT_TRUE(program.ok());
    pid = program->pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace argosy::testing
