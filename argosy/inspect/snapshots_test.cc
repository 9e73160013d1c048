// Snapshots as `argosy inspect` finds and compares them: whole ones, and those that a server takes for itself.
#include "argosy/inspect/snapshots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "argosy/base/file.h"
#include "argosy/inspect/server_state.h"
#include "argosy/table/snapshot_store.h"
#include "argosy/table/snapshot_writer.h"

namespace argosy::inspect {
namespace {

namespace fs = std::filesystem;
using table::SnapshotChunk;
using testing::HasSubstr;

// A row of one float behind its key.
struct Row {
  uint64_t key;
  float value;
  float state = 0;
};

class SnapshotsTest : public testing::Test {
 protected:
  SnapshotsTest()
      : folder_(fs::temp_directory_path() / fmt::format("argosy-snapshots-{}-{}", ::getpid(),
                                                        testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~SnapshotsTest() override { fs::remove_all(folder_); }
  fs::path at(const std::string& name) const { return folder_ / name; }

  // What one server of `servers` has: rows of 'emb', and the elements of 'fc'.
  static void write(const fs::path& snapshot, const std::vector<Row>& rows, const std::vector<float>& dense,
                    table::SnapshotInfo info = {}) {
    info.id = 7;
    const auto writer = table::SnapshotWriter::open(snapshot, info);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    for (const Row& row : rows) {
      const std::string_view bytes(reinterpret_cast<const char*>(&row), sizeof row);
      ASSERT_TRUE((*writer)->add({.kind = SnapshotChunk::Kind::rows, .table = "emb", .count = 1, .bytes = bytes}).ok());
    }
    const std::string_view bytes(reinterpret_cast<const char*>(dense.data()), dense.size() * sizeof(float));
    const Status added =
        dense.empty()
            ? Status()
            : (*writer)->add({.kind = SnapshotChunk::Kind::dense, .table = "fc", .count = dense.size(), .bytes = bytes});
    ASSERT_TRUE(added.ok()) << added.message();
    ASSERT_TRUE((*writer)->commit("state").ok());
  }
  static std::string text_of(const fs::path& path) {
    const auto text = server_state_text(path);
    return !text.ok() ? text.status().message() : text->value_or("nothing");
  }
  static std::string difference(const fs::path& a, const fs::path& b) {
    const auto found = compare_server_states(a, b);
    if (!found.ok()) return found.status().message();
    return !*found ? "nothing" : (*found)->equal ? "= " + (*found)->text : (*found)->text;
  }

  const fs::path folder_;
};

// A server's own has its part alone, and was told to be no model.
TEST_F(SnapshotsTest, AServersOwnIsDescribedByItsPart) {
  const fs::path own = at("server-1/snapshots/snapshot-3");
  write(own, {{1, 1}, {2, 2}}, {}, {.step = 1234, .server = 1, .servers = 2});
  EXPECT_THAT(text_of(own), HasSubstr("full, step 1,234, the part of one of 2 servers\n  emb "));
  EXPECT_THAT(text_of(own), HasSubstr("2 rows or elements"));
  EXPECT_EQ(text_of(own.string() + "/"), text_of(own)) << "a slash at the end";
  EXPECT_EQ(text_of(own / "server-1-of-2"), text_of(own)) << "the part itself";
  EXPECT_THAT(text_of(own.parent_path()), HasSubstr("the part of one of 2 servers")) << "the folder of all";
  write(own, {{3, 3}}, {1}, {.step = 1234, .server = 0, .servers = 2});
  EXPECT_THAT(text_of(own), HasSubstr("full, step 1,234, 2 servers\n"));
  EXPECT_EQ(text_of(at("nothing")), "nothing");
}

TEST_F(SnapshotsTest, AServerThatIsMissingAmongSeveralIsTold) {
  write(at("s"), {}, {1}, {.server = 0, .servers = 3});
  write(at("s"), {}, {}, {.server = 2, .servers = 3});
  EXPECT_THAT(text_of(at("s")), HasSubstr("server-1-of-3"));
}

TEST_F(SnapshotsTest, WhatDiffersIsNamedByTableAndKey) {
  write(at("a"), {{5, 1}, {9, 2}, {11, 3}}, {1, 2, 3});
  write(at("b"), {{9, 2}, {5, 1}, {11, 3}}, {1, 2, 3});
  EXPECT_EQ(difference(at("a"), at("b")), "= equal: 2 tables\n") << "the order of rows does not count";
  write(at("c"), {{5, 1}}, {1, 2, 3}, {.step = 9, .server = 0, .servers = 2});
  write(at("c"), {{9, 2}, {11, 3}}, {}, {.step = 9, .server = 1, .servers = 2});
  EXPECT_EQ(difference(at("a"), at("c")), "= equal: 2 tables, of step 0 and of step 9\n") << "nor how many servers wrote it";
  write(at("d"), {{5, 1}, {9, 4}, {12, 3}, {13, 3}}, {1, 2.5, 3.5});
  EXPECT_EQ(difference(at("a"), at("d")),
            "'emb': 1 of 2 common rows differ, the first has key 9; 1 row in A alone; 2 rows in B alone\n"
            "'fc': 2 of 3 elements differ, the first is 1\n");
  write(at("e"), {{5, 1, 0.5f}, {9, 2}, {11, 3}}, {1, 2});
  EXPECT_EQ(difference(at("a"), at("e")), "'emb': 1 of 3 common rows differ, the first has key 5\n'fc': 3 elements against 2\n")
      << "a row's state counts too";
  write(at("f"), {}, {1, 2, 3});
  EXPECT_EQ(difference(at("a"), at("f")), "'emb': is in A alone\n");
}

TEST_F(SnapshotsTest, WhatCannotBeComparedSaysWhy) {
  write(at("kept/server-0/snapshots/snapshot-1"), {{1, 1}}, {});
  const fs::path own = at("kept/server-0/snapshots/snapshot-1");
  EXPECT_THAT(difference(own, at("kept/server-0/snapshots")),
              HasSubstr("snapshots' is a directory of servers, or of snapshots; --diff"));
  ASSERT_TRUE(write_file_atomically(at("file"), "text").ok());
  EXPECT_THAT(difference(own, at("file")), HasSubstr("is a snapshot of servers, and '" + at("file").string() + "' is none"));
  EXPECT_EQ(difference(at("file"), at("file")), "nothing") << "that is for models";
}

}  // namespace
}  // namespace argosy::inspect
