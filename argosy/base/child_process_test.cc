#include "argosy/base/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "argosy/base/poll.h"
#include "argosy/base/text.h"
#include "argosy/base/thread.h"

namespace argosy {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kSeconds = 60;

Deadline soon() { return Deadline::after_seconds(kSeconds); }

ChildOptions shell(const std::string& script) { return {.command = {"/bin/sh", "-c", script}}; }

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
  // All that comes until the other side is closed.
  std::string text() {
    write.close();
    std::string all;
    char bytes[4096];
    while (wait_readable(read.get(), soon())) {
      const ssize_t got = ::read(read.get(), bytes, sizeof bytes);
      if (got <= 0) break;
      all.append(bytes, static_cast<size_t>(got));
    }
    return all;
  }
  Fd read, write;
};

// What a command writes to its stdout.
std::string output_of(ChildOptions options) {
  Pipe out;
  options.output = out.write.get();
  auto child = ChildProcess::start(options);
  EXPECT_TRUE(child.ok()) << child.status().message();
  return out.text();
}

bool runs(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(ChildProcess, TheThreeStreamsAndTheEnvironmentAreThoseOfTheOptions) {
  Pipe in, out, err;
  ASSERT_EQ(::write(in.write.get(), "asked", 5), 5);
  in.write.close();
  ChildOptions options = shell("cat; echo \" $NAME\"; echo wrong >&2; exit 3");
  options.input = in.read.get();
  options.output = out.write.get();
  options.errors = err.write.get();
  options.environment = {{"NAME=value", "PATH=/usr/bin:/bin"}};
  auto child = ChildProcess::start(options);
  ASSERT_TRUE(child.ok()) << child.status().message();
  EXPECT_EQ(out.text(), "asked value\n");
  EXPECT_EQ(err.text(), "wrong\n");
  const auto exit = child->wait(soon());
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 3);
  EXPECT_EQ(exit->to_string(), "exit status 3");
}

// A pipe may get a number below 3 where this process has closed its own three.
TEST(ChildProcess, AStreamMayBeOneOfThisProcessesOwnThree) {
  ChildOptions options = shell("echo to stdout");
  Pipe out;
  const Fd kept(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  ASSERT_EQ(::dup2(out.write.get(), STDIN_FILENO), STDIN_FILENO);
  options.output = STDIN_FILENO;
  auto child = ChildProcess::start(options);
  ASSERT_GE(::dup2(kept.get(), STDIN_FILENO), 0);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(out.text(), "to stdout\n");
}

TEST(ChildProcess, WithoutAnInputThereIsNothingToRead) { EXPECT_EQ(output_of(shell("cat; echo end")), "end\n"); }

TEST(ChildProcess, AProgramThatIsNotThereIsNamed) {
  const auto child = ChildProcess::start({.command = {"no-such-program", "--quick"}});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.status().message(), "cannot start 'no-such-program --quick': No such file or directory");
}

TEST(ChildProcess, AWaitEndsAtItsDeadlineAndTheDescriptorTellsTheEnd) {
  auto child = ChildProcess::start(shell("read line; exit 4"));
  ASSERT_TRUE(child.ok());
  EXPECT_TRUE(wait_readable(child->pidfd(), soon()));
  EXPECT_EQ(child->poll()->code, 4);
  auto sleeper = ChildProcess::start({.command = {"sleep", "1000"}});
  ASSERT_TRUE(sleeper.ok());
  EXPECT_EQ(sleeper->wait(Deadline::after_seconds(0.01)), std::nullopt);
  sleeper->signal(SIGTERM);
  const auto exit = sleeper->wait(soon());
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 128 + SIGTERM);
  EXPECT_EQ(exit->to_string(), "killed by signal 15 (Terminated)");
}

