#include "argosy/table/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "argosy/base/file.h"
#include "argosy/table/log_scratch.h"
#include "argosy/table/snapshot_store.h"
#include "argosy/table/snapshot_writer.h"

namespace argosy::table {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = SnapshotChunk::Kind;
using Rows = std::map<uint64_t, uint64_t>;  // key -> value

std::string records_of(const Rows& rows) {
  std::string bytes;
  for (const auto& [key, value] : rows) {
    bytes.append(reinterpret_cast<const char*>(&key), 8).append(reinterpret_cast<const char*>(&value), 8);
  }
  return bytes;
}

SnapshotChunk chunk_of(const Rows& rows, std::string_view bytes) {
  return {.kind = Kind::rows, .table = "rows", .count = rows.size(), .bytes = bytes};
}

Status write_rows(const fs::path& folder, SnapshotInfo info, const Rows& rows, std::string_view state = "state") {
  ASSIGN_OR_RETURN(const auto writer, SnapshotWriter::open(folder, std::move(info)));
  const std::string bytes = records_of(rows);
  if (!rows.empty()) RETURN_IF_ERROR(writer->add(chunk_of(rows, bytes)));
  return writer->commit(state);
}

// What a loader ends up with.
Result<Rows> load(const fs::path& folder, std::optional<OneServer> only = {}) {
  Rows rows;
  ASSIGN_OR_RETURN(const Snapshot snapshot, Snapshot::open(folder, only));
  RETURN_IF_ERROR(snapshot.read([&](const SnapshotChunk& chunk) {
    for (uint64_t i = 0; i < chunk.count; ++i) {
      if (chunk.kind == Kind::erased) rows.erase(chunk.key(i));
      if (chunk.kind == Kind::rows) std::memcpy(&rows[chunk.key(i)], chunk.bytes.data() + i * chunk.record_bytes() + 8, 8);
    }
    return Status();
  }));
  return rows;
}

Status status_of(const fs::path& folder) { return load(folder).status(); }

TEST(Snapshot, GivesBackAllKindsOfChunksInOrder) {
  const ScratchFolder scratch;
  const auto writer = SnapshotWriter::open(scratch / "s", {.id = 7, .step = 41}, 100);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  const std::string key(8, 'k'), long_name(300, 'n');
  const std::vector<SnapshotChunk> chunks = {
      {.kind = Kind::progress, .table = "fc_0.w_0", .bytes = "beta"},
      {.kind = Kind::dense, .table = "fc_0.w_0", .offset = 8192, .count = 3, .bytes = "three elements"},
      {.kind = Kind::rows, .table = long_name, .count = 2, .bytes = "key AAAAvalueAkey BBBBvalueB"},
      {.kind = Kind::erased, .table = "emb", .count = 1, .bytes = key},
      {.kind = Kind::progress, .table = "emb", .bytes = ""},
  };
  for (const SnapshotChunk& chunk : chunks) ASSERT_TRUE((*writer)->add(chunk).ok());
  ASSERT_TRUE((*writer)->commit("windows").ok());
  EXPECT_TRUE(fs::exists(scratch / "s/server-0-of-1/part-00001")) << "files are cut at the size that was given";

  const auto snapshot = Snapshot::open(scratch / "s");
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  size_t next = 0;
  const Status status = snapshot->read([&](const SnapshotChunk& chunk) {
    const SnapshotChunk& expected = chunks.at(next++);
    EXPECT_EQ(chunk.kind, expected.kind);
    EXPECT_EQ(chunk.table, expected.table);
    EXPECT_EQ(chunk.offset, expected.offset);
    EXPECT_EQ(chunk.count, expected.count);
    EXPECT_EQ(chunk.bytes, expected.bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(chunk.bytes.data()) % 8, 0u);
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(next, chunks.size());
  EXPECT_EQ(snapshot->step(), 41u);
  EXPECT_THAT(snapshot->states(), ElementsAre("windows"));
  EXPECT_THAT(snapshot->tables(), ElementsAre(SnapshotTable{.name = "emb", .count = 0, .bytes = 8},
                                              SnapshotTable{.name = "fc_0.w_0", .count = 3, .bytes = 18},
                                              SnapshotTable{.name = long_name, .count = 2, .bytes = 28}));
}

TEST(Snapshot, HasOneStateAServerAndTheRowsOfAll) {
  const ScratchFolder scratch;
  for (const uint32_t server : {1u, 2u, 0u}) {
    EXPECT_NE(status_of(scratch / "s").code(), Code::ok) << "not before the last server has committed";
    ASSERT_TRUE(write_rows(scratch / "s", {.id = 7, .step = server, .server = server, .servers = 3}, {{server, 10 * server}},
                           fmt::format("state {}", server))
                    .ok());
  }
  EXPECT_EQ(*load(scratch / "s"), (Rows{{0, 0}, {1, 10}, {2, 20}}));
  const auto snapshot = Snapshot::open(scratch / "s");
  EXPECT_THAT(snapshot->states(), ElementsAre("state 0", "state 1", "state 2"));
  EXPECT_EQ(snapshot->step(), 2u);
  const OneServer one{.server = 1, .servers = 3};
  EXPECT_EQ(*load(scratch / "s", one), (Rows{{1, 10}}));
  EXPECT_THAT(Snapshot::open(scratch / "s", one)->states(), ElementsAre("state 1"));
}

TEST(Snapshot, AnUnfinishedOneIsRefusedByName) {
  const ScratchFolder scratch;
  EXPECT_EQ(status_of(scratch / "s").code(), Code::not_found);
  ASSERT_TRUE(write_rows(scratch / "s", {.id = 7, .server = 0, .servers = 2}, {{1, 1}}).ok());
  {
    const auto writer = SnapshotWriter::open(scratch / "s", {.id = 7, .server = 1, .servers = 2});
    const std::string bytes = records_of({{2, 2}});
    ASSERT_TRUE((*writer)->add(chunk_of({{2, 2}}, bytes)).ok());
  }
  const Status status = status_of(scratch / "s");
  EXPECT_EQ(status.code(), Code::data_loss);
  EXPECT_THAT(status.message(), HasSubstr("'server-1-of-2' is missing"));
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch / "s"), {}), 1) << "an abandoned part leaves nothing";
}

