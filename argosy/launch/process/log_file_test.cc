#include "argosy/launch/process/log_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "argosy/base/file.h"
#include "argosy/base/random.h"
#include "argosy/base/text.h"
#include "argosy/launch/process/enclosing_job.h"
#include "argosy/launch/process/training_program.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LogFileTest : public testing::Test {
 protected:
  LogFileTest() : folder_(fs::temp_directory_path() / fmt::format("argosy-log-file-{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~LogFileTest() override { fs::remove_all(folder_); }

  std::string file(const std::string& text) const {
    std::ofstream(folder_ / "log", std::ios::binary) << text;
    return (folder_ / "log").string();
  }

  fs::path folder_;
};

TEST_F(LogFileTest, BeginMakesTheFolderAndEmptiesTheFile) {
  const std::string path = (folder_ / "a" / "b" / "log").string();
  ASSERT_TRUE(begin_log(path).ok());
  std::ofstream(path) << "of a run before";
  ASSERT_TRUE(begin_log(path).ok());
  EXPECT_EQ(fs::file_size(path), 0u);
  const Status failed = begin_log((folder_ / "a" / "b").string());
  EXPECT_THAT(failed.message(), HasSubstr("cannot write the log '" + (folder_ / "a" / "b").string() + "'"));
  EXPECT_FALSE(begin_log(path + "/log").ok()) << "its folder is a file";
}

// What a user may still want to read after the next start.
TEST_F(LogFileTest, BeginSetsAsideWhatIsThere) {
  const std::string path = file("of a run before");
  ASSERT_TRUE(begin_log(path).ok());
  ASSERT_TRUE(begin_log(path).ok());  // nothing in it
  std::vector<std::string> kept;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "old")) {
    if (entry.is_regular_file()) kept.push_back(*read_file(entry.path()));
  }
  EXPECT_THAT(kept, ElementsAre("of a run before"));
}

TEST_F(LogFileTest, FewOldLogsAreKept) {
  for (int i = 0; i < 9; ++i) fs::create_directories(folder_ / "old" / fmt::format("2020010{}-000000", i));
  set_aside(file("x"));
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_ / "old")) left.push_back(entry.path().filename().string());
  EXPECT_EQ(left.size(), kOldLogs);
  EXPECT_THAT(left, testing::Contains("20200108-000000"));
  EXPECT_THAT(left, testing::Not(testing::Contains("20200104-000000")));
}

// A process that writes goes on at the end of the file, which is its beginning now.
TEST_F(LogFileTest, ALogThatIsTooLongIsRotated) {
  const std::string path = file("12345");
  const Fd writer = std::move(*open_log(path, O_WRONLY | O_APPEND));
  EXPECT_FALSE(rotate_log(path, 5));
  EXPECT_TRUE(rotate_log(path, 4));
  ASSERT_EQ(::write(writer.get(), "678", 3), 3);
  EXPECT_EQ(*read_file(path + ".1"), "12345");
  EXPECT_EQ(*read_file(path), "678");
  EXPECT_FALSE(rotate_log(path + "none", 0));
}

// A log beside where the launcher was started has no folder in its name.
TEST_F(LogFileTest, BeginTakesANameWithoutAFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  const Status begun = begin_log("plain.log");
  fs::current_path(before);
  EXPECT_TRUE(begun.ok()) << begun.message();
  EXPECT_TRUE(fs::exists(folder_ / "plain.log"));
}

// Against all lines of the file, which ends with a line's end or without.
TEST_F(LogFileTest, TailIsTheLastLines) {
  const uint64_t seed = 20261116;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> all;
    for (size_t i = random.below(7); i > 0; --i) all.push_back(std::string(random.below(3), 'x') + "\n");
    if (random.below(2) == 0) all.push_back("without an end");
    for (int lines = 0; lines < 9; ++lines) {
      const size_t first = all.size() > static_cast<size_t>(lines) ? all.size() - static_cast<size_t>(lines) : 0;
      const std::string expected = join(std::vector<std::string>(all.begin() + static_cast<ptrdiff_t>(first), all.end()), "");
      ASSERT_EQ(tail(file(join(all, "")), lines), expected) << lines << " lines of '" << join(all, "") << "'";
    }
  }
  EXPECT_EQ(tail((folder_ / "nowhere").string(), 5), "");
}

TEST_F(LogFileTest, TailReadsNoMoreThan64KiB) {
  const std::string end = "the last line\n";
  EXPECT_EQ(tail(file(std::string(1 << 20, 'x') + "\n" + end), 1), end);
  EXPECT_EQ(tail(file(std::string(1 << 20, 'x')), 3).size(), size_t{64} << 10);
}

