#include "argosy/launch/command/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "argosy/launch/command/command_line.h"

namespace argosy::launch {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JobFile : public ::testing::Test {
 protected:
  ~JobFile() override { std::filesystem::remove(path_); }

  Result<CommandLine> read(const std::string& text, std::vector<std::string> words = {}, std::vector<std::string> behind = {}) {
    std::ofstream(path_) << text;
    words.push_back(path_);
    words.insert(words.end(), behind.begin(), behind.end());
    return parse_command_line(words);
  }
  std::string error(const std::string& text) { return read(text).status().message(); }

  const std::string path_ = ::testing::TempDir() + "job_file_" + std::to_string(::getpid()) + ".yaml";
};

TEST_F(JobFile, SaysWhatOptionsSay) {
  const auto line =
      read("program: [train.py, --epochs, 3]\nserver_num: 2\nworker-num: 4\nmax_restart: 3\ndirectory: /data/ctr\nquiet: true\n");
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->mode, CommandLine::Mode::ps);
  EXPECT_EQ(line->job.server_num, 2);
  EXPECT_EQ(line->job.worker_num, 4);
  EXPECT_EQ(line->supervisor.max_restarts, 3);
  EXPECT_TRUE(line->watch.quiet);
  EXPECT_EQ(line->program.environment.at("ARGOSY_DIRECTORY"), "/data/ctr");
  EXPECT_THAT(line->program.command, ElementsAre("train.py", "--epochs", "3"));
}

TEST_F(JobFile, ListsAreTheListsOfOptions) {
  const auto line = read("program: ./train\nno_python: true\nservers: [n0:6170, n1:6170]\nworkers: n0,n1\n");
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_THAT(line->job.servers, ElementsAre("n0:6170", "n1:6170"));
  EXPECT_THAT(line->job.workers, ElementsAre("n0", "n1"));
  EXPECT_EQ(line->program.kind, TrainingProgram::Kind::executable);
}

// One file for all hosts, and a word on the command line for what is different here.
TEST_F(JobFile, TheCommandLineWins) {
  const std::string text = "program: train.py\nserver_num: 2\nworker_num: 4\ndirectory: /data\nresume: false\n";
  const auto line = read(text, {"--worker_num=1", "--directory=/other"}, {"--epochs", "9"});
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->job.worker_num, 1);
  EXPECT_EQ(line->job.server_num, 2);
  EXPECT_EQ(line->program.environment.at("ARGOSY_DIRECTORY"), "/other");
  EXPECT_FALSE(line->program.environment.contains("ARGOSY_ON_OLD_STATE"));
  EXPECT_THAT(line->program.command, ElementsAre("train.py", "--epochs", "9"));
}

TEST_F(JobFile, WrongFilesAreRefusedWithTheirLine) {
  EXPECT_THAT(error("program: train.py\nworker_nun: 4\n"),
              AllOf(HasSubstr(".yaml:2: there is no key 'worker_nun'"), HasSubstr("did you mean 'worker_num'?")));
  EXPECT_THAT(error("program: train.py\nworker_num: many\n"), AllOf(HasSubstr(".yaml:2"), HasSubstr("found 'many'")));
  EXPECT_THAT(error("program: train.py\nworker_num: 2\nworker-num: 3\n"), HasSubstr(":3: 'worker-num' is there twice"));
  EXPECT_THAT(error("program: train.py\nquiet: perhaps\n"), HasSubstr("expected true or false"));
  EXPECT_THAT(error("program: []\n"), HasSubstr("'program' is empty"));
  EXPECT_THAT(error("program: {a: 1}\n"), HasSubstr("'program' is empty"));
  EXPECT_THAT(error("program: [[a]]\n"), HasSubstr("a list in its list"));
  EXPECT_THAT(error("server_num: 2\n"), HasSubstr("does not say what is run"));
  EXPECT_THAT(error("- train.py\n"), HasSubstr("is no map"));
  EXPECT_THAT(error("program: [train.py\n"), HasSubstr(".yaml:"));
  EXPECT_THAT(error("? [a]\n: b\n"), HasSubstr("a key is no word"));
  EXPECT_THAT(error("program: train.py\nkubernetes: 3\n"), HasSubstr("is no map"));
  EXPECT_THAT(error("program: train.py\nserver_num: 1\ngpus: 0\n"), HasSubstr("is for a collective job"));
}

TEST_F(JobFile, ItsSectionsAreKeptForWhoReadsThem) {
  const auto line = read("program: train.py\nserver_num: 1\nkubernetes:\n  image: a:1\n  server: {cpu: 4, memory: 16Gi}\n");
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_THAT(line->kubernetes, ElementsAre(testing::Pair("image", "a:1"), testing::Pair("server.cpu", "4"),
                                            testing::Pair("server.memory", "16Gi")));
}

// What --dump_config shows is a job file of the same job, without its secret.
TEST_F(JobFile, WhatIsDumpedReadsAsTheSame) {
  const auto line = parse_command_line(
      {"--server_num=2", "--worker_num", "3", "--directory=/data dir", "--resume", "--token=secret", "-m", "pkg.train", "a: b"});
  ASSERT_TRUE(line.ok()) << line.status().message();
  const std::string text = *job_file_text(*line);
  EXPECT_THAT(text, testing::Not(HasSubstr("secret")));
  const auto again = read(text);
  ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << text;
  EXPECT_EQ(job_file_text(*again)->find("server_num: 2"), text.find("server_num: 2"));
  EXPECT_EQ(again->job.worker_num, 3);
  EXPECT_EQ(again->program.kind, TrainingProgram::Kind::module);
  EXPECT_EQ(again->program.command, line->program.command);
  EXPECT_EQ(again->program.environment.at("ARGOSY_DIRECTORY"), "/data dir");
  EXPECT_EQ(again->program.environment.at("ARGOSY_ON_OLD_STATE"), "resume");
}

// Other readers of YAML, of 1.1 and of 1.2, take some plain words for numbers, dates, booleans or nothing.
// tests/system/test_fleetrun.py asks one of them.
TEST_F(JobFile, WordsThatYamlTakesForSomethingElseAreDumpedInQuotes) {
  const auto dumped = [](const std::string& word) {
    const std::string text = *job_file_text(*parse_command_line({"--server_num=1", "train.py", word}));
    return text.substr(0, text.find('\n'));
  };
  for (const std::string word : {"007",  "yes",   "Off", "N",    "1e3",      "null", "NULL",    "2026-01-01",
                                 "0x1f", "1_000", ".5",  ".inf", ".NaN",     "-0",   "1.50",    "123456789012345678",
                                 "~",    ".",     "..",  ".5e3", "12:30:45", "",     "0.00001", "+1",
                                 "true", "-1e9"})
    EXPECT_EQ(dumped(word), "program: [train.py, \"" + word + "\"]");
  for (const std::string word : {"0", "3", "-3", "0.5", "1.0", "./train", "../a", "yes.py", "n0", "none", "a-b"})
    EXPECT_EQ(dumped(word), "program: [train.py, " + word + "]");
}

}  // namespace
}  // namespace argosy::launch
