// What one setting of servers needs of the others, found before anything starts.
#include "argosy/base/kept_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "argosy/base/file.h"

namespace argosy {
namespace {

using testing::HasSubstr;

std::string error_of(const KeptState& state) { return check_kept_state(state).message(); }

// A log and cold rows lie somewhere, or the server would find out when it starts.
TEST(KeptState, WhatIsKeptNeedsADirectory) {
  for (const std::string durability : {"snapshot", "wal", "wal_sync"}) {
    EXPECT_THAT(error_of({.durability = durability}), HasSubstr("durability is " + durability + "; that needs a directory"));
    EXPECT_EQ(error_of({.directory = "kept", .durability = durability}), "");
  }
  for (const std::string durability : {"", "auto", "none"}) EXPECT_EQ(error_of({.durability = durability}), "") << durability;
  EXPECT_THAT(error_of({.mem_limit_bytes = 1024}), HasSubstr("mem_limit is 1024 bytes; that needs a directory"));
  EXPECT_EQ(error_of({.directory = "kept", .mem_limit_bytes = 1024}), "");
  EXPECT_EQ(error_of({.directory = "kept", .durability = "none", .mem_limit_bytes = 1024}), "") << "cold rows alone";
}

TEST(KeptState, TheTwoProcessesOfAServerNeedLogs) {
  EXPECT_THAT(error_of({.replicas = true}), HasSubstr("replicas is 1 with durability=none and no directory; each of"));
  for (const std::string durability : {"none", "snapshot"})
    EXPECT_THAT(error_of({.directory = "kept", .durability = durability, .replicas = true}),
                HasSubstr("replicas is 1 with durability=" + durability + "; each of"));
  for (const std::string durability : {"", "auto", "wal", "wal_sync"})
    EXPECT_EQ(error_of({.directory = "kept", .durability = durability, .replicas = true}), "") << durability;
}

TEST(KeptState, FollowersAreListedWhereServersHaveSome) {
  EXPECT_THAT(error_of({.followers = "b:1"}), HasSubstr("followers is 'b:1', and replicas is 0; set replicas=1"));
  EXPECT_EQ(error_of({.directory = "kept", .replicas = true, .followers = "b:1"}), "");
}

TEST(KeptState, TheDirectoryIsNoFileAndLiesInNone) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("argosy-kept-{}", ::getpid()), file = folder / "file";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file_atomically(file, "text").ok());
  for (const auto& good : {std::filesystem::path(), folder, folder / "new" / "deep", std::filesystem::path("relative")})
    EXPECT_EQ(check_state_folder(good).message(), "") << good;
  for (const auto& bad : {file, file / "server-0"})
    EXPECT_THAT(check_state_folder(bad).message(), HasSubstr("and '" + file.string() + "' is a file; expected a folder")) << bad;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace argosy
