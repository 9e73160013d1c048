#include "argosy/data/pipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "argosy/base/clock.h"
#include "argosy/base/thread.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PipeTest : public testing::Test {
 protected:
  Result<std::string> read_all(const PipeOptions& options) {
    ASSIGN_OR_RETURN(auto stream, open_pipe(options, errors_, stop_));
    std::string text;
    std::vector<char> room(10'000);
    for (;;) {
      ASSIGN_OR_RETURN(const size_t got, stream->read(room));
      if (got == 0) return text;
      text.append(room.data(), got);
    }
  }

  ScratchFiles files_;
  StopSignal stop_;
  std::shared_ptr<StderrTail> errors_ = std::make_shared<StderrTail>();
  const std::string text_ = [] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += fmt::format("line {}\n", i);
    return text;
  }();
};

TEST_F(PipeTest, CatAndNothingAreTheFileItself) {
  const std::string path = files_.write("a", text_);
  for (const char* command : {"cat", "", "  cat "}) EXPECT_EQ(*read_all({.path = path, .command = command}), text_);
}

TEST_F(PipeTest, ACommandReadsTheFileAsItsStdin) {
  const std::string path = files_.write("a", text_);
  EXPECT_EQ(*read_all({.path = path, .command = "sed s/line/row/ | head -n 2"}), "row 0\nrow 1\n");
}

TEST_F(PipeTest, ArchivesAreUnpackedWithAndWithoutACommand) {
  const std::string gz = files_.write("a.gz", gzip(text_)), zst = files_.write("a.zst", zstd(text_));
  for (const std::string& path : {gz, zst}) {
    EXPECT_EQ(*read_all({.path = path, .command = "cat"}), text_);
    EXPECT_EQ(*read_all({.path = path, .command = "tr a-z a-z"}), text_);
  }
}

TEST_F(PipeTest, ArchivesInPiecesAreOneText) {
  const std::string gz = files_.write("a.gz", gzip("one\n") + gzip("two\n")),
                    zst = files_.write("a.zst", zstd("one\n") + zstd("two\n"));
  EXPECT_EQ(*read_all({.path = gz}), "one\ntwo\n");
  EXPECT_EQ(*read_all({.path = zst}), "one\ntwo\n");
}

TEST_F(PipeTest, ACutOffArchiveIsAnError) {
  for (const auto& [name, packed] : {std::pair{"a.gz", gzip(text_)}, {"a.zst", zstd(text_)}}) {
    for (size_t keep : {size_t{0}, size_t{5}, packed.size() / 2, packed.size() - 1}) {
      const std::string path = files_.write(name, packed.substr(0, keep));
      for (const char* command : {"cat", "tr a-z a-z"}) {
        const auto result = read_all({.path = path, .command = command});
        EXPECT_EQ(result.status().code(), Code::data_loss) << name << " " << keep;
        EXPECT_THAT(result.status().message(), AllOf(HasSubstr(path), HasSubstr("cut off")));
      }
    }
  }
}

TEST_F(PipeTest, ADamagedArchiveIsAnError) {
  std::string packed = gzip(text_);
  packed[packed.size() / 2] ^= 0x55;
  EXPECT_EQ(read_all({.path = files_.write("a.gz", packed)}).status().code(), Code::data_loss);
  EXPECT_THAT(read_all({.path = files_.write("b.gz", "no archive at all")}).status().message(), HasSubstr("b.gz' is damaged"));
  EXPECT_THAT(read_all({.path = files_.write("b.zst", "no archive at all")}).status().message(), HasSubstr("b.zst' is damaged"));
}

TEST_F(PipeTest, AMissingFileAndAFolderAreNamed) {
  EXPECT_EQ(read_all({.path = files_.path("absent")}).status().code(), Code::not_found);
  EXPECT_THAT(read_all({.path = files_.path("absent"), .command = "wc"}).status().message(), HasSubstr("absent"));
  EXPECT_THAT(read_all({.path = files_.path("")}).status().message(), HasSubstr("is a folder"));
}

// Paddle's reader trains on what came before the command died; here the end is an error even where data came first.
TEST_F(PipeTest, AFailingCommandIsAnErrorWithItsStderr) {
  const std::string path = files_.write("a", "x\n");
  const auto result = read_all({.path = path, .command = "cat; echo went wrong >&2; exit 3"});
  EXPECT_EQ(result.status().code(), Code::aborted);
  EXPECT_THAT(result.status().message(),
              AllOf(HasSubstr(path), HasSubstr("exited with status 3"), HasSubstr("went wrong"), HasSubstr("exit 3'")));
  EXPECT_THAT(read_all({.path = path, .command = "no-such-program-here"}).status().message(),
              HasSubstr("exited with status 127"));
  EXPECT_THAT(read_all({.path = path, .command = "kill -9 $$"}).status().message(), HasSubstr("killed by signal 9"));
}

