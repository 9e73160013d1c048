#include "argosy/base/kill_session.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "argosy/base/child_process.h"
#include "argosy/base/fd.h"

namespace argosy {
namespace {

// A shell that leads a session of its own and runs `script`; what is written to its output can be read until all who have it end.
class Session {
 public:
  explicit Session(const std::string& script) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    output_ = Fd(ends[0]);
    const Fd writing(ends[1]);
    leader_ = ::fork();
    if (leader_ != 0) return;
    ::setsid();
    ::dup2(writing.get(), STDOUT_FILENO);
    ::close(ends[0]), ::close(ends[1]);
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  ~Session() { reap(); }

  pid_t leader() const { return leader_; }
  std::string read_line() {
    std::string line;
    for (char c; ::read(output_.get(), &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  // Whether nobody is left who could write.
  bool has_ended() { return read_line().empty(); }
  void reap() {
    if (leader_ > 0) ::waitpid(leader_, nullptr, 0);
    leader_ = -1;
  }

 private:
  pid_t leader_ = -1;
  Fd output_;
};

TEST(KillSession, EndsTheLeaderAndWhatItStarted) {
  Session session("sleep 1000 & (sleep 1000 & wait) & echo ready; wait");
  ASSERT_EQ(session.read_line(), "ready");
  EXPECT_TRUE(kill_session(session.leader(), Deadline::after_seconds(30)));
  EXPECT_TRUE(session.has_ended());
}

// Ctrl-C and TERM are no help against what ignores them.
TEST(KillSession, EndsWhatIgnoresSignals) {
  Session session(
      "trap '' TERM INT HUP; (trap '' TERM INT HUP; while :; do sleep 1; done) & echo ready; while :; do sleep 1; done");
  ASSERT_EQ(session.read_line(), "ready");
  EXPECT_TRUE(kill_session(session.leader(), Deadline::after_seconds(30)));
  EXPECT_TRUE(session.has_ended());
}

// A process may have been started while the others were being killed.
TEST(KillSession, EndsWhatStartsOthersAllTheTime) {
  Session session("echo ready; while :; do sleep 0.01 & done");
  ASSERT_EQ(session.read_line(), "ready");
  EXPECT_TRUE(kill_session(session.leader(), Deadline::after_seconds(30)));
  EXPECT_TRUE(session.has_ended());
}

TEST(KillSession, LeavesOtherSessionsAlone) {
  Session other("echo ready; read line < /dev/null; sleep 1000"), session("echo ready; sleep 1000");
  ASSERT_EQ(other.read_line(), "ready");
  ASSERT_EQ(session.read_line(), "ready");
  EXPECT_TRUE(kill_session(session.leader(), Deadline::after_seconds(30)));
  EXPECT_EQ(::kill(other.leader(), 0), 0);
  EXPECT_EQ(::waitpid(other.leader(), nullptr, WNOHANG), 0) << "it runs";
  EXPECT_TRUE(kill_session(other.leader(), Deadline::after_seconds(30)));
}

TEST(KillSession, ASessionThatHasEndedIsGone) {
  Session session("exit 0");
  EXPECT_TRUE(session.has_ended());
  EXPECT_TRUE(kill_session(session.leader(), Deadline::after_seconds(30)));
}

}  // namespace
}  // namespace argosy
