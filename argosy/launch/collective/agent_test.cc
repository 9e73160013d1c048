#include "argosy/launch/collective/agent.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "argosy/base/file.h"
#include "argosy/base/resume.h"
#include "argosy/launch/collective/meeting.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A job of one node whose processes are shell scripts in a folder of the test's own.
class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    folder_ = fs::temp_directory_path() /
              fmt::format("argosy-agent-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  ~AgentTest() override { fs::remove_all(folder_); }

  // The job's exit code.
  int run(const std::string& script, int processes, int max_restarts = 0) {
    NodeJob job{.program = {.command = {"/bin/sh", "-c", "cd " + folder_.string() + "; " + script},
                            .kind = TrainingProgram::Kind::executable},
                .devices = {.processes = processes},
                .log_dir = (folder_ / "log").string(),
                .max_restarts = max_restarts};
    AgentOptions options{.grace_seconds = 1, .silence_seconds = silence_seconds_};
    for (int i = 0; i < processes; ++i) options.endpoints.push_back(fmt::format("127.0.0.1:{}", 1 + i));
    Meeting meeting(
        {.max_restarts = max_restarts, .checkpoint = [file = job.checkpoint_file()] { return *noted_checkpoint(file); }});
    const auto link = meeting.first_link();
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = Agent(*link, job, options).run();
    out_ = testing::internal::GetCapturedStdout();
    error_ = testing::internal::GetCapturedStderr();
    return code;
  }
  std::string text(const std::string& name) { return *read_file(folder_ / name); }

  fs::path folder_;
  double silence_seconds_ = 30;
  std::string out_, error_;
};

TEST_F(AgentTest, AJobLeavesItsLogsAndShowsThatOfTheFirstProcess) {
  EXPECT_EQ(run("echo $PADDLE_TRAINER_ID of $WORLD_SIZE", 2), 0);
  EXPECT_EQ(text("log/workerlog.0"), "0 of 2\n");
  EXPECT_EQ(text("log/workerlog.1"), "1 of 2\n");
  EXPECT_EQ(text("log/endpoints.log"), "PADDLE_TRAINER_ENDPOINTS:\n127.0.0.1:1\n127.0.0.1:2\n");
  EXPECT_THAT(out_, HasSubstr("launch train in CPU mode\n    +====="));
  EXPECT_THAT(out_, HasSubstr("+\n\n0 of 2\n"));
  EXPECT_THAT(out_, testing::Not(HasSubstr("1 of 2")));
}

TEST_F(AgentTest, TheFirstFailureIsShownFirstAndEndsAll) {
  const Stopwatch watch;
  EXPECT_EQ(run("[ $RANK = 2 ] || exec sleep 60; echo the reason; exit 7", 3), 7);
  EXPECT_LT(watch.seconds(), 55);
  const size_t reason = error_.find("---- rank 2: exit status 7; the end of"), ended = error_.find("the job has ended");
  EXPECT_NE(reason, std::string::npos) << error_;
  EXPECT_THAT(error_, HasSubstr("workerlog.2:\nthe reason\n----"));
  EXPECT_LT(reason, ended);
}

// The ranks that talked to one that fails lose their connection, and often end before it does.
TEST_F(AgentTest, ARankThatFailedBecauseOfAnotherIsPassedOverForThatOne) {
  const std::string says = "bash -c 'printf \"canother rank\" >&${ARGOSY_NOTICE_FD%%:*}'; ";
  EXPECT_EQ(run("if [ $RANK = 0 ]; then " + says +
                    "echo connection closed; touch gone; exit 4; fi; "
                    "while [ ! -e gone ]; do sleep 0.02; done; sleep 1; echo the reason; exit 7",
                2),
            7);
  EXPECT_THAT(error_, HasSubstr("---- rank 1: exit status 7; the end of"));
  EXPECT_THAT(error_, testing::Not(HasSubstr("---- rank 0")));
  EXPECT_EQ(run("[ $RANK = 0 ] || exec sleep 60; " + says + "echo connection closed; exit 4", 2), 4);  // no other one fails
  EXPECT_THAT(error_, HasSubstr("---- rank 0: exit status 4; the end of"));
}

// The other ranks' text is about a connection; what they lost is a rank that had left.
TEST_F(AgentTest, ARankThatLeftEarlyIsNamedBeforeWhatItLeftBehind) {
  EXPECT_EQ(run("[ $RANK = 1 ] && exit 0; while ! [ -e log/workerlog.1 ]; do sleep 0.02; done; sleep 0.5; "
                "bash -c 'printf \"canother rank\" >&${ARGOSY_NOTICE_FD%%:*}'; echo connection closed; exit 4",
                2),
            4);
  const size_t cause = error_.find("rank 1 left with status 0 while the others went on"),
               report = error_.find("---- rank 0: exit status 4");
  ASSERT_NE(cause, std::string::npos) << error_;
  ASSERT_NE(report, std::string::npos) << error_;
  EXPECT_LT(cause, report);
}

