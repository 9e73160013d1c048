#include "argosy/ps/server/repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/ps/server/server_journal.h"
#include "argosy/ps/server/server_scratch.h"
#include "argosy/ps/state/state_scratch.h"
#include "argosy/table/log_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

// The directory of a server that was killed after six pushes.
class Repair : public testing::Test {
 protected:
  Repair() {
    options_ = InProcess::options();
    options_.directory = folder_.path() / "server-0";
    InProcess process(options_);
    Worker worker = process.worker(spec_, 0);
    EXPECT_TRUE(worker.hello().ok());
    for (uint32_t i = 0; i < 6; ++i) EXPECT_TRUE(worker.push({batch_id(0, i)}, {count_at({5, 10 + i})}).ok());
  }

  fs::path log() const { return options_.directory / "log"; }
  fs::path file() const { return table::segment_path(log(), 0); }

  StoredRecord push(uint64_t batch, bool statistics) {
    wire::PushRequest request;
    *request.mutable_caller() = caller_of(0, 1);
    request.add_batches(batch);
    wire::Section* section = request.add_sections();
    section->set_count(1);
    section->set_statistics(statistics);
    return stored(wire::PUSH, request, {5}, std::vector<float>(statistics ? 4 : 2, -1.0f));
  }
  void append(const StoredRecord& record) {
    auto journal = Journal::open(log(), {});
    ASSERT_OK(journal);
    ASSERT_OK((*journal)->append(record.record()));
  }
  // How often row 5 counted, as the next process says.
  float count_after_restart() {
    InProcess process(options_);
    Worker reader = process.worker(spec_, 0);
    EXPECT_TRUE(reader.hello().ok());
    return (*reader.pull_rows(0, {5}))[0];
  }

  const Folder folder_;
  const JobSpec spec_ = job(Mode::async, 1, {counting_rows()});
  ServerOptions options_;
};

// A log of a version that let a record through which cannot be applied: named at the start, listed, set aside, and gone from the
// way.
TEST_F(Repair, SetsARecordAsideThatCannotBeApplied) {
  append(push(batch_id(0, 6), true));
  append(push(batch_id(0, 7), false));
  const std::string before = table::bytes_of(file());
  const Status refused = Server::start(options_).status();
  EXPECT_THAT(refused.message(), HasSubstr(file().string()));
  EXPECT_THAT(refused.message(), HasSubstr("record at position "));
  EXPECT_THAT(refused.message(), HasSubstr("PUSH of worker 0, batch 6 of round 0"));
  EXPECT_THAT(refused.message(), HasSubstr("keeps no shows and clicks"));
  EXPECT_THAT(refused.message(), HasSubstr("argosy repair " + options_.directory.string()));

  const auto listed = repair(folder_.path(), false);
  ASSERT_OK(listed);
  ASSERT_EQ(listed->size(), 1u);
  ASSERT_EQ(listed->front().problems.size(), 1u);
  const LogProblem problem = listed->front().problems[0];
  EXPECT_EQ(listed->front().records, 8u);
  EXPECT_EQ(problem.what, "PUSH of worker 0, batch 6 of round 0");
  EXPECT_TRUE(problem.moved_to.empty());
  EXPECT_EQ(table::bytes_of(file()), before) << "listing changes nothing";

  const auto moved = repair(options_.directory, true);
  ASSERT_OK(moved);
  EXPECT_EQ(table::bytes_of(moved->front().problems[0].moved_to), before.substr(problem.position, problem.bytes));
  EXPECT_EQ(count_after_restart(), 7) << "the other records, before and behind it, count";
  EXPECT_TRUE(repair(folder_.path(), false)->front().problems.empty());
}

TEST_F(Repair, SetsDamagedBytesAsideWhateverIsDamaged) {
  const std::string whole = table::bytes_of(file());
  std::vector<uint64_t> places;
  {
    auto journal = Journal::open(log(), {});
    ASSERT_OK(journal);
    ASSERT_OK((*journal)->log().replay(0, [&](uint64_t position, Bytes) {
      places.push_back(position);
      return Status();
    }));
  }
  for (const uint64_t damage : {places[3] + 4, places[3] + 40}) {  // in its header, and in what it holds
    std::string damaged = whole;
    damaged[damage] ^= 1;
    table::put_bytes(file(), damaged);
    fs::remove(log() / "SYNCED");
    EXPECT_THAT(Server::start(options_).status().message(), HasSubstr("argosy repair"));
    const auto moved = repair(options_.directory, true);
    ASSERT_OK(moved);
    ASSERT_EQ(moved->front().problems.size(), 1u);
    EXPECT_EQ(moved->front().problems[0].position, places[3]);
    EXPECT_EQ(count_after_restart(), 5);
    fs::remove(moved->front().problems[0].moved_to);
  }
}

TEST_F(Repair, LeavesARunningServerAlone) {
  InProcess process(options_);
  EXPECT_EQ(repair(folder_.path(), false).status().code(), Code::failed_precondition);
  EXPECT_EQ(repair(folder_.path() / "nowhere", false).status().code(), Code::not_found);
}

}  // namespace
}  // namespace argosy::ps
