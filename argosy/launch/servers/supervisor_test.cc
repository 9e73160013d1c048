#include "argosy/launch/servers/supervisor.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "argosy/base/file.h"
#include "argosy/base/text.h"
#include "argosy/launch/process/stop_signal.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Jobs whose processes are shell scripts that run in a folder of the test's own.
class SupervisorTest : public testing::Test {
 protected:
  SupervisorTest() {
    folder_ = fs::temp_directory_path() /
              fmt::format("argosy-launch-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  ~SupervisorTest() override { fs::remove_all(folder_); }

  ProcessSpec process(const std::string& name, const std::string& script) {
    std::string file = name;
    file.erase(std::remove(file.begin(), file.end(), ' '), file.end());
    return {
        .name = name, .command = {"/bin/sh", "-c", "cd " + folder_.string() + "; " + script}, .log = (folder_ / file).string()};
  }

  // A job of servers and workers that run these scripts; returns its status.
  int run(const std::vector<std::string>& servers, const std::vector<std::string>& workers, SupervisorOptions options = {},
          bool has_other_workers = false) {
    ServerJob job{.has_other_workers = has_other_workers};
    for (size_t i = 0; i < servers.size(); ++i) job.servers.push_back(process(fmt::format("server {}", i), servers[i]));
    for (size_t i = 0; i < workers.size(); ++i) job.workers.push_back(process(fmt::format("worker {}", i), workers[i]));
    return Supervisor(std::move(job), options).run();
  }

  std::string text(const std::string& name) { return *read_file(folder_ / name); }

  // Whether it still runs after a while; one that is dead and that nobody has collected yet does not.
  bool exists(pid_t pid) {
    const auto runs = [pid] {
      std::ifstream stat(fmt::format("/proc/{}/stat", pid));
      std::string number, name, state;
      return (stat >> number >> name >> state) && state != "Z" && state != "X";
    };
    const Deadline deadline = Deadline::after_seconds(30);
    while (runs() && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return runs();
  }

  fs::path folder_;
};

TEST_F(SupervisorTest, ServersAreStoppedWhenTheWorkersAreDone) {
  EXPECT_EQ(run({"trap 'echo asked to end; exit 1' TERM; echo up; sleep 60 & wait"},
                {"while ! grep -qs up server0; do sleep 0.02; done; echo trained"}),
            0);
  EXPECT_EQ(text("server0"), "up\nasked to end\n");
  EXPECT_EQ(text("worker0"), "trained\n");
}

TEST_F(SupervisorTest, ServersAreAwaitedWhereWorkersRunElsewhere) {
  EXPECT_EQ(run({"sleep 0.3; echo all workers said goodbye"}, {"true"}, {}, true), 0);
  EXPECT_EQ(text("server0"), "all workers said goodbye\n");
  EXPECT_EQ(run({"sleep 0.1; echo alone"}, {}), 0);
  EXPECT_EQ(text("server0"), "alone\n");
}

TEST_F(SupervisorTest, TheFirstFailureIsTheJobsStatusAndEndsTheRest) {
  const Stopwatch watch;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"sleep 60"}, {"sleep 60", "echo the reason; exit 7"}), 7);
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown,
              HasSubstr("---- worker 1: exit status 7; the end of " + (folder_ / "worker1").string() + ":\nthe reason\n----"));
  EXPECT_LT(watch.seconds(), 55);
}

// on_worker_loss=shrink: the servers go on without a worker, and so does the launcher, but not without a server or the last
// worker.
TEST_F(SupervisorTest, AJobThatMayShrinkGoesOnWithoutAWorker) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"sleep 60"},
                {"while ! grep -qs reason worker1; do sleep 0.02; done; sleep 0.1; echo trained", "echo the reason; kill -9 $$"},
                {.shrink = true}),
            0);
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("the reason\n----"));
  EXPECT_THAT(shown, HasSubstr("worker 1: killed by signal 9 (Killed); going on without it (on_worker_loss=shrink)"));
  EXPECT_THAT(shown, HasSubstr("the job has ended well, without worker 1"));
  EXPECT_EQ(text("worker0"), "trained\n");
  EXPECT_EQ(run({"sleep 60"}, {"exit 3", "exit 4"}, {.shrink = true}), 3);
  EXPECT_EQ(run({"exit 5"}, {"sleep 60", "sleep 60"}, {.shrink = true}), 5);
}

