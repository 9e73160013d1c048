// The text that says what a part of a snapshot consists of: any other text is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "argosy/base/random.h"
#include "argosy/table/checksum.h"
#include "argosy/table/snapshot_format.h"

namespace argosy::table {
namespace {

using testing::HasSubstr;

std::string name_of(Random& random) {
  std::string name(1, static_cast<char>('a' + random.below(26)));
  for (uint64_t size = random.below(12); size > 0; --size) name += "abc019_-.@"[random.below(10)];
  return name;
}

SnapshotManifest random_manifest(Random& random) {
  SnapshotManifest manifest;
  manifest.info.id = random();
  manifest.info.step = random() >> random.below(64);
  manifest.info.servers = 1 + static_cast<uint32_t>(random.below(100));
  manifest.info.server = static_cast<uint32_t>(random.below(manifest.info.servers));
  manifest.info.kind = static_cast<SnapshotKind>(random.below(3));
  if (manifest.info.kind == SnapshotKind::delta) manifest.info.parent = SnapshotParent{name_of(random) + " of today", random()};
  manifest.state_bytes = random.below(1 << 20);
  manifest.state_checksum = random();
  for (uint64_t parts = random.below(4); parts > 0; --parts)
    manifest.parts.push_back({name_of(random), random.below(1 << 30), random.below(100), random()});
  for (uint64_t tables = random.below(4); tables > 0; --tables)
    manifest.tables.push_back({name_of(random) + " / with spaces", random() >> 8, random() >> 8});
  return manifest;
}

// The text with a line changed, and a checksum that fits: written by somebody, not damaged.
std::string with_line(const SnapshotManifest& manifest, const std::string& old_line, const std::string& line) {
  std::string text = manifest_text(manifest);
  text.resize(text.rfind("end "));
  const size_t at = text.find(old_line);
  EXPECT_NE(at, std::string::npos) << old_line;
  text.replace(at, old_line.size(), line);
  return text + fmt::format("end {:016x}\n", checksum_of(std::as_bytes(std::span(text))));
}

TEST(SnapshotManifests, ComeBackAsTheyWere) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 500; ++trial) {
    const SnapshotManifest manifest = random_manifest(random);
    ASSERT_TRUE(check_info(manifest.info).ok()) << check_info(manifest.info).message();
    const auto found = parse_manifest(manifest_text(manifest));
    ASSERT_TRUE(found.ok()) << found.status().message() << "\n" << manifest_text(manifest);
    ASSERT_EQ(*found, manifest);
  }
}

// Wherever a text ends or a byte of it is another, it is data_loss: never another manifest.
TEST(SnapshotManifests, AnyDamageIsSeen) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 20; ++trial) {
    const std::string good = manifest_text(random_manifest(random));
    for (size_t keep = 0; keep < good.size(); ++keep)
      ASSERT_EQ(parse_manifest(std::string_view(good).substr(0, keep)).status().code(), Code::data_loss) << keep;
    for (int flips = 0; flips < 200; ++flips) {
      std::string bad = good;
      bad[random.below(bad.size())] ^= static_cast<char>(1 << random.below(8));
      ASSERT_EQ(parse_manifest(bad).status().code(), Code::data_loss) << bad;
    }
    ASSERT_FALSE(parse_manifest(good + "more\n").ok());
    ASSERT_FALSE(parse_manifest(good + good).ok()) << "two saves in one file";
  }
}

// With a checksum that fits, what no writer writes is refused by its line: file names leave no folder, and numbers are numbers.
TEST(SnapshotManifests, WhatNoWriterWritesIsRefusedByItsLine) {
  SnapshotManifest manifest;
  manifest.info.id = 1;
  manifest.info.servers = 2;
  manifest.parts.push_back({"part-0", 10, 1, 7});
  manifest.tables.push_back({"emb", 3, 30});
  ASSERT_TRUE(parse_manifest(with_line(manifest, "kind full", "kind base")).ok()) << "another kind is one that can be";
  const std::string part = "part part-0 bytes 10", table = "table count 3";
  for (const auto& [old_line, line] : std::vector<std::pair<std::string, std::string>>{{"argosy snapshot 1", "argosy snapshot 2"},
                                                                                       {"kind full", "kind whole"},
                                                                                       {"kind full", "kind full of rows"},
                                                                                       {"server 0 of 2", "server 0 of 2000000"},
                                                                                       {"server 0 of 2", "server -1 of 2"},
                                                                                       {"server 0 of 2", "server 2 of 2"},
                                                                                       {"step 0", "step 0x10"},
                                                                                       {"step 0", "step 18446744073709551616"},
                                                                                       {"step 0", "stop 0"},
                                                                                       {part, "part ../part-0 bytes 10"},
                                                                                       {part, "part .part-0 bytes 10"},
                                                                                       {part, "part a/b bytes 10"},
                                                                                       {part, "part  bytes 10"},
                                                                                       {part, "part part-0 bytes ten"},
                                                                                       {part, "part part-0 size 10"},
                                                                                       {table, "table count many"},
                                                                                       {" name emb", " name "},
                                                                                       {"step 0\n", "step 0\n\n"}}) {
    const auto found = parse_manifest(with_line(manifest, old_line, line));
    ASSERT_FALSE(found.ok()) << line;
    EXPECT_EQ(found.status().code(), Code::data_loss);
    EXPECT_THAT(found.status().message(), HasSubstr("which a manifest of version 1 cannot have")) << line;
  }
}

// Whole lines, which together are no snapshot.
TEST(SnapshotManifests, PartsThatDoNotGoTogetherAreRefused) {
  SnapshotManifest manifest;
  manifest.info.servers = 1;
  EXPECT_FALSE(parse_manifest(with_line(manifest, "server 0 of 1\n", "")).ok()) << "nobody says whose part it is";
  EXPECT_THAT(parse_manifest(with_line(manifest, "kind full", "kind delta")).status().message(),
              HasSubstr("kind delta needs a parent"));
  manifest.info.parent = SnapshotParent{"base", 3};
  EXPECT_THAT(parse_manifest(manifest_text(manifest)).status().message(), HasSubstr("kind full has not a parent"));
  manifest.info.kind = SnapshotKind::delta;
  ASSERT_TRUE(parse_manifest(manifest_text(manifest)).ok());
  for (const char* parent : {"../base", ".base", "a/b"}) {
    manifest.info.parent->name = parent;
    EXPECT_THAT(parse_manifest(manifest_text(manifest)).status().message(),
                HasSubstr("is not that of a folder beside the snapshot"));
  }
}

}  // namespace
}  // namespace argosy::table
