#include "argosy/ps/server/snapshotter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "argosy/base/mutex.h"
#include "argosy/base/progress.h"
#include "argosy/ps/server/call_scratch.h"
#include "argosy/ps/server/server_scratch.h"
#include "argosy/table/snapshot_store.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

wire::Caller caller_of(uint64_t incarnation) {
  wire::Caller caller;
  caller.set_incarnation(incarnation);
  return caller;
}

// ---- Operations, without any work.

TEST(LongOperations, AreAskedForUntilTheyAreDone) {
  LongOperations operations;
  const LongOperations::Key key{wire::SAVE_SNAPSHOT, 5, false};
  wire::SaveSnapshotRequest request;
  const Asked first = ask(wire::SAVE_SNAPSHOT, request, 0), second = ask(wire::SAVE_SNAPSHOT, request, 60);
  const auto operation = operations.ask(key, caller_of(1), 1, first.call);
  ASSERT_NE(operation, nullptr);
  EXPECT_EQ(operations.ask(key, caller_of(1), 1, second.call), nullptr) << "it is under way";
  operation->set_total(10);
  EXPECT_TRUE(operation->progress(4).ok());
  ASSERT_EQ(running_work().size(), 1) << "its process shows it";
  EXPECT_EQ(running_work()[0].what, "save");
  EXPECT_EQ(running_work()[0].ratio, 0.4);
  operations.answer_due();
  ASSERT_TRUE(first.answer->here()) << "its caller is in a hurry";
  EXPECT_FALSE(second.answer->here());
  const auto running = first.answer->get<wire::SaveSnapshotReply>();
  EXPECT_TRUE(running->running());
  EXPECT_EQ(running->rows_done(), 4u);
  EXPECT_EQ(running->rows_total(), 10u);
  wire::SaveSnapshotReply done;
  done.set_rows(10);
  operations.finish(operation, done.SerializeAsString());
  EXPECT_TRUE(running_work().empty());
  EXPECT_EQ(second.answer->get<wire::SaveSnapshotReply>()->rows(), 10u);
  const Asked later = ask(wire::SAVE_SNAPSHOT, request);
  EXPECT_EQ(operations.ask(key, caller_of(2), 2, later.call), nullptr) << "done is done, for the next process of the worker too";
  EXPECT_EQ(later.answer->get<wire::SaveSnapshotReply>()->rows(), 10u);
}

TEST(LongOperations, FailForTheAttemptThatAskedAndBeginAnewForTheNext) {
  LongOperations operations;
  const LongOperations::Key key{wire::LOAD_SNAPSHOT, 5, false};
  wire::LoadSnapshotRequest request;
  const auto begin = [&](uint64_t attempt) {
    const Asked asked = ask(wire::LOAD_SNAPSHOT, request);
    return std::pair(operations.ask(key, caller_of(1), attempt, asked.call), asked.answer);
  };
  auto [first, answer] = begin(1);
  ASSERT_NE(first, nullptr);
  EXPECT_FALSE(operations.cancel(6, 9)) << "another one";
  EXPECT_TRUE(operations.cancel(5, 1));
  const Status ended = first->progress(1);
  EXPECT_EQ(ended.code(), Code::cancelled);
  operations.finish(first, ended);
  EXPECT_FALSE(operations.cancel(5, 1)) << "it is over";
  EXPECT_FALSE(operations.cancel(5, 3)) << "nothing is there yet";
  const auto [again, late_answer] = begin(1);
  EXPECT_EQ(again, nullptr) << "a call that comes late does not begin what was cancelled";
  EXPECT_EQ(late_answer->get<wire::LoadSnapshotReply>().status().code(), Code::cancelled);
  const auto [second, second_answer] = begin(2);
  ASSERT_NE(second, nullptr);
  operations.finish(second, Status::unavailable("the disk is away"));
  const auto [third, third_answer] = begin(2);
  EXPECT_NE(third, nullptr) << "what may be tried again is";
  operations.finish(third, Status::data_loss("damaged"));
  EXPECT_EQ(third_answer->get<wire::LoadSnapshotReply>().status().code(), Code::data_loss);
  EXPECT_EQ(begin(2).first, nullptr) << "a late call of an attempt that has met the error";
  EXPECT_EQ(begin(3).second->get<wire::LoadSnapshotReply>().status().code(), Code::cancelled) << "cancelled before it began";
  const auto [fourth, fourth_answer] = begin(4);
  ASSERT_NE(fourth, nullptr);
  operations.stop();
  EXPECT_EQ(fourth_answer->get<wire::LoadSnapshotReply>().status().code(), Code::unavailable);
  EXPECT_EQ(fourth->alive().code(), Code::cancelled);
}