TEST_F(AgentTest, OneThatDoesNotListenToSigtermOrIsStoppedIsKilled) {
  const Stopwatch watch;
  EXPECT_EQ(run("case $RANK in 0) trap '' TERM; touch deaf; while :; do sleep 1; done;; 1) kill -STOP $$;; esac; "
                "while [ ! -e deaf ]; do sleep 0.02; done; kill -9 $$",
                3),
            128 + SIGKILL);
  EXPECT_LT(watch.seconds(), 55);
  EXPECT_THAT(error_, HasSubstr("---- rank 2: killed by signal 9"));
}

// Not the one that failed: all of them, with the checkpoint that rank 0 has noted.
TEST_F(AgentTest, TheWholeGroupStartsAgainFromTheLastCheckpoint) {
  // Rank 1 fails once both of this start have said theirs and the checkpoint of this start is noted.
  EXPECT_EQ(run("count=$TORCHELASTIC_RESTART_COUNT; echo try $count from [$ARGOSY_RESUME]; "
                "if [ $RANK = 0 ]; then printf /data/epoch$count > $ARGOSY_CHECKPOINT_FILE.new; "
                "mv $ARGOSY_CHECKPOINT_FILE.new $ARGOSY_CHECKPOINT_FILE; exit 0; fi; "
                "until grep -qs epoch$count log/last_checkpoint; do sleep 0.02; done; [ $count = 2 ]",
                2, 2),
            0);
  EXPECT_EQ(text("log/workerlog.1"), "try 0 from []\ntry 1 from [/data/epoch0]\ntry 2 from [/data/epoch1]\n");
  EXPECT_EQ(text("log/workerlog.0"), text("log/workerlog.1"));
  EXPECT_THAT(error_, HasSubstr("rank 1: exit status 1 of node 127.0.0.1; the whole group starts again (2 of 2)"));
  EXPECT_EQ(run("exit 3", 2, 1), 3);
  EXPECT_THAT(error_, HasSubstr("(1 of 1)"));
}

TEST_F(AgentTest, AProgramThatIsNotThereIsNamed) {
  NodeJob job{.program = {.command = {"./no-such-program"}, .kind = TrainingProgram::Kind::executable},
              .log_dir = (folder_ / "log").string()};
  Meeting meeting({});
  const auto link = meeting.first_link();
  testing::internal::CaptureStderr();
  EXPECT_EQ(Agent(*link, job, {.endpoints = {"127.0.0.1:1"}}).run(), 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("rank 0: cannot start './no-such-program'"));
}

// Ranks that say that they have the model survive one that fails; the words of base/notice.h, spoken by a shell. Rank 0 ends once
// the meeting place has said that all have finished.
constexpr const char* kRank =
    "say() { bash -c \"printf '%s' '$1' >&${ARGOSY_NOTICE_FD%%:*}\"; }; hear() { bash -c \"dd bs=4096 count=1 2>/dev/null "
    "<&${ARGOSY_NOTICE_FD%%:*}\"; }; echo $$ >> pids.$RANK; ";

TEST_F(AgentTest, ARankThatFailsStartsAgainAloneWhereTheOthersSurviveIt) {
  const std::string script =
      "say kready; if [ $RANK = 1 ] && [ -z \"$ARGOSY_REJOIN\" ]; then until [ -e others ]; do sleep 0.02; done; exit 7; fi; "
      "[ $RANK != 0 ] || touch others; hear > heard.$RANK; [ $RANK != 0 ] || say \"khost 2 h:1\"; hear > met.$RANK; "
      "say \"kfinished 2\"; hear > over.$RANK; echo $ARGOSY_REJOIN > rejoined.$RANK";
  EXPECT_EQ(run(kRank + script, 2, 1), 0) << error_;
  EXPECT_EQ(text("heard.0"), "regroup 2 0");
  EXPECT_EQ(text("heard.1"), "regroup 2 0");
  EXPECT_EQ(text("met.1"), "meet 2 h:1");
  EXPECT_EQ(text("over.0") + text("over.1"), "overover");
  EXPECT_EQ(text("rejoined.0") + text("rejoined.1"), "\n2\n");
  const std::string first = text("pids.0"), second = text("pids.1");
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 1) << "it has survived";
  EXPECT_EQ(std::count(second.begin(), second.end(), '\n'), 2);
  EXPECT_THAT(error_, HasSubstr("---- rank 1: exit status 7"));
}

TEST_F(AgentTest, ARankThatGivesNoSignOfLifeIsKilled) {
  silence_seconds_ = 1;
  EXPECT_EQ(run(std::string(kRank) +
                    "say kready; [ $RANK = 0 ] || exec sleep 60; for i in 1 2 3 4 5 6 7 8; do sleep 0.25; say kbeat; done",
                2),
            128 + SIGKILL)
      << error_;
  EXPECT_THAT(error_, HasSubstr("rank 1 gave no sign of life for 1 s (peer_seconds); it is killed"));
}

}  // namespace
}  // namespace argosy::launch