TEST_F(LogFileTest, AFollowerShowsEachByteOnceAsItComes) {
  LogFollower follower((folder_ / "log").string());
  const auto shown = [&] {
    testing::internal::CaptureStdout();
    follower.show();
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_EQ(shown(), "") << "there is no file yet";
  file("one\ntw");
  EXPECT_EQ(shown(), "one\ntw");
  EXPECT_EQ(shown(), "");
  std::ofstream(folder_ / "log", std::ios::app) << "o\n" << std::string(3 << 20, 'z');
  EXPECT_EQ(shown(), "o\n" + std::string(3 << 20, 'z')) << "also more than is read at once";
}

TEST(TrainingProgram, IsRunByPythonUnlessItIsAProgram) {
  TrainingProgram program{.command = {"train.py", "--x", "-m"}, .python = "/venv/python"};
  EXPECT_THAT(program.argv(), ElementsAre("/venv/python", "-u", "train.py", "--x", "-m"));
  program.kind = TrainingProgram::Kind::module;
  EXPECT_THAT(program.argv(), ElementsAre("/venv/python", "-u", "-m", "train.py", "--x", "-m"));
  program.kind = TrainingProgram::Kind::executable;
  EXPECT_THAT(program.argv(), ElementsAre("train.py", "--x", "-m"));
}

TEST(TrainingProgram, OnlyAScriptHasToBeThere) {
  TrainingProgram program;
  EXPECT_THAT(program.check().message(), HasSubstr("name the training script"));
  program.command = {"/nowhere/train.py"};
  EXPECT_EQ(program.check().code(), Code::not_found);
  EXPECT_THAT(program.check().message(), HasSubstr("there is no script '/nowhere/train.py'"));
  program.kind = TrainingProgram::Kind::module;
  EXPECT_TRUE(program.check().ok());
  program.kind = TrainingProgram::Kind::executable;
  EXPECT_TRUE(program.check().ok()) << "looked up on PATH";
}

TEST(TrainingProgram, AFlagWinsOverTheEnvironment) {
  TrainingProgram program;
  ::setenv("ARGOSY_MEM_LIMIT", " 8G ", 1);
  EXPECT_EQ(program.setting("ARGOSY_MEM_LIMIT"), "8G");
  program.environment["ARGOSY_MEM_LIMIT"] = "4G";
  EXPECT_EQ(program.setting("ARGOSY_MEM_LIMIT"), "4G");
  ::unsetenv("ARGOSY_MEM_LIMIT");
  EXPECT_EQ(TrainingProgram().setting("ARGOSY_MEM_LIMIT"), "");
}

// The variables that say who somebody is, unset before and after.
class EnclosingVariablesTest : public testing::Test {
 protected:
  EnclosingVariablesTest() { clear(); }
  ~EnclosingVariablesTest() override { clear(); }
  static void clear() {
    for (const char* name :
         {"TRAINING_ROLE", "PADDLE_TRAINING_ROLE", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_PSERVER_IPS", "PADDLE_TRAINER_ID",
          "PADDLE_TRAINERS_NUM", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_CURRENT_ENDPOINT", "POD_IP", "PADDLE_PORT", "RANK",
          "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(EnclosingVariablesTest, IsNoneWhereTheEnvironmentSaysNothing) {
  const auto job = enclosing_job();
  ASSERT_TRUE(job.ok()) << job.status().message();
  EXPECT_EQ(job->kind, EnclosingJob::Kind::none);
  EXPECT_EQ(job->launchers, 1);
}

TEST_F(EnclosingVariablesTest, APodOfOneProcessKnowsItsRole) {
  ::setenv("PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:6170, 10.0.0.2:6170,10.0.0.2:6171", 1);
  const auto process = [] {
    const auto job = enclosing_job();
    EXPECT_TRUE(job.ok() && job->kind == EnclosingJob::Kind::role);
    return job.ok() ? job->process : "";
  };
  ::setenv("TRAINING_ROLE", "PSERVER", 1);
  EXPECT_EQ(process(), "server 0") << "its address is not said";
  ::setenv("POD_IP", "10.0.0.2", 1);
  ::setenv("PADDLE_PORT", "6171", 1);
  EXPECT_EQ(process(), "server 2");
  ::setenv("PADDLE_CURRENT_ENDPOINT", "10.0.0.2:6170", 1);
  EXPECT_EQ(process(), "server 1") << "the endpoint says more than its parts";
  EXPECT_THAT(enclosing_job()->who, HasSubstr("TRAINING_ROLE='PSERVER' and PADDLE_PSERVERS_IP_PORT_LIST='10.0.0.1:6170"));
  ::setenv("TRAINING_ROLE", "TRAINER", 1);
  EXPECT_EQ(process(), "worker 0");
  ::setenv("PADDLE_TRAINER_ID", "3", 1);
  EXPECT_EQ(process(), "worker 3");
}

TEST_F(EnclosingVariablesTest, SeveralLaunchersAreCountedAndTheirStarterIsNamed) {
  ::setenv("RANK", "1", 1);
  ::setenv("WORLD_SIZE", "4", 1);
  ::setenv("LOCAL_RANK", "1", 1);
  ::setenv("LOCAL_WORLD_SIZE", "2", 1);
  ::setenv("MASTER_ADDR", "10.0.0.1", 1);
  ::setenv("MASTER_PORT", "29500", 1);
  const auto job = enclosing_job();
  ASSERT_TRUE(job.ok()) << job.status().message();
  EXPECT_EQ(job->kind, EnclosingJob::Kind::launchers);
  EXPECT_EQ(job->launchers, 4);
  EXPECT_EQ(job->on_this_machine, 2);
  EXPECT_EQ(job->who, "launcher 1 of 4 (RANK and WORLD_SIZE)");
}

TEST_F(EnclosingVariablesTest, APartOfAJobIsAnErrorThatSaysHowToGoOn) {
  ::setenv("RANK", "5", 1);
  ::setenv("WORLD_SIZE", "4", 1);
  const auto job = enclosing_job();
  ASSERT_FALSE(job.ok());
  EXPECT_THAT(job.status().message(), HasSubstr("--standalone"));
  EXPECT_THAT(job.status().message(), HasSubstr("RANK='5'"));
}

}  // namespace
}  // namespace argosy::launch
