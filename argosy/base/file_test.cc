#include "argosy/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace argosy {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() / fmt::format("argosy-file-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->random_seed());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  size_t entries(const fs::path& path) { return static_cast<size_t>(std::distance(fs::directory_iterator(path), {})); }

  fs::path folder_;
};

TEST_F(FileTest, AtomicWriteReplacesAndLeavesNothingBeside) {
  const fs::path path = folder_ / "a";
  ASSERT_TRUE(write_file_atomically(path, "one").ok());
  ASSERT_TRUE(write_file_atomically(path, "two").ok());
  EXPECT_EQ(*read_file(path), "two");
  EXPECT_EQ(entries(folder_), 1u);
}

TEST_F(FileTest, AMissingFileIsNamed) {
  const auto result = read_file(folder_ / "absent");
  EXPECT_EQ(result.status().code(), Code::not_found);
  EXPECT_NE(result.status().message().find("absent"), std::string::npos);
}

TEST_F(FileTest, AFolderAppearsOnlyAtCommit) {
  const fs::path target = folder_ / "deep" / "model";
  {
    auto writer = FolderWriter::open(target, true);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    ASSERT_TRUE(writer->write("w", "1").ok());
    EXPECT_FALSE(fs::exists(target));
  }
  EXPECT_EQ(entries(folder_ / "deep"), 0u) << "an abandoned folder is removed";
}

TEST_F(FileTest, CommitReplacesEqualNamesAndKeepsOthersWhereAsked) {
  const fs::path target = folder_ / "model/";
  for (const bool keep : {true, false}) {
    fs::create_directories(target);
    std::ofstream(target / "notes") << "mine";
    std::ofstream(target / "w") << "old";
    auto writer = FolderWriter::open(target, keep);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->write("w", "new").ok());
    ASSERT_TRUE(writer->commit().ok());
    EXPECT_EQ(*read_file(target / "w"), "new");
    EXPECT_EQ(fs::exists(target / "notes"), keep);
    EXPECT_EQ(entries(folder_), 1u);
  }
}

TEST_F(FileTest, AFileInTheTargetsPlaceStays) {
  const fs::path target = folder_ / "model";
  std::ofstream(target) << "mine";
  const auto writer = FolderWriter::open(target, true);
  EXPECT_EQ(writer.status().code(), Code::already_exists);
  EXPECT_NE(writer.status().message().find("model"), std::string::npos);
  EXPECT_EQ(*read_file(target), "mine");
  EXPECT_EQ(entries(folder_), 1u);
}

TEST_F(FileTest, AFolderInAFilesPlaceStaysAndFoldersAreMerged) {
  const fs::path target = folder_ / "model";
  fs::create_directories(target / "w");
  std::ofstream(target / "w" / "notes") << "mine";
  auto refused = FolderWriter::open(target, true);
  ASSERT_TRUE(refused.ok() && refused->write("w", "new").ok());
  EXPECT_EQ(refused->commit().code(), Code::already_exists);
  auto merged = FolderWriter::open(target, true);
  ASSERT_TRUE(merged.ok() && merged->write("w/0", "new").ok());
  ASSERT_TRUE(merged->commit().ok());
  EXPECT_EQ(*read_file(target / "w" / "notes"), "mine");
  EXPECT_EQ(*read_file(target / "w" / "0"), "new");
}

TEST_F(FileTest, LinksAreWrittenThrough) {
  fs::create_directories(folder_ / "disk");
  fs::create_directory_symlink("disk", folder_ / "latest");
  auto writer = FolderWriter::open(folder_ / "latest", true);
  ASSERT_TRUE(writer.ok() && writer->write("w", "new").ok());
  ASSERT_TRUE(writer->commit().ok());
  fs::create_symlink("disk/file", folder_ / "link");
  ASSERT_TRUE(write_file_atomically(folder_ / "link", "one").ok());  // to nothing yet
  EXPECT_TRUE(fs::is_symlink(folder_ / "latest") && fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(*read_file(folder_ / "disk" / "w"), "new");
  EXPECT_EQ(*read_file(folder_ / "disk" / "file"), "one");
}

TEST_F(FileTest, PermissionsStay) {
  const fs::path target = folder_ / "private", file = folder_ / "secret";
  fs::create_directories(target);
  std::ofstream(file) << "old";
  ASSERT_EQ(::chmod(target.c_str(), 02750), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  auto writer = FolderWriter::open(target, true);
  ASSERT_TRUE(writer.ok() && writer->write("w", "new").ok() && writer->commit().ok());
  ASSERT_TRUE(write_file_atomically(file, "new").ok());
  struct stat found;
  ASSERT_EQ(::stat(target.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777u, 02750u);
  ASSERT_EQ(::stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777u, 0600u);
}

// A script that saves into "." goes on in the same folder, with what it has there.
TEST_F(FileTest, AFolderThatIsWorkedInIsNotReplaced) {
  const fs::path target = folder_ / "work", before = fs::current_path();
  fs::create_directories(target / "data");
  std::ofstream(target / "notes") << "mine";
  fs::current_path(target / "data");
  const auto save = [&](bool keep) {
    auto writer = FolderWriter::open(target, keep);
    EXPECT_TRUE(writer.ok() && writer->write("w", "new").ok());
    writer->set_mark(7);
    return writer->commit();
  };
  const Status replaced = save(false), kept = save(true);
  std::ofstream("later") << "here";
  const bool is_here = fs::exists(target / "data" / "later");
  fs::current_path(before);
  EXPECT_EQ(replaced.code(), Code::failed_precondition);
  EXPECT_TRUE(kept.ok()) << kept.message();
  EXPECT_TRUE(is_here) << "the working directory was replaced";
  EXPECT_EQ(*read_file(target / "w"), "new");
  EXPECT_EQ(*read_file(target / "notes"), "mine");
  EXPECT_EQ(folder_mark(target), 7u);
  EXPECT_EQ(entries(folder_), 1u) << "nothing temporary is left";
}

TEST_F(FileTest, AFolderHasTheMarkOfItsLastWriter) {
  const fs::path target = folder_ / "model";
  EXPECT_EQ(folder_mark(target), std::nullopt);
  for (const uint64_t mark : {uint64_t{7}, ~uint64_t{0}}) {
    auto writer = FolderWriter::open(target, true);
    ASSERT_TRUE(writer.ok());
    writer->set_mark(mark);
    ASSERT_TRUE(writer->commit().ok());
    EXPECT_EQ(folder_mark(target), mark);
  }
  auto writer = FolderWriter::open(target, true);
  ASSERT_TRUE(writer.ok() && writer->commit().ok());
  EXPECT_EQ(folder_mark(target), std::nullopt);
}

}  // namespace
}  // namespace argosy
