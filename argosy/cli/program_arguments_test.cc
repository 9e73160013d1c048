#include "argosy/cli/program_arguments.h"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "argosy/cli/checks.h"

namespace argosy::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// A program with an option, a switch and a command of its own.
class ArgumentsTest : public testing::Test {
 protected:
  ArgumentsTest() {
    add_common_options(app_);
    app_.add_option("--log_dir", folder_, "where logs go")->type_name("FOLDER");
    app_.add_flag("--no_python", plain_, "run the command itself");
    auto* repair = app_.add_subcommand("repair", "Repairs a directory.");
    repair->add_option("directory", directory_, "the directory")->required();
    repair->add_option("--most", most_, "how many")->check(whole_number(1));
    repair->add_option("--port", port_, "where")->check(whole_number(0, 65535));
    repair->add_option("--wait", wait_, "seconds")->check(number_above_zero());
    repair->add_option("--tolerance", wait_, "how much")->check(number_from_zero());
    repair->add_option("--kind", folder_, "which")->check(one_of({"new", "old"}));
    repair->add_option("--seed", seed_, "of random numbers");
    repair->add_option("--name", folder_, "a word")->check(checked_by([](const std::string& text) {
      return text == "taken" ? Status::invalid_argument("'{}' is another's", text) : Status();
    }));
  }
  std::string error_of(const std::vector<std::string>& arguments) {
    const auto parsed = parse(app_, arguments);
    return parsed.ok() ? "" : parsed.status().message();
  }

  CLI::App app_{"Does something.", "program"};
  std::string folder_ = "log", directory_;
  bool plain_ = false;
  int most_ = 1, port_ = 0;
  double wait_ = 1;
  uint64_t seed_ = 0;
};

TEST_F(ArgumentsTest, DashesAndUnderscoresAreAlikeAndAValueMayBeEmpty) {
  ASSERT_EQ(error_of({"--log-dir=", "--no-python"}), "");
  EXPECT_EQ(folder_, "");
  EXPECT_TRUE(plain_);
  ASSERT_EQ(error_of({"--log_dir", "-strange"}), "");
  EXPECT_EQ(folder_, "-strange");
}

TEST_F(ArgumentsTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(error_of({"--log-dri=x"}), "there is no option --log_dri, did you mean --log_dir?; see --help");
  EXPECT_EQ(error_of({"--log_dir"}), "option --log_dir needs a value: FOLDER");
  EXPECT_EQ(error_of({"--no_python=1"}), "option --no_python takes no value");
  EXPECT_EQ(error_of({"repair", "--log_dir", "x"}), "there is no option --log_dir; see --help");
  EXPECT_THAT(error_of({"repair"}), HasSubstr("directory is required"));
}

// What was found and what is expected, also where CLI11 itself finds it.
TEST_F(ArgumentsTest, AValueThatCannotBeIsShownWithWhatIsExpected) {
  const auto of = [this](const std::string& option) { return error_of({"repair", "x", option}); };
  EXPECT_EQ(of("--most=0"), "option --most: found '0', expected a whole number from 1");
  EXPECT_EQ(of("--most=1.5"), "option --most: found '1.5', expected a whole number from 1");
  EXPECT_EQ(of("--most=9999999999"), "option --most: found '9999999999', expected a whole number from 1 to 2147483647");
  EXPECT_EQ(of("--port=70000"), "option --port: found '70000', expected a whole number from 0 to 65535");
  for (const std::string wrong : {"0", "-1", "nan", "inf", "1e10", "", "soon"})
    EXPECT_EQ(of("--wait=" + wrong), "option --wait: found '" + wrong + "', expected a number above 0");
  for (const std::string wrong : {"-0.1", "nan", "-inf"})
    EXPECT_EQ(of("--tolerance=" + wrong), "option --tolerance: found '" + wrong + "', expected a number from 0");
  EXPECT_EQ(of("--tolerance=0"), "");
  EXPECT_EQ(of("--wait=1e-3"), "");
  EXPECT_EQ(of("--kind=newest"), "option --kind: found 'newest', expected new, old");
  EXPECT_EQ(of("--seed=x"), "option --seed: found 'x', expected a whole number from 0");
  EXPECT_EQ(of("--name=taken"), "option --name: 'taken' is another's");
}

TEST_F(ArgumentsTest, ASubcommandHasItsOwnOptions) {
  ASSERT_EQ(error_of({"--log-dir", "logs", "repair", "kept", "--most", "3"}), "");
  EXPECT_EQ(directory_, "kept");
  EXPECT_EQ(most_, 3);
}

TEST_F(ArgumentsTest, ACommandKeepsItsOwnOptions) {
  app_.prefix_command();
  auto parsed = parse(app_, {"--no-python", "./train", "--log-dir=mine", "-h"});
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_THAT(parsed->rest, ElementsAre("./train", "--log-dir=mine", "-h"));
  EXPECT_EQ(folder_, "log");
}

TEST_F(ArgumentsTest, HelpAndVersionAreShownByEveryProgram) {
  const auto help = parse(app_, {"--help"});
  ASSERT_TRUE(help.ok());
  EXPECT_THAT(help->text, HasSubstr("Does something."));
  EXPECT_THAT(help->text, HasSubstr("--version"));
  const auto version = parse(app_, {"--version"});
  ASSERT_TRUE(version.ok());
  EXPECT_THAT(version->text, MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*\n"));
  const auto sub = parse(app_, {"repair", "--help"});
  ASSERT_TRUE(sub.ok());
  EXPECT_THAT(sub->text, HasSubstr("Repairs a directory."));
}

TEST_F(ArgumentsTest, AWrongCommandLineEndsAProgramWith2) {
  const char* wrong[] = {"program", "--nonsense"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse_or_exit(app_, 2, const_cast<char**>(wrong)), kUsageError);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "program: there is no option --nonsense; see --help\n");
  const char* right[] = {"program", "--no_python"};
  EXPECT_EQ(parse_or_exit(app_, 2, const_cast<char**>(right)), std::nullopt);
}

// A misspelt variable would be ignored by the program that the user wants it for.
TEST_F(ArgumentsTest, AVariableThatDoesNotExistEndsAProgramBeforeItsCommandRuns) {
  bool ran = false;
  app_.get_subcommand("repair")->callback([&ran] { ran = true; });
  ::setenv("ARGOSY_LOG_LEVL", "debug", 1);
  const char* words[] = {"program", "repair", "directory"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse_or_exit(app_, 3, const_cast<char**>(words)), kUsageError);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("program: there is no environment variable ARGOSY_LOG_LEVL, did you mean ARGOSY_LOG_LEVEL?"));
  EXPECT_FALSE(ran);
  const char* help[] = {"program", "--help"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse_or_exit(app_, 2, const_cast<char**>(help)), 0) << "who asks for help has it";
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("Does something."));
  EXPECT_EQ(parse_or_exit(app_, 3, const_cast<char**>(words), "repair"), std::nullopt);
  EXPECT_TRUE(ran);
  ::unsetenv("ARGOSY_LOG_LEVL");
}

}  // namespace
}  // namespace argosy::cli
