#include "argosy/table/snapshot_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "argosy/base/random.h"
#include "argosy/table/log_scratch.h"
#include "argosy/table/snapshot_writer.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

Status write_number(const fs::path& root, uint64_t number, SnapshotInfo info = {}) {
  info.id = number;
  ASSIGN_OR_RETURN(const auto writer, SnapshotWriter::open(numbered_snapshot(root, number), info));
  const std::string bytes(5000, static_cast<char>(number));
  for (int i = 0; i < 4; ++i) RETURN_IF_ERROR(writer->add({.kind = SnapshotChunk::Kind::dense, .table = "fc", .bytes = bytes}));
  return writer->commit("state");
}

std::vector<uint64_t> numbers_in(const fs::path& root) { return std::move(list_snapshots(root)).value(); }

uint64_t latest_in(const fs::path& root, std::optional<OneServer> only = {}) {
  const auto latest = latest_snapshot(root, only);
  EXPECT_TRUE(latest.ok()) << latest.status().message();
  return latest.ok() && latest->has_value() ? (*latest)->id() : 0;
}

TEST(SnapshotStore, FindsTheLatestWholeOne) {
  const ScratchFolder scratch;
  EXPECT_EQ(latest_in(scratch / "none"), 0u);
  const fs::path root = scratch / "root";
  for (const uint64_t number : {1, 9, 10}) ASSERT_TRUE(write_number(root, number).ok());
  put_bytes(root / "snapshot-x", "no snapshot");
  EXPECT_THAT(numbers_in(root), ElementsAre(1, 9, 10));
  EXPECT_EQ(latest_in(root), 10u);

  ASSERT_TRUE(write_number(root, 11, {.server = 0, .servers = 2}).ok());
  EXPECT_EQ(latest_in(root), 10u) << "11 lacks a server";
  const fs::path part = numbered_snapshot(root, 10) / "server-0-of-1/part-00000";
  std::string bytes = bytes_of(part);
  bytes[bytes.size() / 2] ^= 1;
  put_bytes(part, bytes);
  EXPECT_EQ(latest_in(root), 9u) << "10 has a wrong bit in a table";
}

