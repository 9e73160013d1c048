#include "argosy/base/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

namespace argosy {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class RunRecords : public testing::Test {
 protected:
  RunRecords() {
    std::string pattern = (fs::temp_directory_path() / "argosy-run-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RunRecords() override { fs::remove_all(folder_); }

  const RunRecord record_{.job = "a job",
                          .run = "aaaa",
                          .launch = "bbbb",
                          .started = "2026-11-16 11:27:06 UTC",
                          .finished = "",
                          .server = 0,
                          .servers = 2,
                          .workers = 3,
                          .passes = 1,
                          .batches = 70,
                          .rows = 1234};
  fs::path folder_;
};

TEST_F(RunRecords, ComeBackAsTheyWereWritten) {
  const fs::path own = server_folder_in(folder_, 0);
  EXPECT_FALSE(read_run_record(own)->has_value());
  ASSERT_TRUE(write_run_record(own, record_).ok());
  EXPECT_EQ(**read_run_record(own), record_);
  RunRecord finished = record_;
  finished.finished = date_and_time();
  ASSERT_TRUE(write_run_record(own, finished).ok());
  EXPECT_EQ(**read_run_record(own), finished);
}

// The state of a version without records is somebody's model too.
TEST_F(RunRecords, AFolderWithoutOneCountsWhereItHasState) {
  fs::create_directories(folder_ / "server-0" / "log");
  EXPECT_FALSE(read_run_record(folder_ / "server-0")->has_value());
  std::ofstream(folder_ / "server-0" / "log" / "0") << "x";
  ASSERT_TRUE(read_run_record(folder_ / "server-0")->has_value());
  EXPECT_THAT(describe_runs(*find_old_runs(folder_)), HasSubstr("earlier version"));
}

TEST_F(RunRecords, AreFoundByServerWhereSomethingWasTrained) {
  RunRecord other = record_;
  other.server = 1;
  other.rows = 1000;
  RunRecord untrained = record_;
  untrained.batches = 0;
  ASSERT_TRUE(write_run_record(folder_ / "server-1", other).ok());
  ASSERT_TRUE(write_run_record(folder_ / "server-0", record_).ok());
  ASSERT_TRUE(write_run_record(folder_ / "server-2", untrained).ok());
  ASSERT_TRUE(write_run_record(folder_ / "server-0.before-x", record_).ok());
  const auto found = *find_old_runs(folder_);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(describe_runs(found),
            "run aaaa of job 'a job' (started 2026-11-16 11:27:06 UTC, 2 servers, not finished: 1 pass, 2,234 rows)");
  EXPECT_THAT(stopped_by_old_run(folder_, found).message(), AllOf(HasSubstr("--resume"), HasSubstr("--fresh")));
  EXPECT_TRUE(find_old_runs(folder_ / "absent")->empty());
}

// The record's numbers are a little behind what a server has; whether there is a run at all must not depend on them.
TEST_F(RunRecords, AreFoundFromTheFirstBatchOn) {
  RunRecord behind = record_;
  behind.batches = 0;
  ASSERT_TRUE(write_run_record(folder_ / "server-0", behind).ok());
  EXPECT_TRUE(find_old_runs(folder_)->empty());
  for (int twice = 0; twice < 2; ++twice) ASSERT_TRUE(mark_trained(folder_ / "server-0").ok());
  EXPECT_EQ(find_old_runs(folder_)->size(), 1u);
  EXPECT_EQ(mark_trained(folder_ / "absent").code(), Code::unavailable);
}

TEST_F(RunRecords, AFolderIsMovedAsideAndNeverOverAnother) {
  for (const char* name : {"server-0.before-run1", "server-0.before-run1-2"}) {
    ASSERT_TRUE(write_run_record(folder_ / "server-0", record_).ok());
    EXPECT_EQ(*move_aside(folder_ / "server-0", "run1"), folder_ / name);
    EXPECT_FALSE(fs::exists(folder_ / "server-0"));
    EXPECT_EQ(**read_run_record(folder_ / name), record_);
  }
}

TEST_F(RunRecords, AFolderBelongsToOneProcess) {
  auto first = lock_server_folder(folder_ / "server-0");
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(lock_server_folder(folder_ / "server-0").status().code(), Code::already_exists);
  first->close();
  EXPECT_TRUE(lock_server_folder(folder_ / "server-0").ok());
}

}  // namespace
}  // namespace argosy