// ---- A Snapshotter over a state without a server.

class Host : public SnapshotHost {
 public:
  Host() : state_(std::move(State::make(job(Mode::async, 1, {counting_rows()}), {.job = "test"})).value()) {
    wire::HelloRequest hello;
    hello.set_process_id(1);
    EXPECT_TRUE(commit(wire::HELLO, hello.SerializeAsString()).ok());
  }

  void push(std::vector<uint64_t> keys) {
    table::SparseTable& table = state_->tables().sparse(0);
    const std::vector<float> ones(keys.size() * 2, -1);
    EXPECT_TRUE(table.apply(table.begin_step(1), keys, ones).ok());
    ++changes_;
  }
  std::vector<float> pull(std::vector<uint64_t> keys) {
    std::vector<float> rows(keys.size() * 2);
    EXPECT_TRUE(state_->tables().sparse(0).pull(keys, rows, false).ok());
    return rows;
  }

  State* state() override { return state_.get(); }
  table::RecordLog* log() override { return log_.get(); }
  uint64_t changes() const override { return changes_; }
  uint64_t news() const override { return 0; }
  Result<double> between_changes(const std::function<Status(State&)>& work) override {
    if (before_) before_();
    const Status status = work(*state_);
    if (!status.ok()) return status;
    if (after_) after_();
    return 0.001;
  }
  Status in_order(const std::function<void(State&)>& work) override {
    work(*state_);
    return {};
  }
  Status commit(wire::Method method, const std::string& header) override {
    return state_->apply({.method = method, .header = header});
  }
  void values_changed() override {}

  std::function<void()> before_, after_;  // the moment of a cut
  std::unique_ptr<table::RecordLog> log_;       // null: none

 private:
  const std::unique_ptr<State> state_;
  std::atomic<uint64_t> changes_ = 0;
};

class SnapshotterTest : public testing::Test {
 protected:
  SnapshotterOptions options(Durability durability = Durability::snapshot) const {
    return {.directory = folder_.path() / "server",
            .durability = durability,
            .snapshot_seconds = 0,
            .roots = {folder_.path()},
            .piece_bytes = 1};
  }
  wire::SaveSnapshotRequest save_request(uint64_t id, const std::string& name, bool publish = false) const {
    wire::SaveSnapshotRequest request;
    *request.mutable_caller() = caller_of(1);
    request.set_folder((folder_.path() / name).string());
    request.set_id(id);
    request.set_publish(publish);
    return request;
  }
  wire::LoadSnapshotRequest load_request(uint64_t id, const std::string& name) const {
    wire::LoadSnapshotRequest request;
    *request.mutable_caller() = caller_of(1);
    request.set_folder((folder_.path() / name).string());
    request.set_id(id);
    return request;
  }
  Result<wire::SaveSnapshotReply> save(Snapshotter& snapshotter, const wire::SaveSnapshotRequest& request) {
    const Asked asked = ask(wire::SAVE_SNAPSHOT, request);
    snapshotter.save(request, asked.call);
    return asked.answer->get<wire::SaveSnapshotReply>();
  }
  Result<wire::LoadSnapshotReply> load(Snapshotter& snapshotter, const wire::LoadSnapshotRequest& request) {
    const Asked asked = ask(wire::LOAD_SNAPSHOT, request);
    snapshotter.load(request, asked.call);
    return asked.answer->get<wire::LoadSnapshotReply>();
  }