// Two saves into one folder, the second one not by all servers: neither is there any more, and nobody may mix them.
TEST(Snapshot, PartsOfDifferentSavesAreNotMixed) {
  const ScratchFolder scratch;
  for (const uint32_t server : {0u, 1u})
    ASSERT_TRUE(write_rows(scratch / "s", {.id = 7, .server = server, .servers = 2}, {}).ok());
  ASSERT_TRUE(status_of(scratch / "s").ok());
  ASSERT_TRUE(write_rows(scratch / "s", {.id = 8, .server = 1, .servers = 2}, {}).ok());
  EXPECT_THAT(status_of(scratch / "s").message(), HasSubstr("0000000000000008"));
  ASSERT_TRUE(write_rows(scratch / "s", {.id = 9, .server = 0, .servers = 3}, {}).ok());
  EXPECT_THAT(status_of(scratch / "s").message(), HasSubstr("parts of 2 servers and parts of 3 servers"));
}

TEST(Snapshot, ADeltaReplacesAndErasesRowsOfItsParent) {
  const ScratchFolder scratch;
  ASSERT_TRUE(write_rows(scratch / "base", {.id = 1, .kind = SnapshotKind::base}, {{1, 10}, {2, 20}, {3, 30}}).ok());
  const SnapshotParent base{.name = "base", .id = 1};
  ASSERT_TRUE(write_rows(scratch / "one", {.id = 2, .kind = SnapshotKind::delta, .parent = base}, {{2, 21}, {4, 40}}).ok());
  const SnapshotParent one{.name = "one", .id = 2};
  {
    const auto writer = SnapshotWriter::open(scratch / "two", {.id = 3, .kind = SnapshotKind::delta, .parent = one});
    const uint64_t key = 3;
    const std::string_view bytes(reinterpret_cast<const char*>(&key), 8);
    ASSERT_TRUE((*writer)->add({.kind = Kind::erased, .table = "rows", .count = 1, .bytes = bytes}).ok());
    ASSERT_TRUE((*writer)->commit("newest").ok());
  }
  EXPECT_EQ(*load(scratch / "two"), (Rows{{1, 10}, {2, 21}, {4, 40}}));
  EXPECT_EQ(*load(scratch / "one"), (Rows{{1, 10}, {2, 21}, {3, 30}, {4, 40}}));
  const auto snapshot = Snapshot::open(scratch / "two");
  EXPECT_THAT(snapshot->chain(), ElementsAre("base", "one", "two"));
  EXPECT_THAT(snapshot->states(), ElementsAre("newest"));

  ASSERT_TRUE(write_rows(scratch / "one", {.id = 9, .kind = SnapshotKind::full}, {{7, 7}}).ok());
  EXPECT_THAT(status_of(scratch / "two").message(), HasSubstr("builds on 'one' with id 0000000000000002"));
  fs::remove_all(scratch / "one");
  EXPECT_EQ(status_of(scratch / "two").code(), Code::data_loss);
  EXPECT_THAT(status_of(scratch / "two").message(), HasSubstr("builds on 'one', which cannot be read"));
}