TEST(SnapshotStore, KeepsTheNewestAndWhatTheyBuildOn) {
  const ScratchFolder scratch;
  const fs::path root = scratch / "root";
  for (uint64_t number = 1; number <= 3; ++number) ASSERT_TRUE(write_number(root, number).ok());
  const SnapshotParent parent{.name = "snapshot-2", .id = 2};
  ASSERT_TRUE(write_number(root, 4, {.kind = SnapshotKind::delta, .parent = parent}).ok());
  ASSERT_TRUE(keep_newest_snapshots(root, 4).ok());
  EXPECT_THAT(numbers_in(root), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(write_number(root, 5, {.server = 0, .servers = 2}).ok());
  ASSERT_TRUE(keep_newest_snapshots(root, 1).ok());
  EXPECT_THAT(numbers_in(root), ElementsAre(2, 4, 5)) << "2 is needed by 4; 5 is being written, and does not count";
  EXPECT_EQ(latest_in(root), 4u);
}

// Servers that take snapshots of their own in one folder leave each other's alone.
TEST(SnapshotStore, OneServersPartsAreItsOwn) {
  const ScratchFolder scratch;
  const fs::path root = scratch / "root";
  const OneServer zero{.server = 0, .servers = 2}, one{.server = 1, .servers = 2};
  for (uint64_t number = 1; number <= 3; ++number) ASSERT_TRUE(write_number(root, number, {.server = 0, .servers = 2}).ok());
  ASSERT_TRUE(write_number(root, 1, {.server = 1, .servers = 2}).ok());
  EXPECT_EQ(latest_in(root, zero), 3u);
  EXPECT_EQ(latest_in(root, one), 1u);
  ASSERT_TRUE(keep_newest_snapshots(root, 1, zero).ok());
  EXPECT_THAT(numbers_in(root), ElementsAre(1, 3));
  EXPECT_EQ(latest_in(root, one), 1u);
}

TEST(SnapshotStore, PublishingReplacesInOneStep) {
  const ScratchFolder scratch;
  const fs::path staged = numbered_snapshot(scratch / "", 5), target = scratch / "model";
  ASSERT_TRUE(write_number(scratch / "", 5, {.server = 0, .servers = 2}).ok());
  EXPECT_EQ(publish_snapshot(staged, target).code(), Code::data_loss) << "not while a server is missing";
  ASSERT_TRUE(write_number(scratch / "", 5, {.server = 1, .servers = 2}).ok());
  ASSERT_TRUE(publish_snapshot(staged, target).ok());
  EXPECT_EQ(Snapshot::open(target)->id(), 5u);
  ASSERT_TRUE(write_number(scratch / "", 6).ok());
  ASSERT_TRUE(publish_snapshot(numbered_snapshot(scratch / "", 6), target).ok());
  EXPECT_EQ(Snapshot::open(target)->id(), 6u);
  EXPECT_THAT(numbers_in(scratch / ""), ElementsAre()) << "the old one does not stay under the other name";
}

// The rows of a table that 2 servers held, read by 3, are the rows of the table.
TEST(SnapshotStore, SavedByTwoServersLoadedByThree) {
  const ScratchFolder scratch;
  SparseSpec spec{.name = "emb", .width = 3};
  spec.initializer = {.kind = RowInitializer::Kind::uniform, .a = -1, .b = 1, .seed = 11};
  spec.rule = "adagrad";
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 5000; ++i) keys.push_back(mix64(i));
  const std::vector<float> gradients(keys.size() * 3, 0.5f);
  for (uint32_t server = 0; server < 2; ++server) {
    const auto table = SparseTable::make(spec);
    ASSERT_TRUE(table.ok()) << table.status().message();
    std::vector<uint64_t> own;
    for (const uint64_t key : keys) {
      if (mix64(key) % 2 == server) own.push_back(key);
    }
    const TableStep step = (*table)->begin_step(0.1f);
    ASSERT_TRUE((*table)->apply(step, own, std::span(gradients).first(own.size() * 3)).ok());
    const auto writer = SnapshotWriter::open(scratch / "s", {.id = 1, .server = server, .servers = 2});
    SparseTable::Export rows = (*table)->begin_export();
    for (std::string bytes; *rows.next(10'000, bytes); bytes.clear()) {
      const uint64_t count = bytes.size() / (*table)->codec().record_bytes();
      ASSERT_TRUE((*writer)->add({.table = "emb", .count = count, .bytes = bytes}).ok());
    }
    ASSERT_TRUE((*writer)->commit("").ok());
  }

  const auto expected = SparseTable::make(spec);
  ASSERT_TRUE((*expected)->apply((*expected)->begin_step(0.1f), keys, gradients).ok());
  const auto snapshot = Snapshot::open(scratch / "s");
  EXPECT_EQ(snapshot->tables().front().count, keys.size());
  uint64_t loaded = 0;
  for (uint32_t server = 0; server < 3; ++server) {
    const auto table = SparseTable::make(spec);
    const Status status = snapshot->read([&](const SnapshotChunk& chunk) {
      std::string own;
      for (uint64_t i = 0; i < chunk.count; ++i) {
        if (mix64(chunk.key(i)) % 3 == server) own += chunk.bytes.substr(i * chunk.record_bytes(), chunk.record_bytes());
      }
      return (*table)->import_records(own);
    });
    ASSERT_TRUE(status.ok()) << status.message();
    loaded += (*table)->size().rows;
    for (const uint64_t key : keys) {
      if (mix64(key) % 3 != server) continue;
      std::array<float, 3> found{}, wanted{};
      ASSERT_TRUE((*table)->pull({&key, 1}, found, false).ok());
      ASSERT_TRUE((*expected)->pull({&key, 1}, wanted, false).ok());
      ASSERT_EQ(found, wanted) << "key " << key;
    }
  }
  EXPECT_EQ(loaded, keys.size());
}

[[noreturn]] void snapshot_until_killed(const fs::path& root, uint64_t number, int pipe) {
  for (;; ++number) {
    if (!write_number(root, number).ok()) ::_exit(1);
    if (::write(pipe, &number, sizeof number) != sizeof number) ::_exit(2);
    if (!keep_newest_snapshots(root, 2).ok()) ::_exit(3);
  }
}

// Whatever a killed server was doing, the last snapshot that it reported is there or a later one, whole.
TEST(SnapshotStore, AKillAtAnyMomentLeavesAWholeSnapshot) {
  const ScratchFolder scratch;
  const fs::path root = scratch / "root";
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  uint64_t last = 0;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) snapshot_until_killed(root, last + 1, ends[1]);
    ::close(ends[1]);
    // On a slow machine a moment is over before the first one is written: every other child lives until it has reported one.
    if (round % 2 == 1) {
      ASSERT_EQ(::read(ends[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(15'000)));
    ::kill(child, SIGKILL);
    while (::read(ends[0], &last, sizeof last) == sizeof last) {
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);
    const uint64_t found = latest_in(root);
    ASSERT_GE(found, last) << "kill " << round;
    last = std::max(found, last);
  }
  ASSERT_GE(last, 10u) << "every other child has written one";
}

}  // namespace
}  // namespace argosy::table
