#include "argosy/base/file.h"

#include <gtest/gtest.h>
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