TEST(Snapshot, AChainThatGoesInACircleEnds) {
  const ScratchFolder scratch;
  const SnapshotParent itself{.name = "s", .id = 1};
  ASSERT_TRUE(write_rows(scratch / "s", {.id = 1, .kind = SnapshotKind::delta, .parent = itself}, {}).ok());
  EXPECT_THAT(status_of(scratch / "s").message(), HasSubstr("or on itself"));
}

// Every file, every bit, every length: what was written is loaded, or the file at fault is named.
TEST(Snapshot, AnyDamageIsFoundAndNamesTheFile) {
  const ScratchFolder scratch;
  ASSERT_TRUE(write_rows(scratch / "s", {.id = 7}, {{1, 10}, {2, 20}}, "the state").ok());
  const fs::path folder = scratch / "s/server-0-of-1";
  for (const std::string name : {"manifest", "state", "part-00000"}) {
    const std::string whole = bytes_of(folder / name);
    const auto expect_refused = [&](const std::string& bytes) {
      put_bytes(folder / name, bytes);
      const Status status = status_of(scratch / "s");
      ASSERT_EQ(status.code(), Code::data_loss);
      ASSERT_THAT(status.message(), HasSubstr((folder / name).string()));
    };
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
      SCOPED_TRACE(testing::Message() << name << " byte " << bit / 8 << " bit " << bit % 8);
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      ASSERT_NO_FATAL_FAILURE(expect_refused(flipped));
    }
    for (size_t size = 0; size < whole.size(); ++size) {
      SCOPED_TRACE(testing::Message() << name << " cut at " << size);
      ASSERT_NO_FATAL_FAILURE(expect_refused(whole.substr(0, size)));
    }
    ASSERT_NO_FATAL_FAILURE(expect_refused(whole + '\0'));
    fs::remove(folder / name);
    EXPECT_THAT(status_of(scratch / "s").message(), HasSubstr((folder / name).string())) << "the file is missing";
    put_bytes(folder / name, whole);
    ASSERT_TRUE(status_of(scratch / "s").ok());
  }
}

TEST(Snapshot, AMessageSaysWhatWasFoundAndWhatWasExpected) {
  const ScratchFolder scratch;
  ASSERT_TRUE(write_rows(scratch / "s", {.id = 7}, {{1, 10}}).ok());
  const fs::path part = scratch / "s/server-0-of-1/part-00000";
  const std::string whole = bytes_of(part);
  put_bytes(part, whole + whole);
  EXPECT_THAT(status_of(scratch / "s").message(),
              HasSubstr(fmt::format("has {} bytes, expected {}", 2 * whole.size(), whole.size())));
  std::string wrong = whole;
  wrong.back() = 1;
  put_bytes(part, wrong);
  EXPECT_THAT(status_of(scratch / "s").message(),
              testing::ContainsRegex("chunk at byte 0 has checksum [0-9a-f]+, expected [0-9a-f]+"));
}

