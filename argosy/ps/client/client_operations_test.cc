#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "argosy/ps/client/client.h"
#include "argosy/ps/client/cluster_test.h"

namespace argosy::ps {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

JobSpec one_table() { return {.mode = Mode::async, .workers = 1, .tables = {sparse_table("emb", 1)}}; }

std::vector<uint64_t> all_keys() {
  std::vector<uint64_t> keys(2000);
  std::iota(keys.begin(), keys.end(), 0);
  return keys;
}

// Adds 1 to every row.
Status count(Client& client, uint32_t batch) {
  const std::vector<uint64_t> keys = all_keys();
  const std::vector<float> ones(keys.size(), -1);
  const BatchId id = batch_id(0, batch);
  const RowGradients rows{.table = 0, .keys = keys, .values = ones.data()};
  return client.push({.batches = std::span(&id, 1), .dense = {}, .rows = std::span(&rows, 1)});
}

std::vector<float> counted(Client& client) {
  const std::vector<uint64_t> keys = all_keys();
  std::vector<float> rows(keys.size());
  const RowRequest request{.table = 0, .keys = keys, .rows = rows.data()};
  EXPECT_TRUE(client.pull_rows(std::span(&request, 1)).ok());
  return rows;
}

// Requests and replies are lost, and requests come twice: each save and load happens once all the same, and what was pushed after
// a load stays.
TEST(ClientOperations, CountOnceOverABadNetwork) {
  Cluster cluster(2, [](ServerOptions& options) { options.snapshot_roots = {options.directory.parent_path()}; }, true);
  auto faults = std::make_shared<Faults>();
  ClientOptions options = cluster.client(0, faults);
  options.call_seconds = 0.5;
  const auto client = Client::connect(options, one_table());
  ASSERT_TRUE(client.ok()) << client.status().message();
  faults->disturb(0.2);
  uint32_t batch = 0;
  for (int round = 0; round < 5; ++round) {
    const std::string folder = (cluster.folder() / ("s" + std::to_string(round))).string();
    const std::vector<float> before = counted(**client);
    ASSERT_TRUE(count(**client, batch++).ok());
    const auto saved = (*client)->save_snapshot(folder, SnapshotKind::full, "cursor");
    ASSERT_TRUE(saved.ok()) << saved.status().message();
    EXPECT_EQ((*saved)[0].rows + (*saved)[1].rows, 2000u);
    ASSERT_TRUE(count(**client, batch++).ok());
    const auto loaded = (*client)->load_snapshot(folder);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->tables[0].rows, 2000u);
    EXPECT_EQ(loaded->extra, "cursor");
    EXPECT_THAT(counted(**client), Each(before[0] + 1)) << "round " << round;
    ASSERT_TRUE(count(**client, batch++).ok());
    EXPECT_THAT(counted(**client), Each(before[0] + 2)) << "round " << round;
  }
  EXPECT_THAT((*client)->load_snapshot((cluster.folder() / "nowhere").string()).status().message(),
              HasSubstr("there is no snapshot"));
}

// Each server loads all or nothing, and there is nobody who could take back what the others have loaded: the error says who has,
// and the same call again makes it good.
TEST(ClientOperations, ALoadThatFailsOnOneServerSaysWhoHasIt) {
  Cluster cluster(2, [](ServerOptions& options) { options.snapshot_roots = {options.directory.parent_path()}; }, true);
  ClientOptions options = cluster.client(0);
  options.server_wait_seconds = 1;
  const auto client = Client::connect(options, one_table());
  ASSERT_TRUE(client.ok()) << client.status().message();
  const std::string folder = (cluster.folder() / "saved").string();
  ASSERT_TRUE(count(**client, 0).ok());
  ASSERT_TRUE((*client)->save_snapshot(folder, SnapshotKind::full).ok());
  ASSERT_TRUE(count(**client, 1).ok());
  cluster.kill(1);
  EXPECT_THAT((*client)->load_snapshot(folder, 77).status().message(),
              AllOf(HasSubstr("loading snapshot"), HasSubstr("server 1 (place 1) has not answered"),
                    HasSubstr("the new values are on server 0 (place 0); not known: server 1 (place 1). Load again")));
  cluster.start(1);
  const std::vector<float> mixed = counted(**client);
  EXPECT_EQ(std::set<float>(mixed.begin(), mixed.end()), (std::set<float>{1, 2}));
  const auto again = (*client)->load_snapshot(folder, 77);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_THAT(counted(**client), Each(1));
  EXPECT_THAT((*client)->load_snapshot((cluster.folder() / "nowhere").string()).status().message(),
              AllOf(HasSubstr("no server is known to have the new values"),
                    HasSubstr("as before: server 0 (place 0), server 1 (place 1)")));
}

// A base and a delta by two servers: both know that the base was published, and the delta is of what came after.
TEST(ClientOperations, EveryServerLearnsWhatWasPublished) {
  Cluster cluster(2, [](ServerOptions& options) { options.snapshot_roots = {options.directory.parent_path()}; }, true);
  const auto client = Client::connect(cluster.client(0), one_table());
  ASSERT_TRUE(client.ok()) << client.status().message();
  ASSERT_TRUE(count(**client, 0).ok());
  const auto base = (*client)->save_snapshot((cluster.folder() / "base").string(), SnapshotKind::base);
  ASSERT_TRUE(base.ok()) << base.status().message();
  const auto empty = (*client)->save_snapshot((cluster.folder() / "d1").string(), SnapshotKind::delta);
  ASSERT_TRUE(empty.ok()) << empty.status().message();
  EXPECT_EQ((*empty)[0].rows + (*empty)[1].rows, 0u);
  ASSERT_TRUE(count(**client, 1).ok());
  const auto delta = (*client)->save_snapshot((cluster.folder() / "d2").string(), SnapshotKind::delta);
  ASSERT_TRUE(delta.ok()) << delta.status().message();
  EXPECT_EQ((*delta)[0].rows + (*delta)[1].rows, 2000u);
  ASSERT_TRUE((*client)->load_snapshot((cluster.folder() / "d2").string()).ok());
  EXPECT_THAT(counted(**client), Each(2));
}

}  // namespace
}  // namespace argosy::ps
