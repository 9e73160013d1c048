// Whatever happens to a server and its followers, their states come to the same bytes.
#include <gmock/gmock.h>

#include <random>

#include "argosy/base/error.h"
#include "argosy/base/random.h"
#include "argosy/ps/server/follower_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;

Result<wire::ShrinkReply> shrink(Worker& worker, uint64_t number) {
  wire::ShrinkRequest request;
  *request.mutable_caller() = worker.caller();
  request.set_table(-1);
  request.set_unseen_steps(5);
  request.set_number(number);
  return worker.call<wire::ShrinkReply>(wire::SHRINK, request);
}

Status set_rate(Worker& worker, float rate) {
  wire::SetRateRequest request;
  *request.mutable_caller() = worker.caller();
  request.set_table(-1);
  request.set_rate(rate);
  return worker.call<wire::SetRateReply>(wire::SET_RATE, request).status();
}

Status import_rows(Worker& worker, std::vector<uint64_t> keys) {
  wire::ImportRowsRequest request;
  *request.mutable_caller() = worker.caller();
  request.set_count(keys.size());
  std::vector<float> values(keys.size() * 2, 0.5f);
  return worker
      .call<wire::ImportRowsReply>(wire::IMPORT_ROWS, request,
                                   {rpc::Slice::own(std::move(keys)), rpc::Slice::own(std::move(values))})
      .status();
}

// A random job: pushes, expiry, rates, imported rows, snapshots all the time, kills of both sides. At the end every follower's
// state has the bytes of the server's, and so has that of a follower that comes last.
void disturbed_job(Mode mode, uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  Folder folder;
  ServerOptions options = primary_options(folder);
  options.log_limit_bytes = 8'000;  // snapshots are cut all the time
  Primary primary(options);
  TableSpec rows = counting_rows();
  rows.rule = "adam";
  const JobSpec spec = job(mode, 1, {rows, counting_dense()});
  Worker worker(link_to(primary), spec, 0, 5);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  auto steady = std::make_unique<Copy>(primary), killed = std::make_unique<Copy>(primary);
  for (uint32_t batch = 0; batch < 200; ++batch) {
    std::vector<uint64_t> keys;
    for (uint64_t i = 0; i < 10; ++i) keys.push_back(i * 20 + random.below(20));
    std::vector<float> values;
    for (size_t i = 0; i < keys.size() * 2; ++i) values.push_back(static_cast<float>(random.below(100)) / 7);
    const std::optional<Position> step = mode == Mode::sync ? std::optional(Position{0, batch}) : std::nullopt;
    ASSERT_OK(worker.push({batch_id(0, batch)}, {{0, keys, values}}, {{1, {0.1f, 0.2f, 0.3f, static_cast<float>(batch)}}}, step));
    if (random.below(20) == 0) ASSERT_OK(shrink(worker, batch + 1));
    if (random.below(20) == 0) ASSERT_OK(set_rate(worker, static_cast<float>(random.below(10)) / 10));
    if (random.below(20) == 0) ASSERT_OK(import_rows(worker, keys));
    if (random.below(25) == 0) primary.restart();
    if (random.below(25) == 0) {
      killed.reset();
      killed = std::make_unique<Copy>(primary);
      ASSERT_OK(killed->found);
    }
  }
  Copy late(primary);
  const std::string expected = locked_bytes(primary.state());
  for (Copy* copy : {steady.get(), killed.get(), &late}) {
    ASSERT_TRUE(copy->caught_up(primary.state())) << copy->death();
    EXPECT_EQ(locked_bytes(*copy->core->state()), expected);
  }
}

TEST(FollowerEqual, EqualsTheServerAfterARandomAsyncJobWithKillsOfBothSides) {
  disturbed_job(Mode::async, std::random_device{}());
}
TEST(FollowerEqual, EqualsTheServerAfterARandomSyncJobWithKillsOfBothSides) { disturbed_job(Mode::sync, std::random_device{}()); }

// A follower with rounded gradients: what a push says is rounded, and nothing else: the same records, versions, keys and counts.
class RoundedFollower : public ::testing::Test {
 protected:
  void push(uint32_t batch, const std::vector<float>& values) {
    ASSERT_OK(worker.push({batch_id(0, batch)}, {{0, {1, 2, 3}, values}}, {{1, {values[0], 1, 2, 3}}}));
  }
  std::vector<float> rows(Copy& copy) {
    Worker reader = copy.reader(spec);
    throw_if_error(reader.observe().status());
    return value_or_throw(reader.pull_rows(0, {1, 2, 3}));
  }
  Folder folder;
  Primary primary{primary_options(folder)};
  const JobSpec spec = job(Mode::async, 1, {counting_rows("rows", 64), counting_dense()});
  Worker worker{link_to(primary), spec, 0, 5};
};