// replicas=1: either of a server's two processes may be missing, and who decides is told of both.
TEST_F(SupervisorTest, AServerOfTwoProcessesIsThereWhileOneOfThemIs) {
  class Told final : public ReplicaWatch {
   public:
    void ended(int server, bool follower) override { text += fmt::format("ended {} {}; ", server, follower); }
    void gone(int server, bool follower) override { text += fmt::format("gone {} {}; ", server, follower); }
    void finished(int server) override { text += fmt::format("finished {}; ", server); }
    std::string lost() const override { return reason; }
    bool has_led(int) const override { return led; }
    void conclude() override {
      text += "concluded; ";
      if (!concluding.empty()) std::ofstream(concluding).put('x');
    }
    std::string not_told() const override {
      if (!concluding.empty()) return text.find("gone 0 false") == std::string::npos ? "a:1" : "";
      return stragglers.empty() ? "" : stragglers.substr(asked_for++ < 2 ? 0 : stragglers.size());
    }
    std::string text, reason, stragglers;
    fs::path concluding;  // a file that server 0 waits for, and ends
    bool led = true;
    mutable int asked_for = 0;
  };
  const auto run_pair = [this](Told& told, const std::string& server, const std::string& follower, const std::string& worker) {
    ServerJob job{.all_servers = {"a:1"}, .all_followers = {"b:1"}};
    job.servers = {process("server 0", server), process("follower 0", follower)};
    job.workers = {process("worker 0", worker)};
    return Supervisor(job, {.replicas = &told}).run();
  };
  testing::internal::CaptureStderr();
  Told told;
  EXPECT_EQ(run_pair(told, "kill -9 $$", "sleep 60", "sleep 0.5; echo trained"), 0);
  EXPECT_EQ(told.text, "ended 0 false; gone 0 false; concluded; finished 0; finished 0; ")
      << "and nobody takes over while they end";
  EXPECT_EQ(text("worker0"), "trained\n");
  Told both;
  EXPECT_EQ(run_pair(both, "exit 3", "sleep 0.3; exit 4", "sleep 60"), 4);
  EXPECT_EQ(both.text, "ended 0 false; gone 0 false; ended 0 true; gone 0 true; finished 0; finished 0; ");
  Told ending;  // who ends while others are told that the job has ended is not waited for
  ending.concluding = folder_ / "concluding";
  EXPECT_EQ(run_pair(ending, "while ! test -e concluding; do sleep 0.02; done", "sleep 60", "true"), 0);
  EXPECT_THAT(ending.text, HasSubstr("concluded; gone 0 false; "));
  Told refused;  // it never was the primary: why is the job's error, and not that the other one has nothing
  refused.led = false;
  EXPECT_EQ(run_pair(refused, "echo the directory holds a run; exit 3", "sleep 60", "sleep 60"), 3);
  Told late;  // a process of another machine would wait for a role that nobody gives
  late.stragglers = "b:1";
  EXPECT_EQ(run_pair(late, "sleep 60", "sleep 60", "true"), 0);
  EXPECT_GE(late.asked_for, 3);
  Told lost;
  lost.reason = "server 0: what was acknowledged is lost";
  EXPECT_EQ(run_pair(lost, "sleep 60", "sleep 60", "sleep 60"), 1);
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("going on with the other process of its server alone (replicas=1)"));
  EXPECT_THAT(shown, HasSubstr("telling b:1 that the job has ended"));
  EXPECT_THAT(shown, testing::Not(HasSubstr("could not be told")));
  EXPECT_THAT(shown, HasSubstr("what was acknowledged is lost; stopping the job"));
  EXPECT_THAT(shown,
              testing::ContainsRegex("the directory holds a run\n[^\n]*\n[^\n]*server 0: exit status 3; stopping the job"));
}

// Worker 0 saves the model: a job that ends well without it would have saved nothing.
TEST_F(SupervisorTest, AJobThatMayShrinkDoesNotGoOnWithoutWorkerZero) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"sleep 60"}, {"exit 3", "sleep 60", "sleep 60"}, {.shrink = true}), 3);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("worker 0: exit status 3; stopping the job, because worker 0 saves the model (on_worker_loss=shrink)"));
}

