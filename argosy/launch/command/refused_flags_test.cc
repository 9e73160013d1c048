// Options of PaddlePaddle's launchers that mean nothing here, and the variables that stand for options.
#include "argosy/launch/command/refused_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "argosy/launch/command/command_line.h"
#include "argosy/launch/command/flags.h"

namespace argosy::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What its help says that it may be, besides nothing.
std::string default_of(const Flag& flag) {
  const std::string said = "not supported; may be ";
  EXPECT_TRUE(flag.help.starts_with(said)) << flag.names[0];
  const std::string may = flag.help.substr(said.size());
  return may == "empty or None" ? "" : may;
}

// Scripts write these down with the values that they have anyway.
TEST(RefusedFlags, MaySayNothing) {
  for (const Flag& flag : refused_flags()) {
    CommandLine line;
    for (const std::string& text : {std::string(), std::string("None"), default_of(flag)})
      EXPECT_TRUE(flag.set(line, text).ok()) << flag.names[0] << "=" << text;
  }
}

// What is refused says what was found and what to do instead: a sentence, not a word.
TEST(RefusedFlags, SayWhatToDoInstead) {
  for (const Flag& flag : refused_flags()) {
    CommandLine line;
    for (const char* text : {"7", "True", "none", "some.json"}) {
      const Status status = flag.set(line, text);
      EXPECT_EQ(status.code(), Code::unimplemented) << flag.names[0] << "=" << text;
      EXPECT_THAT(status.message(), HasSubstr(std::string("found '") + text + "': ")) << flag.names[0];
      EXPECT_GT(status.message().size(), 30u) << flag.names[0] << ": " << status.message();
    }
    EXPECT_FALSE(flag.argument.empty()) << flag.names[0] << " takes a value, as it does there";
  }
}

TEST(RefusedFlags, NoNameIsThatOfTwoOptions) {
  std::set<std::string> names;
  for (const Flag& flag : all_flags()) {
    for (const std::string& name : flag.names) EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(flag.help.empty() && flag.names[0] != kMisspelt) << flag.names[0];
  }
  for (const Flag& flag : refused_flags()) EXPECT_TRUE(names.contains(flag.names[0])) << flag.names[0] << " is an option";
}

// The environment of a test, as it was before when the test ends.
class Variables : public testing::Test {
 protected:
  void SetUp() override { set("CUDA_VISIBLE_DEVICES", ""); }
  ~Variables() override {
    for (const auto& [name, value] : before_) value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    const char* old = std::getenv(name.c_str());
    before_.try_emplace(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  static CommandLine line_of(const std::vector<std::string>& words) {
    auto line = parse_command_line(words);
    EXPECT_TRUE(line.ok()) << line.status().message();
    return line.ok() ? std::move(*line) : CommandLine{};
  }
  static std::string error_of(const std::vector<std::string>& words) {
    const auto line = parse_command_line(words);
    return line.ok() ? "" : line.status().message();
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(Variables, OfPaddlesOperatorStandForOptions) {
  set("PADDLE_NNODES", "2");
  set("PADDLE_RANK", "1");
  set("PADDLE_MASTER", "10.0.0.1:7000");
  set("PADDLE_NPROC_PER_NODE", "4");
  set("PADDLE_MAX_RESTART", "6");
  set("POD_IP", "10.0.0.2");
  const CommandLine line = line_of({"train.py"});
  EXPECT_EQ(line.mode, CommandLine::Mode::collective);
  EXPECT_EQ(line.collective.nodes.most, 2);
  EXPECT_EQ(line.collective.nodes.node_rank, 1);
  EXPECT_EQ(line.collective.nodes.meeting, "10.0.0.1:7000");
  EXPECT_EQ(line.collective.nodes.node_ip, "10.0.0.2");
  EXPECT_EQ(line.collective.processes, "4");
  EXPECT_EQ(line.collective.max_restarts, 6);
}

TEST_F(Variables, GiveWayToOptions) {
  set("PADDLE_SERVER_NUM", "4");
  set("PADDLE_TRAINER_NUM", "5");
  const CommandLine line = line_of({"--server_num=1", "train.py"});
  EXPECT_EQ(line.mode, CommandLine::Mode::ps);
  EXPECT_EQ(line.job.server_num, 1);
  EXPECT_EQ(line.job.worker_num, 5) << "what no option says";
}

TEST_F(Variables, AreNamedWhereTheyAreWrong) {
  set("PADDLE_NNODES", "few");
  EXPECT_THAT(error_of({"train.py"}), HasSubstr("environment variable PADDLE_NNODES: found 'few'"));
  set("PADDLE_NNODES", "2");
  set("PADDLE_ELASTIC_SERVER", "etcd:2379");
  EXPECT_THAT(error_of({"train.py"}),
              AllOf(HasSubstr("PADDLE_ELASTIC_SERVER"), HasSubstr("found 'etcd:2379'"), HasSubstr("without etcd")));
  set("PADDLE_ELASTIC_SERVER", "None");
  EXPECT_THAT(error_of({"--nnodes=1", "train.py"}), Not(HasSubstr("PADDLE_ELASTIC_SERVER")));
}

TEST_F(Variables, ThatAreEmptySayNothing) {
  set("PADDLE_NNODES", " ");
  set("PADDLE_SERVER_NUM", "");
  set("PADDLE_TRAINER_NUM", "  3 ");
  const CommandLine line = line_of({"--server_num=2", "train.py"});
  EXPECT_EQ(line.job.server_num, 2);
  EXPECT_EQ(line.job.worker_num, 3) << "spaces around it do not count";
}

// A pod's own address matters where it is one of several machines.
TEST_F(Variables, TheAddressOfAPodIsTakenAmongSeveral) {
  set("POD_IP", "10.0.0.2");
  EXPECT_EQ(line_of({"--ips=10.0.0.1,10.0.0.2", "train.py"}).collective.nodes.node_ip, "10.0.0.2");
  EXPECT_EQ(line_of({"--ips=10.0.0.1,10.0.0.3", "train.py"}).collective.nodes.node_ip, "") << "it is none of these";
  EXPECT_EQ(line_of({"--nproc_per_node=1", "train.py"}).collective.nodes.node_ip, "") << "the only machine";
}

// After --standalone the machine's variables are those of another job.
TEST_F(Variables, AreNotReadByAStandaloneJob) {
  set("PADDLE_NNODES", "2");
  set("PADDLE_MASTER", "10.0.0.1:7000");
  set("PET_NNODES", "3");
  const CommandLine line = line_of({"--standalone", "--nproc_per_node=2", "train.py"});
  EXPECT_NE(line.collective.nodes.most.value_or(1), 2);
  EXPECT_NE(line.collective.nodes.most.value_or(1), 3);
  EXPECT_EQ(line.collective.nodes.meeting, "");
}

}  // namespace
}  // namespace argosy::launch