TEST_F(RoundedFollower, EqualsTheServerWhereTheFormatHasRoomForTheGradients) {
  uint64_t logged = 0, sent = 0;
  primary.set_forge([&](wire::FollowReply& reply) {
    for (const auto& one : reply.records()) {
      logged += one.bytes();
      sent += one.packed_bytes() == 0 ? one.bytes() : one.packed_bytes();
    }
  });
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  Copy copy(primary, 10, WireFormat::bfloat16);
  for (uint32_t batch = 0; batch < 40; ++batch) push(batch, std::vector<float>(3 * 64, static_cast<float>(batch)));
  ASSERT_OK(shrink(worker, 41));
  ASSERT_TRUE(copy.caught_up(primary.state())) << copy.death();
  primary.restart();
  ASSERT_OK(worker.hello());
  push(40, std::vector<float>(3 * 64, 0.5f));
  ASSERT_TRUE(copy.caught_up(primary.state())) << copy.death();
  EXPECT_EQ(locked_bytes(*copy.core->state()), locked_bytes(primary.state()));
  primary.set_forge(nullptr);
  EXPECT_LT(sent, logged * 0.65) << "of " << logged << " bytes";
}

TEST_F(RoundedFollower, IsOffByNoMoreThanTheRounding) {
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  Copy exact(primary), rounded(primary, 10, WireFormat::int8);
  Random random(7);
  constexpr uint32_t kPushes = 30;
  for (uint32_t batch = 0; batch < kPushes; ++batch) {
    std::vector<float> values;
    for (int i = 0; i < 3 * 64; ++i) values.push_back(static_cast<float>(random.below(1000)) / 1000);
    push(batch, values);
  }
  ASSERT_TRUE(exact.caught_up(primary.state()) && rounded.caught_up(primary.state())) << rounded.death();
  EXPECT_EQ(rounded.core->state()->version(), primary.state().version());
  EXPECT_EQ(locked_bytes(*exact.core->state()), locked_bytes(primary.state()));
  EXPECT_NE(locked_bytes(*rounded.core->state()), locked_bytes(primary.state()));
  EXPECT_THAT(rows(rounded), testing::Pointwise(testing::FloatNear(kPushes * 0.5f / 127 * 1.01f), rows(exact)));
}

// What a load puts into the tables is not in the log.
TEST(FollowerEqual, TakesTheSnapshotOfALoad) {
  Folder folder;
  Primary primary(primary_options(folder));
  const JobSpec spec = small_job();
  Worker worker(link_to(primary), spec, 0, 5);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({7})}));
  wire::SaveSnapshotRequest save;
  *save.mutable_caller() = worker.caller();
  save.set_folder((folder.path() / "saved").string());
  save.set_id(1);
  for (const bool publish : {false, true}) {
    save.set_publish(publish);
    Result<wire::SaveSnapshotReply> saved = Status::unavailable("not asked");
    do saved = worker.call<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, save);
    while (saved.ok() && saved->running());
    ASSERT_OK(saved);
  }
  ASSERT_OK(worker.push({batch_id(0, 1)}, {count_at({7, 8})}));
  Copy copy(primary);
  ASSERT_TRUE(copy.caught_up(primary.state()));
  Worker reader = copy.reader(spec);
  ASSERT_OK(reader.observe());
  EXPECT_THAT(*reader.pull_rows(0, {7, 8}), ElementsAre(2, 2, 1, 1));
  wire::LoadSnapshotRequest load;
  *load.mutable_caller() = worker.caller();
  load.set_folder((folder.path() / "saved").string());
  load.set_id(2);
  Result<wire::LoadSnapshotReply> loaded = Status::unavailable("not asked");
  do loaded = worker.call<wire::LoadSnapshotReply>(wire::LOAD_SNAPSHOT, load);
  while (loaded.ok() && loaded->running());
  ASSERT_OK(loaded);
  ASSERT_OK(worker.push({batch_id(0, 2)}, {count_at({9})}));
  ASSERT_TRUE(copy.caught_up(primary.state()));
  EXPECT_THAT(*reader.pull_rows(0, {7, 8, 9}), ElementsAre(1, 1, 0, 0, 1, 1));
  EXPECT_EQ(locked_bytes(*copy.core->state()), locked_bytes(primary.state()));
}

}  // namespace
}  // namespace argosy::ps