TEST_F(PipeTest, OnlyTheEndOfALongStderrIsKept) {
  const auto result =
      read_all({.path = files_.write("a", ""), .command = "for i in $(seq 3000); do echo word $i; done >&2 2>&2; exit 1"});
  EXPECT_THAT(result.status().message(), AllOf(HasSubstr("word 3000"), testing::Not(HasSubstr("word 1\n"))));
  EXPECT_LT(result.status().message().size(), 6000u);
}

// The command stops reading long before the archive ends: no SIGPIPE for us, no error.
TEST_F(PipeTest, ACommandMayLeaveItsInputUnread) {
  const std::string path = files_.write("a.gz", gzip(text_ + text_ + text_));
  EXPECT_EQ(*read_all({.path = path, .command = "head -n 1"}), "line 0\n");
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST_F(PipeTest, StopEndsAWaitAndKillsTheWholeCommand) {
  const std::string path = files_.write("a", "x\n"), pid_file = files_.path("pid");
  Thread stopper("stopper", [&] {
    for (const Deadline deadline = Deadline::after_seconds(60); !std::filesystem::exists(pid_file) && !deadline.passed();)
      std::this_thread::yield();
    stop_.stop();
  });
  const auto result =
      read_all({.path = path, .command = fmt::format("sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait", pid_file)});
  EXPECT_EQ(result.status().code(), Code::cancelled);
  pid_t grandchild = 0;
  std::ifstream(pid_file) >> grandchild;
  ASSERT_GT(grandchild, 1);
  // Gone, or a zombie that init has not collected yet.
  const auto alive = [&] {
    std::ifstream stat(fmt::format("/proc/{}/stat", grandchild));
    std::string number, name, state;
    return (stat >> number >> name >> state) && state != "Z";
  };
  for (const Deadline deadline = Deadline::after_seconds(60); alive() && !deadline.passed();) std::this_thread::yield();
  EXPECT_FALSE(alive());
}

TEST_F(PipeTest, StopEndsTheWaitForANamedPipeWithoutAWriter) {
  const std::string path = files_.path("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  stop_.stop();
  EXPECT_EQ(read_all({.path = path}).status().code(), Code::cancelled);
}

// A stand-in for the hadoop program that prints its arguments and the file behind hdfs:.
class HadoopTest : public PipeTest {
 protected:
  HadoopTest() {
    files_.write_program("hadoop", fmt::format("#!/bin/sh\necho \"$@\" >> '{}'\nfor last; do :; done\ncat \"${{last#hdfs:}}\"\n",
                                               files_.path("calls")));
    ::setenv("PATH", (files_.path("") + ":" + path_).c_str(), 1);
  }
  ~HadoopTest() override { ::setenv("PATH", path_.c_str(), 1); }

  const std::string path_ = ::getenv("PATH");
};

TEST_F(HadoopTest, ReadsRemoteFilesWithTheConfiguredNameAndUser) {
  const std::string path = "hdfs:" + files_.write("a", text_);
  EXPECT_EQ(*read_all({.path = path, .command = "cat", .store = {.fs_name = "hdfs://there", .fs_ugi = "me,secret"}}), text_);
  std::ifstream calls(files_.path("calls"));
  std::string call;
  std::getline(calls, call);
  EXPECT_EQ(call, "fs -D fs.default.name=hdfs://there -D hadoop.job.ugi=me,secret -cat " + path);
}

TEST_F(HadoopTest, UnpacksAndPipesWhatItReads) {
  const std::string path = "hdfs:" + files_.write("a.gz", gzip(text_));
  EXPECT_EQ(*read_all({.path = path, .command = "head -n 1"}), "line 0\n");
  EXPECT_EQ(*read_all({.path = path, .command = "tr a-z a-z"}), text_);
}

TEST_F(HadoopTest, ItsFailureIsNotHiddenByTheCommand) {
  for (const char* command : {"cat", "wc -l"}) {
    const auto result = read_all({.path = "hdfs:/not/there", .command = command, .store = {.fs_ugi = "me,secret"}});
    EXPECT_EQ(result.status().code(), Code::aborted);
    EXPECT_THAT(result.status().message(),
                AllOf(HasSubstr("hadoop fs -cat hdfs:/not/there"), HasSubstr("No such file"), testing::Not(HasSubstr("secret"))));
  }
}

}  // namespace
}  // namespace argosy::data
