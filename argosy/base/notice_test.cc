#include "argosy/base/notice.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace argosy {
namespace {

// Runs `body` as the process behind `receiver`. A process looks for its launcher once, at its start: hence a program of its own,
// this one, which runs what ARGOSY_TEST_SEED names.
int run_process(NoticeReceiver& receiver, const char* body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv(NoticeReceiver::kVariable, receiver.variable_value().c_str(), 1);
    ::setenv("ARGOSY_TEST_SEED", body, 1);
    ::fcntl(receiver.process_end(), F_SETFD, 0);
    ::execl("/proc/self/exe", "base_test", "--gtest_filter=NoticeProcess.Runs", "--gtest_brief=1", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool inherited(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0; }

TEST(NoticeProcess, Runs) {
  const char* body = std::getenv("ARGOSY_TEST_SEED");
  if (body == nullptr) GTEST_SKIP() << "a part of the tests below";
  const std::string what = body;
  if (what == "says") {
    notice("resumed {} rows", 7);
    notice(LogLevel::warning, "disk full:\nno space");
    notice_consequence("worker 0");
  } else if (what == "floods") {
    for (int i = 0; i < 100'000; ++i) notice_line(LogLevel::debug, std::string(5000, 'x'));
  } else if (what == "inherits") {
    EXPECT_FALSE(inherited(std::atoi(std::getenv(NoticeReceiver::kVariable))));
  } else if (what == "silent") {
    // The descriptor is another file by now, as in a program that a process of the job started: nothing may be written to it.
    notice("must not be written");
    struct stat found{};
    ASSERT_EQ(::fstat(std::atoi(std::getenv(NoticeReceiver::kVariable)), &found), 0);
    EXPECT_EQ(found.st_size, 0);
  }
}

TEST(Notice, ReachesTheLauncherLineByLine) {
  auto receiver = NoticeReceiver::open();
  ASSERT_TRUE(receiver.ok());
  EXPECT_EQ(run_process(*receiver, "says"), 0);
  const auto notices = receiver->receive();
  ASSERT_EQ(notices.size(), 3);
  EXPECT_EQ(notices[0].text, "resumed 7 rows");
  EXPECT_EQ(notices[0].level, LogLevel::info);
  EXPECT_EQ(notices[1].text, "disk full: no space");
  EXPECT_EQ(notices[1].level, LogLevel::warning);
  EXPECT_EQ(notices[2].kind, Notice::Kind::consequence);
  EXPECT_EQ(notices[2].text, "worker 0");
}

// A launcher that does not read must not stop a server.
TEST(Notice, NeverBlocksAProcess) {
  auto receiver = NoticeReceiver::open();
  ASSERT_TRUE(receiver.ok());
  ::alarm(60);
  EXPECT_EQ(run_process(*receiver, "floods"), 0);
  ::alarm(0);
  const auto notices = receiver->receive();
  ASSERT_FALSE(notices.empty());
  EXPECT_EQ(notices[0].text.size(), 4000);
}

TEST(Notice, IsNotInheritedByWhatAProcessStarts) {
  auto receiver = NoticeReceiver::open();
  ASSERT_TRUE(receiver.ok());
  EXPECT_EQ(run_process(*receiver, "inherits"), 0);
}

TEST(Notice, LeavesADescriptorOfSomethingElseAlone) {
  auto receiver = NoticeReceiver::open();
  ASSERT_TRUE(receiver.ok());
  char name[] = "/tmp/argosy-notice-XXXXXX";
  const Fd file(::mkstemp(name));
  ASSERT_GE(::dup2(file.get(), receiver->process_end()), 0);
  EXPECT_EQ(run_process(*receiver, "silent"), 0);
  EXPECT_TRUE(receiver->receive().empty());
  ::unlink(name);
}

}  // namespace
}  // namespace argosy