TEST(Snapshot, WhatAReaderWouldRefuseIsNotWritten) {
  const ScratchFolder scratch;
  EXPECT_EQ(SnapshotWriter::open(scratch / "s", {.server = 2, .servers = 2}).status().code(), Code::invalid_argument);
  EXPECT_EQ(SnapshotWriter::open(scratch / "s", {.kind = SnapshotKind::delta}).status().code(), Code::invalid_argument);
  const SnapshotParent outside{.name = "../x", .id = 1};
  EXPECT_EQ(SnapshotWriter::open(scratch / "s", {.kind = SnapshotKind::delta, .parent = outside}).status().code(),
            Code::invalid_argument);

  const auto writer = SnapshotWriter::open(scratch / "s", {});
  const std::string bytes(20, 'x');
  const Status uneven = (*writer)->add({.kind = Kind::rows, .table = "emb", .count = 3, .bytes = bytes});
  EXPECT_EQ(uneven.code(), Code::invalid_argument);
  EXPECT_THAT(uneven.message(), HasSubstr("'emb': 20 bytes are not 3 records"));
  EXPECT_FALSE((*writer)->add({.kind = Kind::erased, .table = "emb", .count = 2, .bytes = bytes}).ok());
  EXPECT_FALSE((*writer)->add({.kind = Kind::dense, .table = "two\nlines", .bytes = bytes}).ok());
  ASSERT_TRUE((*writer)->add({.kind = Kind::dense, .table = "fc", .count = 5, .bytes = bytes}).ok());
  ASSERT_TRUE((*writer)->commit("").ok());
  EXPECT_TRUE(status_of(scratch / "s").ok()) << "refused chunks are left out, the others are there";
}

TEST(Snapshot, AFullDiskLeavesTheOldOneInPlace) {
  const ScratchFolder scratch;
  ASSERT_TRUE(write_rows(scratch / "s", {.id = 7}, {{1, 10}}).ok());
  {
    const SmallDisk disk(100'000);
    const auto writer = SnapshotWriter::open(scratch / "s", {.id = 8});
    const std::string bytes(200'000, 'x');
    const SnapshotChunk chunk{.kind = Kind::dense, .table = "fc", .count = 50'000, .bytes = bytes};
    const Status status = (*writer)->add(chunk);
    EXPECT_EQ(status.code(), Code::resource_exhausted);
    EXPECT_THAT(status.message(), HasSubstr("part-00000"));
    EXPECT_EQ((*writer)->commit("").code(), Code::resource_exhausted);
  }
  EXPECT_EQ(*load(scratch / "s"), (Rows{{1, 10}}));
}

// The example of docs/formats.md.
TEST(SnapshotManifest, IsTheTextOfTheDocument) {
  SnapshotManifest manifest;
  manifest.info = {.id = 0x5eed, .kind = SnapshotKind::delta, .step = 4120, .server = 0, .servers = 2};
  manifest.info.parent = SnapshotParent{.name = "snapshot-11", .id = 0xf00d};
  manifest.state_bytes = 96;
  manifest.state_checksum = 0x0123456789abcdef;
  manifest.parts = {{.file = "part-00000", .bytes = 4'800'160, .chunks = 2, .checksum = 0xfedcba9876543210}};
  manifest.tables = {{.name = "SparseFeatFactors", .count = 100'000, .bytes = 4'800'000}};
  const std::string body =
      "argosy snapshot 1\n"
      "id 0000000000005eed\n"
      "kind delta\n"
      "step 4120\n"
      "server 0 of 2\n"
      "parent 000000000000f00d snapshot-11\n"
      "state 96 checksum 0123456789abcdef\n"
      "part part-00000 bytes 4800160 chunks 2 checksum fedcba9876543210\n"
      "table count 100000 bytes 4800000 name SparseFeatFactors\n";
  EXPECT_EQ(manifest_text(manifest), body + "end 387bea3b0414f373\n");
  EXPECT_EQ(*parse_manifest(manifest_text(manifest)), manifest);
}

}  // namespace
}  // namespace argosy::table