  const Folder folder_;
  Host host_;
};

// A power cut under durability=wal takes what was not synced: it must not take the place in the log that a snapshot names.
TEST_F(SnapshotterTest, NamesAPlaceInTheLogThatIsOnTheDisk) {
  auto log = table::RecordLog::open(folder_.path() / "log", {});
  ASSERT_TRUE(log.ok()) << log.status().message();
  host_.log_ = std::move(*log);
  host_.before_ = [&] {  // between the beginning of a new file and the moment
    const std::string record = "a push";
    const Bytes piece = std::as_bytes(std::span(record));
    EXPECT_TRUE(host_.log_->append({&piece, 1}).ok());
  };
  host_.push({1, 2});
  SnapshotterOptions with_log = options(Durability::wal);
  std::optional<uint64_t> synced;
  with_log.written = [&](const std::filesystem::path&) { synced = host_.log_->synced(); };
  Snapshotter snapshotter(host_, with_log);
  const Status cut = snapshotter.cut();
  ASSERT_TRUE(cut.ok()) << cut.message();
  EXPECT_EQ(synced, host_.log_->end());
}

// Rows are those of the moment, although everybody goes on before the first of them is written.
TEST_F(SnapshotterTest, WritesTheMomentWhilePushesGoOn) {
  host_.push({1, 2});
  host_.after_ = [&] { host_.push({2, 3}); };
  Snapshotter snapshotter(host_, options());
  snapshotter.start();
  const auto saved = save(snapshotter, save_request(5, "model"));
  ASSERT_TRUE(saved.ok()) << saved.status().message();
  EXPECT_EQ(saved->rows(), 2u);
  ASSERT_TRUE(save(snapshotter, save_request(5, "model", true)).ok());
  host_.after_ = nullptr;
  EXPECT_THAT(host_.pull({1, 2, 3}), ElementsAre(1, 1, 2, 2, 1, 1));
  ASSERT_TRUE(load(snapshotter, load_request(6, "model")).ok());
  EXPECT_THAT(host_.pull({1, 2, 3}), ElementsAre(1, 1, 1, 1, 0, 0));
}

// A load that is cancelled, however late, or whose caller was replaced, or that cannot be made safe, leaves the old values.
TEST_F(SnapshotterTest, ALoadHappensAsAWholeOrNotAtAll) {
  host_.push({1});
  Snapshotter snapshotter(host_, options());
  snapshotter.start();
  ASSERT_TRUE(save(snapshotter, save_request(5, "model")).ok());
  ASSERT_TRUE(save(snapshotter, save_request(5, "model", true)).ok());
  host_.push({1, 2});
  const std::vector<float> before = host_.pull({1, 2});
  wire::CancelOperationRequest cancel;
  *cancel.mutable_caller() = caller_of(1);
  cancel.set_id(7);
  cancel.set_attempt(70);
  host_.before_ = [&] { EXPECT_TRUE(snapshotter.cancel(cancel)); };
  wire::LoadSnapshotRequest request = load_request(7, "model");
  request.set_attempt(70);
  EXPECT_EQ(load(snapshotter, request).status().code(), Code::cancelled);
  EXPECT_EQ(host_.pull({1, 2}), before);
  host_.before_ = [&] {
    wire::HelloRequest hello;
    hello.set_process_id(2);
    EXPECT_TRUE(host_.commit(wire::HELLO, hello.SerializeAsString()).ok());
  };
  EXPECT_EQ(load(snapshotter, load_request(8, "model")).status().code(), Code::aborted);
  EXPECT_EQ(host_.pull({1, 2}), before);
  host_.before_ = nullptr;
  std::ofstream(folder_.path() / "server") << "a file where the folder of snapshots should be";
  request = load_request(9, "model");
  *request.mutable_caller() = caller_of(2);
  EXPECT_FALSE(load(snapshotter, request).ok());
  EXPECT_EQ(host_.pull({1, 2}), before);
  EXPECT_EQ(host_.state()->loaded(9), nullptr);
  std::filesystem::remove(folder_.path() / "server");
  request.set_id(10);
  EXPECT_TRUE(load(snapshotter, request).ok());
  EXPECT_THAT(host_.pull({1, 2}), ElementsAre(1, 1, 0, 0));
}

