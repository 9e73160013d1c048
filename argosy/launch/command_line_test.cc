#include "argosy/launch/command_line.h"

#include <gmock/gmock.h>

#include "argosy/base/settings.h"

namespace argosy::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::vector<std::string>& arguments) {
  const auto line = parse_command_line(arguments);
  return line.ok() ? "" : line.status().message();
}

TEST(CommandLine, WhatIsWrongIsNamed) {
  EXPECT_EQ(error_of({"--worker_nun=2", "x"}), "there is no option --worker_nun, did you mean --worker_num?; see --help");
  EXPECT_EQ(error_of({"--worker_num", "two", "x"}), "option --worker_num: found 'two', expected a whole number from 1");
  EXPECT_EQ(error_of({"--worker_num"}), "option --worker_num needs a value: N");
  EXPECT_EQ(error_of({"--no-python=1", "x"}), "option --no_python takes no value");
  EXPECT_EQ(error_of({"--run_mode=mpi", "x"}), "option --run_mode: found 'mpi'; only 'ps' (parameter server) is there yet");
  EXPECT_EQ(error_of({"--servers=", "x"}), "option --servers: found nothing, expected host:port,host:port");
  EXPECT_THAT(error_of({"train.py"}), HasSubstr("say what to start: --server_num and --worker_num"));
}

TEST(CommandLine, TheScriptKeepsItsOwnOptions) {
  const auto line = parse_command_line({"--server-num=1", "train.py", "--worker_num", "9"});
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(line->job.command, ElementsAre("train.py", "--worker_num", "9"));
  EXPECT_EQ(line->job.server_num, 1);
  EXPECT_EQ(line->job.worker_num, std::nullopt);
}

TEST(CommandLine, TheNamesOfBothLaunchersAreTaken) {
  const auto line = parse_command_line({"--run_mode", "ps", "--trainer_num", "3", "--endpoints=a:1, b:2", "--started_port=7000",
                                        "--max-restarts=4", "--log-dir", "elsewhere", "--follow=1", "x"});
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->job.worker_num, 3);
  EXPECT_THAT(line->job.servers, ElementsAre("a:1", "b:2"));
  EXPECT_EQ(line->job.start_port, 7000);
  EXPECT_EQ(line->job.log_dir, "elsewhere");
  EXPECT_EQ(line->supervisor.max_restarts, 4);
  EXPECT_EQ(line->supervisor.follow, "worker 1");
}

// One table makes the strategy's fields, the variables and these flags.
TEST(CommandLine, EverySettingIsAFlagThatBecomesItsVariable) {
  const std::string help = launch_help();
  for (const Setting& setting : all_settings()) {
    const std::string value = setting.choices.empty() ? "7" : setting.choices.back();
    const auto line = parse_command_line({"--run_mode=ps", "--" + setting.name, value, "x"});
    ASSERT_TRUE(line.ok()) << setting.name << ": " << line.status().message();
    EXPECT_EQ(line->job.environment, (std::map<std::string, std::string>{{setting.variable(), value}}));
    EXPECT_THAT(help, HasSubstr("--" + setting.name + " " + setting.argument()));
  }
  EXPECT_EQ(error_of({"--mem-limit=lots", "x"}),
            "option --mem_limit: found 'lots', expected a number of bytes, such as 512M or 8G");
}

}  // namespace
}  // namespace argosy::launch
