#include "argosy/observe/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "argosy/base/file.h"

namespace argosy::observe {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Crc32c, IsTheOneOfRfc3720) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
}

class EventFileTest : public testing::Test {
 protected:
  ~EventFileTest() override { fs::remove_all(folder_); }

  // The records of the one file, whose lengths must fit.
  std::vector<std::string> records() const {
    const std::string bytes = *read_file(fs::directory_iterator(folder_)->path());
    std::vector<std::string> found;
    for (size_t at = 0; at < bytes.size();) {
      uint64_t length = 0;
      std::memcpy(&length, bytes.data() + at, sizeof length);
      EXPECT_LE(at + 16 + length, bytes.size());
      found.push_back(bytes.substr(at + 12, length));
      at += 16 + length;
    }
    return found;
  }

  const fs::path folder_ = fs::temp_directory_path() / fmt::format("argosy-event-file-{}", ::getpid());
};

TEST_F(EventFileTest, HasAVersionThenWhatWasWritten) {
  auto file = EventFile::open((folder_ / "").string());
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_TRUE(file->scalar("job/loss", 300, 0.5).ok());
  ASSERT_TRUE(file->histogram("job/seconds", 300, {.bounds = {0.1, 1}, .counts = {2, 5}, .sum = 3}).ok());
  const auto found = records();
  ASSERT_EQ(found.size(), 3);
  EXPECT_THAT(found[0], HasSubstr("brain.Event:2"));
  // step 300, summary { value { tag: "job/loss" simple_value: 0.5 } }
  EXPECT_EQ(found[1].substr(9), std::string("\x10\xac\x02\x2a\x11\x0a\x0f\x0a\x08job/loss\x15\x00\x00\x00\x3f", 22));
  EXPECT_THAT(found[2], HasSubstr("job/seconds"));
}

TEST(EventFile, AFolderThatCannotBeIsAnError) { EXPECT_FALSE(EventFile::open("/proc/none/board").ok()); }

}  // namespace
}  // namespace argosy::observe