TEST_F(SnapshotterTest, KeepsTheLastThree) {
  Snapshotter snapshotter(host_, options());
  for (int i = 0; i < 5; ++i) {
    host_.push({1});
    ASSERT_TRUE(snapshotter.unsaved());
    ASSERT_TRUE(snapshotter.cut().ok());
    EXPECT_FALSE(snapshotter.unsaved());
  }
  EXPECT_THAT(*table::list_snapshots(folder_.path() / "server/snapshots"), ElementsAre(3, 4, 5));
  EXPECT_EQ(snapshotter.snapshots(), 5u);
}

// What was written is read back before anything older goes: here the disk has lost a bit of it.
TEST_F(SnapshotterTest, RemovesNothingForOneThatCannotBeReadBack) {
  SnapshotterOptions checked = options();
  checked.keep = 1;
  std::string damaged;
  checked.written = [&](const std::filesystem::path& part) {
    if (damaged.empty()) return;
    std::fstream file(part / damaged, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<long>(std::filesystem::file_size(part / damaged) / 2));
    file.put('\x55');
  };
  Snapshotter snapshotter(host_, checked);
  host_.push({1});
  ASSERT_TRUE(snapshotter.cut().ok());
  for (const char* file : {"part-00000", "state", "manifest"}) {
    damaged = file;
    host_.push({1});
    const Status status = snapshotter.cut();
    EXPECT_EQ(status.code(), Code::data_loss) << file;
    EXPECT_THAT(status.message(), HasSubstr("cannot be read back")) << file;
    EXPECT_TRUE(snapshotter.unsaved());
    EXPECT_TRUE(table::latest_snapshot(folder_.path() / "server/snapshots")->has_value()) << file;
  }
  damaged.clear();
  ASSERT_TRUE(snapshotter.cut().ok());
  EXPECT_EQ((*table::latest_snapshot(folder_.path() / "server/snapshots"))->folder().filename(), "snapshot-5");
}

// Alerts go by it: the age of the last snapshot says nothing where the first one fails.
TEST_F(SnapshotterTest, CountsThoseThatFail) {
  SnapshotterOptions failing = options();
  failing.snapshot_seconds = 0.01;
  failing.written = [](const std::filesystem::path& part) { std::filesystem::remove(part / "manifest"); };
  Snapshotter snapshotter(host_, failing);
  host_.push({1});
  snapshotter.start();
  const Deadline deadline = Deadline::after_seconds(20);
  while (snapshotter.failures() == 0 && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GE(snapshotter.failures(), 1u);
  snapshotter.stop();
}

TEST_F(SnapshotterTest, StopsInTheMiddle) {
  host_.push({1});
  auto snapshotter = std::make_unique<Snapshotter>(host_, options());
  snapshotter->start();
  const Asked asked = ask(wire::SAVE_SNAPSHOT, save_request(5, "model"));
  snapshotter->save(save_request(5, "model"), asked.call);
  snapshotter.reset();
  (void)asked.answer->get<wire::SaveSnapshotReply>();  // answered, one way or the other
  EXPECT_TRUE(asked.answer->here());
}

}  // namespace
}  // namespace argosy::ps