// Python ignores SIGPIPE, nohup SIGHUP, and threads block signals: the programs that they start expect neither.
TEST(ChildProcess, SignalsAreNeitherBlockedNorIgnored) {
  sigset_t block, before;
  sigemptyset(&block);
  sigaddset(&block, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &block, &before);
  const auto pipe_before = ::signal(SIGPIPE, SIG_IGN);
  const std::string masks = output_of({.command = {"grep", "-E", "SigBlk|SigIgn", "/proc/self/status"}});
  ::signal(SIGPIPE, pipe_before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_THAT(masks, HasSubstr("SigBlk:\t0000000000000000"));
  const size_t at = masks.find("SigIgn:\t");
  ASSERT_NE(at, std::string::npos);
  const auto ignored = std::stoull(masks.substr(at + 8, 16), nullptr, 16);
  EXPECT_EQ(ignored & (1ull << (SIGPIPE - 1)), 0u);
}

TEST(ChildProcess, OnlyTheDescriptorOfTheOptionsIsInherited) {
  Pipe named, other;
  ChildOptions options =
      shell(fmt::format("for fd in {} {}; do test -e /proc/self/fd/$fd && echo $fd; done", named.write.get(), other.write.get()));
  options.inherited = named.write.get();
  EXPECT_EQ(output_of(options), fmt::format("{}\n", named.write.get()));
}

// A pipe command that a worker has started in a group of its own must not survive the worker.
TEST(ChildProcess, ASessionIsKilledWithWhatHasLeftItsGroup) {
  Pipe out;
  ChildOptions options{.command = {"/bin/bash", "-c", "set -m; sleep 1000 & echo $!; wait"},
                       .output = out.write.get(),
                       .group = ChildOptions::Group::session};
  pid_t grandchild = 0;
  {
    auto child = ChildProcess::start(options);
    ASSERT_TRUE(child.ok());
    out.write.close();
    char bytes[32] = {};
    ASSERT_TRUE(wait_readable(out.read.get(), soon()));
    ASSERT_GT(::read(out.read.get(), bytes, sizeof bytes - 1), 0);
    grandchild = static_cast<pid_t>(std::atoi(bytes));
    ASSERT_GT(grandchild, 0);
    EXPECT_NE(::getpgid(grandchild), child->pid());
    EXPECT_EQ(::getsid(grandchild), child->pid());
  }
  // It may be a zombie of the process that inherits orphans here: then it holds no pipe.
  EXPECT_EQ(out.text(), "");
}

TEST(ChildProcess, WhatAChildLeavesBehindMayLiveOn) {
  Pipe out;
  ChildOptions options = shell("(read line; sleep 0.2; echo later) & exit 0");
  options.output = out.write.get();
  {
    auto child = ChildProcess::start(options);
    ASSERT_TRUE(child.ok());
    ASSERT_TRUE(child->wait(soon()).has_value());
    child->leave();
  }
  EXPECT_EQ(out.text(), "later\n");
}

TEST(ChildProcess, AProcessGroupIsKilledByTheDestructor) {
  Pipe out;
  ChildOptions options = shell("sleep 1000 & wait");
  options.output = out.write.get();
  pid_t pid = 0;
  {
    auto child = ChildProcess::start(options);
    ASSERT_TRUE(child.ok());
    pid = child->pid();
    EXPECT_EQ(::getpgid(pid), pid);
    EXPECT_EQ(::getsid(pid), ::getsid(0));
  }
  EXPECT_FALSE(runs(pid));
  EXPECT_EQ(out.text(), "");
}

// A launcher that is killed with SIGKILL cannot stop what it started.
TEST(ChildProcess, TheDeathSignalComesWithTheEndOfTheThread) {
  std::optional<ChildProcess> child;
  Thread("starter", [&child] {
    auto made = ChildProcess::start({.command = {"sleep", "1000"}, .death_signal = SIGUSR1});
    ASSERT_TRUE(made.ok());
    child.emplace(std::move(*made));
  }).join();
  const auto exit = child->wait(soon());
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->signal, SIGUSR1);
}

// Where descriptors run out, nothing is left behind.
TEST(ChildProcess, NoDescriptorIsAnErrorAndLeavesNoChild) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = Fd(::open("/dev/null", O_RDONLY)).get();
  for (rlim_t more = 0; more < 6; ++more) {
    const rlimit few{.rlim_cur = static_cast<rlim_t>(next) + more, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto child = ChildProcess::start({.command = {"true"}});
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_THAT(child.ok() ? "cannot start" : child.status().message(), StartsWith("cannot start"));
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no child at all
}

}  // namespace
}  // namespace argosy
