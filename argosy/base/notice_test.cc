#include "argosy/base/notice.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "argosy/base/child_process.h"
#include "argosy/base/file.h"
#include "argosy/base/spare.h"
#include "argosy/base/wake.h"

namespace argosy {
namespace {

bool inherited(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0; }

int descriptor() { return std::atoi(std::getenv(NoticeReceiver::kVariable)); }

// The status of a process that does what `body` says.
int status_of(const std::string& body) {
  if (body == "says") {
    notice("resumed {} rows", 7);
    notice(LogLevel::warning, "disk full:\nno space");
    notice_consequence("worker 0");
    notice_joined("job");
    notice_left("job");
    notice_writing("/models");
    notice_report("a 1\nb{x=\"\"} 2\n");
    notice_report(std::string(100'000, 'x') + "\n");
    std::string many;
    for (int i = 0; i < 20'000; ++i) many += fmt::format("n{} {}\n", i, i);
    notice_report(many);
  } else if (body == "hears") {
    const Wake never;
    for (int i = 0; i < 2; ++i) notice_rank(hear_launcher(Deadline::after_seconds(60), never.fd()).value_or("nothing"));
    if (hear_launcher(Deadline::after_seconds(0.01), never.fd())) return 1;  // there is no more
    never.wake();
    return has_launcher() && !hear_launcher(Deadline::after_seconds(60), never.fd()) ? 0 : 1;
  } else if (body == "takes") {
    ::setenv("ARGOSY_SPARE", "1", 1);
    const Status status = take_place();
    notice_rank(fmt::format("{} {} {}", status.message(), std::getenv("RANK"), is_spare()));
    std::printf("a line\n");
    std::fflush(stdout);
  } else if (body == "floods") {
    for (int i = 0; i < 100'000; ++i) notice_line(LogLevel::debug, std::string(5000, 'x'));
  } else if (body == "inherits") {
    return inherited(descriptor()) ? 1 : 0;
  } else if (body == "silent") {
    // The descriptor is another file by now, as in a program that a process of the job started: nothing may be written to it.
    notice("must not be written");
    struct stat found{};
    return ::fstat(descriptor(), &found) == 0 && found.st_size == 0 ? 0 : 1;
  }
  return 0;
}

// A process looks for its launcher once, before main(): hence a program of its own, which is this one, started again with a body
// and without tests. It ends where the tests would begin.
constexpr const char* kBody = "ARGOSY_TEST_SEED";
class BodyRunner : public ::testing::EmptyTestEventListener {
  void OnTestProgramStart(const ::testing::UnitTest&) override {
    const char* body = std::getenv(kBody);
    if (body != nullptr && std::getenv(NoticeReceiver::kVariable) != nullptr) ::_exit(status_of(body));
  }
};
[[maybe_unused]] const bool is_listening = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new BodyRunner);  // which owns it
  return true;
}();

// Runs `body` as the process behind `receiver`; its exit status.
int run_process(NoticeReceiver& receiver, const std::string& body) {
  std::vector<std::string> environment = {fmt::format("{}={}", kBody, body),
                                          fmt::format("{}={}", NoticeReceiver::kVariable, receiver.variable_value())};
  auto child = ChildProcess::start({.command = {"/proc/self/exe", "--gtest_filter=-*"},
                                    .environment = std::move(environment),
                                    .inherited = receiver.process_end()});
  EXPECT_TRUE(child.ok()) << child.status().message();
  const auto exit = child->wait(Deadline::after_seconds(60));
  return exit ? exit->code : -1;
}

TEST(Notice, ReachesTheLauncherLineByLine) {
  auto receiver = NoticeReceiver::open();
  ASSERT_TRUE(receiver.ok());
  EXPECT_EQ(run_process(*receiver, "says"), 0);
  const auto notices = receiver->receive();
  ASSERT_EQ(notices.size(), 8);
  EXPECT_EQ(notices[0].text, "resumed 7 rows");
  EXPECT_EQ(notices[0].level, LogLevel::info);
  EXPECT_EQ(notices[1].text, "disk full: no space");
  EXPECT_EQ(notices[1].level, LogLevel::warning);
  EXPECT_EQ(notices[2].kind, Notice::Kind::consequence);
  EXPECT_EQ(notices[2].text, "worker 0");
  EXPECT_EQ(notices[3].kind, Notice::Kind::joined);
  EXPECT_EQ(notices[4].kind, Notice::Kind::left);
  EXPECT_EQ(notices[4].text, "job");
  EXPECT_EQ(notices[5].kind, Notice::Kind::writing);
  EXPECT_EQ(notices[5].text, "/models");
  EXPECT_EQ(notices[6].kind, Notice::Kind::report);
  EXPECT_EQ(notices[6].text, "a 1\nb{x=\"\"} 2\n");
  // A report that is too long has its first lines, whole; one without a line that fits is none.
  EXPECT_TRUE(notices[7].text.starts_with("n0 0\nn1 1\n"));
  EXPECT_TRUE(notices[7].text.ends_with("\n"));
  EXPECT_LE(notices[7].text.size(), 64 << 10);
}

// A launcher that does not read must not stop a server.
TEST(Notice, ALauncherIsHeardInOrder) {
  auto receiver = NoticeReceiver::open();
  ASSERT_TRUE(receiver.ok());
  EXPECT_TRUE(receiver->tell("regroup 2 0"));
  EXPECT_TRUE(receiver->tell("over"));
  EXPECT_EQ(run_process(*receiver, "hears"), 0);
  const auto notices = receiver->receive();
  ASSERT_EQ(notices.size(), 2);
  EXPECT_EQ(notices[0].kind, Notice::Kind::rank);
  EXPECT_EQ(notices[0].text + ", " + notices[1].text, "regroup 2 0, over");
}

// The words before the one that is its own are not.
TEST(Notice, ASpareProcessWritesToTheLogOfItsPlace) {
  const std::string log = fmt::format("{}/argosy-spare-{}", std::filesystem::temp_directory_path().string(), ::getpid());
  auto receiver = NoticeReceiver::open();
  ASSERT_TRUE(receiver.ok());
  EXPECT_TRUE(receiver->tell("regroup 2 0"));
  EXPECT_TRUE(receiver->tell(word_of_place({}, {{"RANK", "2"}}, log)));
  EXPECT_EQ(run_process(*receiver, "takes"), 0);
  const auto notices = receiver->receive();
  ASSERT_EQ(notices.size(), 1);
  EXPECT_EQ(notices[0].text, " 2 false");
  EXPECT_TRUE(read_file(log).value().ends_with("a line\n"));
  std::filesystem::remove(log);
  EXPECT_FALSE(receiver->tell(std::string(5000, 'x'))) << "which would be cut off";
}

// A process that does not listen, as one that stands still, must not stop its launcher.
TEST(Notice, TellingNeverBlocksALauncher) {
  auto receiver = NoticeReceiver::open();
  ASSERT_TRUE(receiver.ok());
  bool heard = true;
  for (int i = 0; i < 100'000 && heard; ++i) heard = receiver->tell("regroup");
  EXPECT_FALSE(heard);
}

TEST(Notice, NeverBlocksAProcess) {
  auto receiver = NoticeReceiver::open();
  ASSERT_TRUE(receiver.ok());
  EXPECT_EQ(run_process(*receiver, "floods"), 0);
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