// What a process does with base/notice.h: the first letter is the kind.
std::string says(const std::string& notice) {
  return fmt::format("bash -c 'printf \"{}\" >&${{ARGOSY_NOTICE_FD%%:*}}'; ", notice);
}

// A worker that waits for another one at a barrier often ends before the one that failed first does.
TEST_F(SupervisorTest, TheFirstCauseIsShownAndNotItsConsequence) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"sleep 60"}, {"while [ ! -e fallen ]; do sleep 0.02; done; sleep 0.3; echo no such file; exit 3",
                               says("cworker 0") + "echo lost: worker 0; touch fallen; exit 4"}),
            3);
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("---- worker 0: exit status 3"));
  EXPECT_THAT(shown, HasSubstr("no such file\n----"));
  EXPECT_THAT(shown, testing::Not(HasSubstr("---- worker 1")));
}

// A worker that hangs is lost too, and does not end.
TEST_F(SupervisorTest, AConsequenceWhoseCauseDoesNotEndIsShownAfterAMoment) {
  EXPECT_EQ(run({"sleep 60"}, {"sleep 60", says("cworker 0") + "exit 4"}), 4);
  EXPECT_EQ(run({"sleep 60"}, {"sleep 60", says("cworker 7") + "exit 5"}), 5);
}

// os._exit(0), say: the servers know nothing of it before the worker's lease is over.
TEST_F(SupervisorTest, AWorkerThatEndsWellInTheMiddleOfItsJobHasFailed) {
  const std::string ends_early = says("jjob") + "echo half done";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"sleep 60"}, {"sleep 60", ends_early}), 1);
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("---- worker 1: exit status 0 in the middle of its job"));
  EXPECT_THAT(shown, HasSubstr("half done\n----"));
  EXPECT_EQ(run({"sleep 60"}, {says("jjob") + says("ljob")}), 0);
  EXPECT_EQ(
      run({"sleep 60"}, {"if [ -e tried ]; then " + says("jjob") + says("ljob") + "else touch tried; " + ends_early + "; fi"},
          {.max_restarts = 1}),
      0);
}

// SIGTERM of somebody else, say: workers would wait for it for ten minutes. A server that ends because its workers have said
// goodbye is heard of before they are.
TEST_F(SupervisorTest, AServerThatEndsWhileAWorkerIsInItsJobHasFailed) {
  const std::string joins = says("jjob") + "touch joined; ",
                    ends = "while [ ! -e joined ]; do sleep 0.02; done; echo asked to end";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({ends}, {joins + "sleep 15"}), 1);
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("---- server 0: exit status 0 while worker 0 is in its job"));
  EXPECT_THAT(shown, HasSubstr("asked to end\n----"));
  fs::remove(folder_ / "joined");
  EXPECT_EQ(run({ends}, {joins + "while ! grep -qs asked server0; do sleep 0.02; done; sleep 1; " + says("ljob")}), 0);
  fs::remove(folder_ / "joined");
  EXPECT_EQ(run({"[ -e once ] && touch back && sleep 60; touch once; " + ends},
                {joins + "for i in $(seq 1000); do [ -e back ] && break; sleep 0.02; done; [ -e back ] && " + says("ljob")},
                {.max_restarts = 1}),
            0);
  // A worker that hangs, and that the servers go on without: they end when the others have.
  fs::remove(folder_ / "joined");
  EXPECT_EQ(run({ends}, {joins + says("ljob"), "while [ ! -e joined ]; do sleep 0.02; done; " + says("jjob") + "sleep 8; exit 1"},
                {.shrink = true}),
            0);
}

