#include "argosy/base/temporary.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "argosy/base/file.h"
#include "argosy/base/folder_lock.h"

namespace argosy {
namespace {

namespace fs = std::filesystem;

class TemporaryTest : public testing::Test {
 protected:
  TemporaryTest() {
    std::string pattern = (fs::temp_directory_path() / "argosy-temporary-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryTest() override { fs::remove_all(folder_); }

  size_t entries() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  // Another process that does `work`, says so, and stays until it is killed.
  pid_t process(const std::function<void()>& work) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ready[0]);
      work();
      (void)!::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    return child;
  }
  void kill(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  fs::path folder_;
};

// A process that is killed in the middle of a save leaves a folder; the next save beside it, of whatever name, removes that. What
// a live process writes stays.
TEST_F(TemporaryTest, TheNextWriterRemovesWhatAKilledOneLeft) {
  const pid_t killed = process([&] {
    auto* writer = new FolderWriter(std::move(*FolderWriter::open(folder_ / "model", true)));
    (void)writer->write("w", "half");
    (void)new Temporary(std::move(*Temporary::file(folder_ / "state")));
  });
  EXPECT_EQ(entries(), 2u);
  {
    const auto other = FolderWriter::open(folder_ / "other", true);
    ASSERT_TRUE(other.ok()) << other.status().message();
    EXPECT_EQ(entries(), 3u) << "the process still lives";
  }
  kill(killed);
  EXPECT_EQ(entries(), 2u);
  auto writer = FolderWriter::open(folder_ / "other", true);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  EXPECT_EQ(entries(), 1u) << "its own";
  ASSERT_TRUE(writer->write("w", "whole").ok());
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(*read_file(folder_ / "other" / "w"), "whole");
}

TEST_F(TemporaryTest, OneProcessHasSeveralAtATime) {
  auto first = FolderWriter::open(folder_ / "a", true);
  auto second = FolderWriter::open(folder_ / "a", true);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(write_file_atomically(folder_ / "file", "x").ok());
  ASSERT_TRUE(first->write("w", "1").ok());
  ASSERT_TRUE(second->write("w", "2").ok());
  ASSERT_TRUE(first->commit().ok());
  ASSERT_TRUE(second->commit().ok());
  EXPECT_EQ(*read_file(folder_ / "a" / "w"), "2");
  EXPECT_EQ(entries(), 2u);
}

// Each of two processes saves files of its own, and one that both have, into one folder: every save counts, and nobody takes what
// the other is putting into place for what a killed process has left.
TEST_F(TemporaryTest, LiveProcessesSaveIntoOneFolderAtATime) {
  constexpr int kSaves = 100;
  const auto save = [&](const std::string& own, const std::string& value) -> Status {
    ASSIGN_OR_RETURN(FolderWriter writer, FolderWriter::open(folder_ / "model", true));
    RETURN_IF_ERROR(writer.write(own, value));
    RETURN_IF_ERROR(writer.write("of-both", own));
    RETURN_IF_ERROR(writer.commit());
    ASSIGN_OR_RETURN(const std::string found, read_file(folder_ / "model" / own));
    return found == value ? Status() : Status::internal("{} is {} after {} was saved", own, found, value);
  };
  std::vector<pid_t> children;
  for (const std::string own : {"a", "b"}) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    (void)!::freopen((folder_ / ("log-" + own)).c_str(), "w", stderr);
    Status status;
    for (int i = 0; i < kSaves && status.ok(); ++i) status = save(own, std::to_string(i));
    std::cerr << status.message() << std::flush;
    ::_exit(0);
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  for (const std::string own : {"a", "b"}) {
    EXPECT_EQ(*read_file(folder_ / ("log-" + own)), "");
    EXPECT_EQ(*read_file(folder_ / "model" / own), std::to_string(kSaves - 1));
  }
  EXPECT_EQ(entries(), 3u) << "the model and two logs";
}

// Its maker has it locked. A model that goes to a store is saved into such a folder first: each save waited for itself.
TEST_F(TemporaryTest, ItsMakerSavesIntoItWithoutWaitingForItself) {
  const auto made = Temporary::folder(folder_ / "copy");
  ASSERT_TRUE(made.ok()) << made.status().message();
  auto writer = FolderWriter::open(made->path() / "model", true);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  ASSERT_TRUE(writer->write("w", "1").ok());
  ASSERT_TRUE(writer->commit().ok());
  ASSERT_TRUE(write_file_atomically(made->path() / "file", "x").ok());
  EXPECT_EQ(*read_file(made->path() / "model" / "w"), "1");
}

TEST_F(TemporaryTest, AFolderThatWasPutIntoItsPlaceIsFree) {
  auto writer = FolderWriter::open(folder_ / "model", true);
  ASSERT_TRUE(writer.ok() && writer->commit().ok());
  EXPECT_TRUE(lock_folder(folder_ / "model", Deadline::after_seconds(0)).ok()) << "while what has written it still lives";
}

// Names that are not quite those of a temporary, and those of other machines, are somebody's.
TEST_F(TemporaryTest, NothingElseIsRemoved) {
  char host[256] = "";
  ASSERT_EQ(::gethostname(host, sizeof(host) - 1), 0);
  const std::string marked = fmt::format(".saving-{}-", host);
  const std::vector<std::string> kept = {
      ".model.saving-elsewhere-12-0", "model" + marked + "12-0", ".model" + marked + "12", ".model" + marked + "12-0-1",
      ".model" + marked + "a-0",      ".model" + marked + "12-", marked + "12-0",          ".model.tmp-12-0"};
  for (const std::string& name : kept) fs::create_directory(folder_ / name);
  std::ofstream(folder_ / (".model" + marked + "12-0")) << "left";
  fs::create_directory_symlink(folder_ / kept[0], folder_ / (".link" + marked + "12-0"));
  remove_abandoned_temporaries(folder_);
  EXPECT_EQ(entries(), kept.size() + 1) << "but for the file";
  for (const std::string& name : kept) EXPECT_TRUE(fs::is_directory(folder_ / name)) << name;
}

}  // namespace
}  // namespace argosy
