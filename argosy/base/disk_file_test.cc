#include "argosy/base/disk_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "argosy/base/file.h"

namespace argosy {
namespace {

namespace fs = std::filesystem;

class DiskFileTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }

  const fs::path path_ = fs::temp_directory_path() / fmt::format("argosy-disk-file-{}", ::getpid());
};

// More pieces than one system call takes, empty ones among them.
TEST_F(DiskFileTest, WritesManyPiecesInOrder) {
  std::vector<std::string> texts;
  std::string expected;
  for (int i = 0; i < 3000; ++i) expected += texts.emplace_back(static_cast<size_t>(i % 5), static_cast<char>('a' + i % 26));
  std::vector<Bytes> pieces;
  for (const std::string& text : texts) pieces.push_back(std::as_bytes(std::span(text)));
  auto file = DiskFile::create(path_);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write_at(3, pieces).ok());
  EXPECT_EQ(*read_file(path_), std::string(3, '\0') + expected);
  ASSERT_TRUE(file->truncate(7).ok());
  EXPECT_EQ(*file->size(), 7u);
}

TEST_F(DiskFileTest, AWindowShowsAnyPlaceAligned) {
  std::string text(1000, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(write_file_atomically(path_, text).ok());
  const auto file = DiskFile::open(path_);
  ASSERT_TRUE(file.ok());
  FileWindow window(*file, text.size(), 64);
  for (const auto& [offset, size] :
       std::vector<std::pair<size_t, size_t>>{{0, 1}, {60, 10}, {61, 900}, {0, 1000}, {999, 1}, {8, 0}}) {
    const auto bytes = window.at(offset, size);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(std::memcmp(bytes->data(), text.data() + offset, size), 0) << offset;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes->data()) % 8, offset % 8);
  }
}

TEST_F(DiskFileTest, AFileThatBecameShorterIsNamed) {
  ASSERT_TRUE(write_file_atomically(path_, "short").ok());
  const auto file = DiskFile::open(path_);
  FileWindow window(*file, 100, 64);
  const Status status = window.at(0, 32).status();
  EXPECT_EQ(status.code(), Code::data_loss);
  EXPECT_NE(status.message().find(path_.string()), std::string::npos);
}

TEST_F(DiskFileTest, AFolderIsNoFile) {
  EXPECT_EQ(DiskFile::open(path_).status().code(), Code::not_found);
  const auto folder = DiskFile::open(fs::temp_directory_path());
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder->size().status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace argosy
