#include "argosy/fleet/fleet.h"

#include <gtest/gtest.h>

#include <numeric>

#include "argosy/base/error.h"
#include "argosy/fleet/job.h"

namespace argosy::fleet {
namespace {

RoleInfo worker(int index, int count) {
  return {.role = Role::worker, .index = index, .worker_count = count, .server_endpoints = {"127.0.0.1:6001"}};
}

TEST(Fleet, AQueryBeforeInitSaysSo) {
  const Fleet fleet;
  try {
    (void)fleet.is_worker();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::failed_precondition);
    EXPECT_STREQ(error.what(), "fleet.init() has not been called yet in this process");
  }
}

TEST(Fleet, AServerHasNoWorkerIndex) {
  Fleet fleet;
  fleet.init({.role = Role::server, .index = 0, .worker_count = 2, .server_endpoints = {"127.0.0.1:6001"}});
  EXPECT_TRUE(fleet.is_server());
  EXPECT_FALSE(fleet.is_first_worker());
  EXPECT_EQ(fleet.server_index(), 0);
  EXPECT_THROW((void)fleet.worker_index(), Error);
}

// Every file goes to exactly one worker, and nobody has two more than another.
TEST(Fleet, FileShardsAreAPartition) {
  std::vector<std::string> files(11);
  for (size_t i = 0; i < files.size(); ++i) files[i] = std::to_string(i);
  for (const int workers : {1, 2, 3, 11, 13}) {
    std::vector<std::string> together;
    for (int index = 0; index < workers; ++index) {
      Fleet fleet;
      fleet.init(worker(index, workers));
      const auto part = fleet.util().get_file_shard(files);
      EXPECT_LE(part.size(), files.size() / static_cast<size_t>(workers) + 1);
      EXPECT_GE(part.size(), files.size() / static_cast<size_t>(workers));
      together.insert(together.end(), part.begin(), part.end());
    }
    EXPECT_EQ(together, files) << workers;
  }
}

}  // namespace
}  // namespace argosy::fleet
