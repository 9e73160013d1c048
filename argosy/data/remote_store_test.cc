#include "argosy/data/remote_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "argosy/base/clock.h"
#include "argosy/base/file.h"
#include "argosy/data/scratch_files_test.h"
#include "argosy/data/working_folder.h"

namespace argosy::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A command that does to files under a folder of this machine what `hadoop fs` does to those of its store, and notes its words.
class RemoteStoreTest : public testing::Test {
 protected:
  RemoteStoreTest() {
    const std::string script =
        "#!/bin/sh\n"
        "echo \"$@\" >> 'CALLS'\n"
        "while [ \"$1\" = -D ]; do shift 2; done\n"
        "order=$1; shift\n"
        "while [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
        "at() { echo \"ROOT/${1#hdfs:}\"; }\n"
        "case $order in\n"
        "-get) cp -r \"$(at \"$1\")\" \"$2\";;\n"
        "-put) cp -r \"$1\" \"$(at \"$2\")\";;\n"
        "-mkdir) mkdir -p \"$(at \"$1\")\";;\n"
        "-rm) rm -rf \"$(at \"$1\")\";;\n"
        "-mv) mv \"$(at \"$1\")\" \"$(at \"$2\")\";;\n"
        "-hang) echo 'still at it' >&2; exec sleep 1000;;\n"
        "*) echo \"no such order: $order\" >&2; exit 2;;\n"
        "esac\n";
    fs::create_directories(files_.path("store"));
    files_.write_program("copy-files", replaced(replaced(script, "CALLS", files_.path("calls")), "ROOT", files_.path("store")));
    ::setenv("ARGOSY_FS_COMMAND", files_.path("copy-files").c_str(), 1);
  }
  ~RemoteStoreTest() override { ::unsetenv("ARGOSY_FS_COMMAND"); }

  static std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
    return text;
  }

  ScratchFiles files_;
  const RemoteStore store_{.fs_name = "hdfs://there", .fs_ugi = "me,secret"};
};

TEST_F(RemoteStoreTest, AFolderComesBackAsItWasPut) {
  const FolderPlace place("hdfs:/models/day 1", store_);
  fs::path copy;
  {
    const auto folder = WorkingFolder::for_writing(place);
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    copy = folder->path();
    fs::create_directories(copy);
    ASSERT_TRUE(write_file_atomically(copy / "w_0", "numbers").ok());
    const Status published = folder->publish();
    ASSERT_TRUE(published.ok()) << published.message();
  }
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_EQ(*read_file(files_.path("store/models/day 1/w_0")), "numbers");
  EXPECT_FALSE(fs::exists(files_.path("store/models/day 1.saving")));

  const auto back = WorkingFolder::for_reading(place);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(*read_file(back->path() / "w_0"), "numbers");
  EXPECT_THAT(*read_file(files_.path("calls")),
              HasSubstr("-D fs.default.name=hdfs://there -D hadoop.job.ugi=me,secret -get hdfs:/models/day 1 "));
}

// Who saves the second time has what was saved the second time, and nothing of the first.
TEST_F(RemoteStoreTest, SavingAgainReplacesTheWholeFolder) {
  for (const char* name : {"old", "new"}) {
    const auto folder = WorkingFolder::for_writing("hdfs:/m/");
    ASSERT_TRUE(folder.ok());
    fs::create_directories(folder->path());
    ASSERT_TRUE(write_file_atomically(folder->path() / name, name).ok());
    ASSERT_TRUE(folder->publish().ok());
  }
  EXPECT_TRUE(fs::exists(files_.path("store/m/new")));
  EXPECT_FALSE(fs::exists(files_.path("store/m/old")));
}

TEST_F(RemoteStoreTest, ALocalFolderIsItself) {
  const FolderPlace place(files_.path("here"));
  EXPECT_FALSE(place.remote());
  for (const auto& folder : {WorkingFolder::for_reading(place), WorkingFolder::for_writing(place)}) {
    ASSERT_TRUE(folder.ok());
    EXPECT_EQ(folder->path(), place.path);
    EXPECT_TRUE(folder->publish().ok());
  }
  EXPECT_FALSE(fs::exists(files_.path("calls")));
}

// Stores that are reached by name take paths without hdfs: in front.
// A folder that happens to be named like a scheme is no store: what cannot be written there as a file is told, and left
// unwritten.
TEST_F(RemoteStoreTest, AFileIsNotWrittenIntoAFolderThatIsNamedLikeAStore) {
  const fs::path before = fs::current_path();
  fs::current_path(files_.path("store"));
  for (const char* folder : {"s4:/bucket", "hdfs:/models", "s3:"}) fs::create_directories(folder);
  EXPECT_THAT(write_place("s4://bucket/file", "x").message(), HasSubstr("there is no store for 's4://bucket/file'"));
  EXPECT_THAT(write_place("hdfs:/models/file", "x").message(), HasSubstr("takes folders and no single files"));
  EXPECT_THAT(check_file_place("s3:///file").message(), HasSubstr("names no bucket"));
  for (const char* good : {"s3://bucket/file", "file:///tmp/file", "s3:/file", "file"})
    EXPECT_EQ(check_file_place(good).message(), "") << good;
  EXPECT_TRUE(fs::is_empty("s4:/bucket") && fs::is_empty("hdfs:/models"));
  fs::current_path(before);
}

TEST_F(RemoteStoreTest, AStoreThatIsNamedMakesAnyPathRemote) {
  EXPECT_TRUE(FolderPlace("/models/m", store_).remote());
  EXPECT_TRUE(FolderPlace("afs:/models/m").remote());
  EXPECT_FALSE(FolderPlace("hdfs").remote());
}

TEST_F(RemoteStoreTest, AFailureHasTheCommandsWordsAndNoPassword) {
  const auto missing = WorkingFolder::for_reading({"hdfs:/not/there", store_});
  EXPECT_EQ(missing.status().code(), Code::aborted);
  EXPECT_THAT(missing.status().message(),
              AllOf(HasSubstr("copy-files -get hdfs:/not/there"), HasSubstr("No such file"), Not(HasSubstr("secret"))));
}

TEST_F(RemoteStoreTest, ACommandThatHangsIsKilledAtItsDeadline) {
  // On a busy machine a command may be killed before it says anything; one that has more time says it.
  for (double seconds = 0.5; seconds < 30; seconds *= 4) {
    Stopwatch watch;
    const Status status = run_store_command({.seconds = seconds}, {"-hang"});
    EXPECT_EQ(status.code(), Code::deadline_exceeded);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("copy-files -hang"), HasSubstr(fmt::format("{} s", seconds))));
    EXPECT_LT(watch.seconds(), 100);
    if (status.message().find("still at it") != std::string::npos) return;
  }
  ADD_FAILURE() << "its stderr never came";
}

TEST_F(RemoteStoreTest, AProgramThatIsNotThereIsNamed) {
  ::setenv("ARGOSY_FS_COMMAND", "no-such-hadoop fs", 1);
  EXPECT_THAT(run_store_command({}, {"-get", "a", "b"}).message(), HasSubstr("no-such-hadoop fs -get a b"));
}

}  // namespace
}  // namespace argosy::data
