#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "argosy/base/file.h"
#include "argosy/base/text.h"
#include "argosy/launch/command_line.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() {
    folder_ = fs::temp_directory_path() /
              fmt::format("argosy-launch-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  ~LaunchTest() override { fs::remove_all(folder_); }

  // Runs `script` (sh) as every process of a job; returns the job's status.
  int run(const std::string& script, std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--log_dir", folder_.string(), "--no-python", "/bin/sh", "-c", script});
    auto line = parse_command_line(flags);
    EXPECT_TRUE(line.ok()) << line.status().message();
    line->supervisor.grace_seconds = 2;
    auto job = make_job(line->job);
    EXPECT_TRUE(job.ok()) << job.status().message();
    return Supervisor(std::move(job->servers), std::move(job->workers), line->supervisor).run();
  }

  std::string log(const std::string& name) { return *read_file(folder_ / name); }

  fs::path folder_;
};

TEST_F(LaunchTest, EveryProcessKnowsItsRole) {
  ASSERT_EQ(run("echo $TRAINING_ROLE $PADDLE_TRAINER_ID$PADDLE_PSERVER_ID $PADDLE_TRAINERS_NUM $POD_IP:$PADDLE_PORT "
                "$PADDLE_PSERVERS_IP_PORT_LIST; "
                "[ $TRAINING_ROLE = TRAINER ] || sleep 60",
                {"--server_num=2", "--worker-num", "2", "--start_port=6200"}),
            0);
  EXPECT_EQ(log("serverlog.1"), "PSERVER 1 2 127.0.0.1:6201 127.0.0.1:6200,127.0.0.1:6201\n");
  EXPECT_EQ(log("workerlog.0"), "TRAINER 0 2 127.0.0.1:6202 127.0.0.1:6200,127.0.0.1:6201\n");
}

TEST_F(LaunchTest, TheFirstFailureIsTheJobsStatusAndEndsTheRest) {
  const Stopwatch watch;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run("[ \"$PADDLE_TRAINER_ID\" = 1 ] && { echo the reason; exit 7; }; sleep 60"), 7);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("---- worker 1: exit status 7; the end of " +
                                                        (folder_ / "workerlog.1").string() + ":\nthe reason\n----"),
            std::string::npos);
  EXPECT_LT(watch.seconds(), 20);
}

TEST_F(LaunchTest, AFailedProcessIsStartedAgainAsOftenAsAllowed) {
  const std::string script = "[ $TRAINING_ROLE = TRAINER ] || sleep 60; echo x >> " + (folder_ / "tries").string() +
                             "; [ $(wc -l < " + (folder_ / "tries").string() + ") -ge 3 ]";
  EXPECT_EQ(run(script, {"--worker_num=1", "--max_restart=2"}), 0);
  EXPECT_EQ(log("tries"), "x\nx\nx\n");
}

TEST_F(LaunchTest, NoGrandchildIsLeftBehind) {
  const fs::path pid_file = folder_ / "pid";
  EXPECT_EQ(run("[ $TRAINING_ROLE = TRAINER ] && { while [ ! -s " + pid_file.string() +
                    " ]; do sleep 0.05; done; exit 0; }; sleep 300 & echo $! > " + pid_file.string() +
                    "; trap '' TERM; wait; sleep 300",
                {"--server_num=1", "--worker_num=1"}),
            0);
  const auto pid = parse_integer(trim(log("pid")));
  ASSERT_TRUE(pid.has_value());
  const Deadline deadline = Deadline::after_seconds(10);
  while (::kill(static_cast<pid_t>(*pid), 0) == 0 && !deadline.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NE(::kill(static_cast<pid_t>(*pid), 0), 0) << "the server's own child still runs";
}

TEST(CommandLine, AnUnknownOptionOffersTheNearest) {
  const auto line = parse_command_line({"--worker_nun=2", "train.py"});
  EXPECT_EQ(line.status().message(), "there is no option --worker_nun, did you mean --worker_num?; see --help");
  EXPECT_EQ(parse_command_line({"--worker_num", "two", "x"}).status().message(),
            "option --worker_num: found 'two', expected a whole number from 1");
  EXPECT_EQ(parse_command_line({"--worker_num"}).status().message(), "option --worker_num needs a value: N");
  EXPECT_EQ(parse_command_line({"--run_mode=mpi", "x"}).status().code(), Code::unimplemented);
}

TEST(CommandLine, TheScriptKeepsItsOwnOptions) {
  const auto line = parse_command_line({"--server-num=1", "train.py", "--worker_num", "9"});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->job.command, (std::vector<std::string>{"train.py", "--worker_num", "9"}));
  EXPECT_EQ(line->job.worker_num, 2);
}

TEST(Ports, OneInUseIsFoundBeforeAnythingStarts) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(fd, 1), 0);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  const Status status = check_ports_free({fmt::format("127.0.0.1:{}", ntohs(address.sin_port))});
  EXPECT_EQ(status.code(), Code::already_exists);
  EXPECT_NE(status.message().find(std::to_string(ntohs(address.sin_port))), std::string::npos);
  ::close(fd);
  EXPECT_TRUE(check_ports_free({fmt::format("127.0.0.1:{}", ntohs(address.sin_port))}).ok());
}

}  // namespace
}  // namespace argosy::launch