// Seen with Ctrl-C in a worker that had said goodbye: it was started again, and waited for servers that had ended.
TEST_F(SupervisorTest, AWorkerThatFailsAfterTheServersHaveEndedIsNotStartedAgain) {
  const std::string leaves = "echo try >> tries; " + says("jjob") + says("ljob") + "touch left; ";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"while [ ! -e left ]; do sleep 0.02; done"}, {leaves + "sleep 2; exit 7"}, {.max_restarts = 3}), 7);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("exit status 7 after it had left its job, and all servers had ended"));
  EXPECT_EQ(text("tries"), "try\n");
  // They are about to end, because everybody has left.
  fs::remove(folder_ / "left");
  fs::remove(folder_ / "tries");
  EXPECT_EQ(run({"while [ ! -e failed ]; do sleep 0.02; done; sleep 1"}, {leaves + "touch failed; exit 7"}, {.max_restarts = 3}),
            7);
  EXPECT_EQ(text("tries"), "try\n");
  // While a server is there, it comes back.
  EXPECT_EQ(run({"sleep 60"}, {leaves + "[ $(wc -l < tries) -ge 2 ] || exit 7"}, {.max_restarts = 3}), 0);
}

// Worker 1 fails twice and takes worker 0 with it each time, which then still has all of its own restarts.
TEST_F(SupervisorTest, OnlyFailuresOfItsOwnCountAgainstAProcess) {
  const std::string fails =
      "touch tries0; echo try >> tries1; n=$(wc -l < tries1); [ $n = 3 ] && exit 0; "
      "while [ $(wc -l < tries0) -lt $n ]; do sleep 0.02; done; touch fallen$n; exit 7";
  const std::string follows =
      "echo try >> tries0; n=$(wc -l < tries0); [ $n = 5 ] && exit 0; [ $n -ge 3 ] && exit 3; "
      "while [ ! -e fallen$n ]; do sleep 0.02; done; " +
      says("cworker 1") + "exit 4";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"sleep 60"}, {follows, fails}, {.max_restarts = 2}), 0);
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("worker 0: exit status 4; starting it again (worker 1 had failed)"));
  EXPECT_THAT(shown, HasSubstr("worker 0: exit status 3; starting it again (2 of 2)"));
}

// One failure of another excuses it once: it must not be started again for ever.
TEST_F(SupervisorTest, AnExcuseIsGoodForOneRestart) {
  EXPECT_EQ(run({"sleep 60"}, {says("cworker 1") + "echo again; exit 4", "[ -e once ] && exit 0; touch once; exit 7"},
                {.max_restarts = 1}),
            4);
  EXPECT_EQ(text("worker0"), "again\nagain\nagain\n");
}

TEST_F(SupervisorTest, AFullDiskUnderTheLogsIsNamed) {
  EXPECT_TRUE(check_log((folder_ / "worker0").string()).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 0) << "nothing is left of the check";
  const Status absent = check_log((folder_ / "absent" / "worker0").string());
  EXPECT_THAT(absent.message(), testing::AllOf(HasSubstr("absent/worker0': No such file or directory"), HasSubstr("--log_dir")));
  fs::create_symlink("/dev/full", folder_ / fmt::format("worker0.probe-{}", ::getpid()));
  EXPECT_THAT(check_log((folder_ / "worker0").string()).message(), HasSubstr("worker0': No space left on device"));
}

// A worker that is stopped in the middle of a save, by Ctrl-C say, cannot remove what it was writing.
TEST_F(SupervisorTest, WhatAStoppedProcessWasWritingIsRemoved) {
  char host[256] = "";
  ASSERT_EQ(::gethostname(host, sizeof(host) - 1), 0);
  const std::string writes = fmt::format("mkdir .model.saving-{}-$$-0; touch model .model.saving-{}-$$-0/w; ", host, host);
  EXPECT_EQ(run({}, {says("o" + folder_.string()) + writes + "touch ready; sleep 60",
                     "while [ ! -e ready ]; do sleep 0.02; done; exit 3"}),
            3);
  EXPECT_TRUE(fs::exists(folder_ / "model"));
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_THAT(entry.path().string(), testing::Not(HasSubstr(".saving-")));
}

TEST_F(SupervisorTest, NoticesOfProcessesReachTheTerminal) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(
      run({says("edisk full") + "sleep 60"}, {"while ! [ -e server0 ]; do sleep 0.02; done; sleep 0.5; " + says("ipass done")}),
      0);
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_THAT(shown, HasSubstr("error server 0: disk full\n"));
  EXPECT_THAT(shown, HasSubstr("info worker 0: pass done\n"));
}

// Two signals may come before the launcher looks: the second one is never taken for the first.
TEST_F(SupervisorTest, ASecondSignalEndsTheGraceWheneverItComes) {
  testing::FLAGS_gtest_death_test_style = "fast";
  const auto stop_impatiently = [&] {
    stop_from_signal(SIGINT);
    stop_from_signal(SIGINT);
    const Stopwatch watch;
    const int status = run({}, {"trap '' TERM; echo up; sleep 60 & wait; sleep 60"}, {.grace_seconds = 40});
    std::_Exit(status == 128 + SIGINT && watch.seconds() < 20 ? 0 : 1);
  };
  EXPECT_EXIT(stop_impatiently(), testing::ExitedWithCode(0), "");
}

TEST_F(SupervisorTest, ASignalIsAFailureToo) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"kill -9 $$"}, {"sleep 60"}), 128 + SIGKILL);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("---- server 0: killed by signal 9 (Killed)"));
}

TEST_F(SupervisorTest, AProgramThatIsNotThereIsNamed) {
  ServerJob job{.workers = {{.name = "worker 0", .command = {"./no-such-program"}, .log = (folder_ / "worker0").string()}}};
  testing::internal::CaptureStderr();
  EXPECT_EQ(Supervisor(std::move(job), {}).run(), 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("worker 0: cannot start './no-such-program'"));
}

// Of workers and of servers alike: same index, same environment, the log goes on.
TEST_F(SupervisorTest, AFailedProcessIsStartedAgainAsOftenAsAllowed) {
  const std::string script = "echo \"try of $ARGOSY_INDEX\" >> tries; [ $(wc -l < tries) -ge 3 ]";
  ServerJob job{.workers = {process("worker 0", script)}};
  job.workers[0].environment = {{"ARGOSY_INDEX", "0"}};
  testing::internal::CaptureStderr();
  EXPECT_EQ(Supervisor(std::move(job), {.max_restarts = 2}).run(), 0);
  EXPECT_EQ(text("tries"), "try of 0\ntry of 0\ntry of 0\n");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("worker 0: exit status 1; starting it again (2 of 2)"));
  EXPECT_EQ(run({"[ -e restarted ] && sleep 60; touch restarted; kill -9 $$"},
                {"while [ ! -e restarted ]; do sleep 0.02; done; sleep 0.2"}, {.max_restarts = 1}),
            0);
  EXPECT_EQ(run({}, {"echo again; exit 3"}, {.max_restarts = 2}), 3);
  EXPECT_EQ(text("worker0"), "again\nagain\nagain\n");
}

// A pipe command of a dataset runs in a process group of its own; a server may ignore SIGTERM.
TEST_F(SupervisorTest, NothingThatAProcessStartedIsLeftBehind) {
  EXPECT_EQ(run({"trap '' TERM; sh -mc 'sleep 300 & echo $! > other; wait' & sleep 300 & echo $! > same; wait; "
                 "sleep 300"},
                {"while [ ! -s other ] || [ ! -s same ]; do sleep 0.02; done"}, {.grace_seconds = 0.2}),
            0);
  for (const char* name : {"same", "other"}) {
    const auto pid = parse_integer(trim(text(name)));
    ASSERT_TRUE(pid.has_value());
    EXPECT_FALSE(exists(static_cast<pid_t>(*pid))) << name;
  }
}

TEST_F(SupervisorTest, ALogIsThatOfThisRun) {
  EXPECT_EQ(run({}, {"echo first"}), 0);
  EXPECT_EQ(run({}, {"echo second"}), 0);
  EXPECT_EQ(text("worker0"), "second\n");
}

TEST_F(SupervisorTest, OneLogCanBeFollowed) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run({"echo not me; sleep 60"}, {"echo epoch 0; sleep 0.1; echo epoch 1"}, {.follow = "worker 0"}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "epoch 0\nepoch 1\n");
}

TEST_F(SupervisorTest, OnlyTheEndOfALongLogIsShown) {
  std::ofstream(folder_ / "long") << std::string(1 << 20, 'x') << "\nlast but one\nlast\n";
  EXPECT_EQ(tail((folder_ / "long").string(), 2), "last but one\nlast\n");
  EXPECT_EQ(tail((folder_ / "long").string(), 20).size(), size_t{64} << 10);
  EXPECT_EQ(tail((folder_ / "absent").string(), 2), "");
}

}  // namespace
}  // namespace argosy::launch
