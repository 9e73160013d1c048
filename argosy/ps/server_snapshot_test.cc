#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <future>
#include <thread>

#include "argosy/ps/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

ServerOptions options_for(const Folder& folder, int server = 0, int servers = 1) {
  ServerOptions options = InProcess::options();
  options.directory = folder.path() / ("server-" + std::to_string(server));
  options.server = server;
  options.servers = servers;
  return options;
}

Result<wire::SaveSnapshotReply> save(Worker& worker, const std::filesystem::path& folder, wire::SnapshotKind kind, uint64_t id,
                                     bool publish, const std::string& extra = "") {
  wire::SaveSnapshotRequest request;
  *request.mutable_caller() = worker.caller();
  request.set_folder(folder.string());
  request.set_kind(kind);
  request.set_id(id);
  request.set_publish(publish);
  request.set_extra(extra);
  return worker.call<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, request);
}

Result<wire::LoadSnapshotReply> load(Worker& worker, const std::filesystem::path& folder) {
  wire::LoadSnapshotRequest request;
  *request.mutable_caller() = worker.caller();
  request.set_folder(folder.string());
  return worker.call<wire::LoadSnapshotReply>(wire::LOAD_SNAPSHOT, request);
}

bool wait_for_snapshots(Worker& worker, uint64_t count) {
  const Deadline deadline = Deadline::after_seconds(60);
  while (!deadline.passed()) {
    if (worker.stats()->snapshots() >= count) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

// The log is cut at each snapshot, and snapshot plus rest of the log are the state.
TEST(ServerSnapshot, ReplacesTheLogWhenItIsFull) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.log_limit_bytes = 20'000;
  const JobSpec spec = job(Mode::async, 1, {counting_rows(), counting_dense()});
  InProcess process(options);
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(worker.init_dense(1, {1, 2, 3, 4}).ok());
  for (uint32_t i = 0; i < 600; ++i) {
    ASSERT_EQ(*worker.push({batch_id(0, i)}, {count_at({7, 100 + i})}, {{1, {-1, 0, 0, 0}}}), wire::APPLIED);
    if (i % 200 == 99) process.restart();
  }
  const Deadline soon = Deadline::after_seconds(60);  // 600 pushes are 100 KB
  while (worker.stats()->log_bytes() > 20'000 && !soon.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LE(worker.stats()->log_bytes(), 20'000u);
  process.restart();
  EXPECT_EQ(*worker.push({batch_id(0, 599)}, {count_at({7})}), wire::DUPLICATE);
  EXPECT_THAT(*worker.pull_rows(0, {7, 100, 699}), ElementsAre(600, 600, 1, 1, 1, 1));
  EXPECT_THAT(*worker.pull_dense(1), ElementsAre(601, 2, 3, 4));
}

// A process that dies in its very first snapshot leaves a folder without a part; its log has everything.
TEST(ServerSnapshot, IsNotMissedWhereTheFirstOneWasNeverFinished) {
  Folder folder;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at({7})}).ok());
  process.kill();
  std::filesystem::create_directories(folder.path() / "server-0" / "snapshots" / "snapshot-1");
  process.start();
  EXPECT_THAT(*worker.pull_rows(0, {7}), ElementsAre(1, 1));
  // A part that is there and cannot be read is damage, and is not passed over.
  process.kill();
  std::filesystem::create_directories(folder.path() / "server-0" / "snapshots" / "snapshot-1" / "server-0-of-1");
  EXPECT_EQ(Server::start(options_for(folder)).status().code(), Code::data_loss);
}

// A sync step that is half pushed, a gathering and a rate are in the snapshot, not only in the log.
TEST(ServerSnapshot, HoldsEverythingElseTheServerKnows) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.snapshot_seconds = 0.05;
  const JobSpec spec = job(Mode::sync, 2, {counting_rows()});
  InProcess process(options);
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_TRUE(first.hello().ok());
  ASSERT_TRUE(second.hello().ok());
  auto gathering = std::async(std::launch::async, [&] { return first.gather("x", 1, "one"); });
  ASSERT_TRUE(second.gather("x", 1, "two").ok());
  ASSERT_TRUE(gathering.get().ok());
  ASSERT_TRUE(first.push({batch_id(0, 0)}, {count_at({5}, 2)}, {}, Position{0, 0}).ok());
  ASSERT_TRUE(second.push({batch_id(0, 0)}, {count_at({5}, 2)}, {}, Position{0, 0}).ok());
  ASSERT_TRUE(first.push({batch_id(0, 1)}, {count_at({5}, 2)}, {}, Position{0, 1}).ok());
  ASSERT_TRUE(wait_for_snapshots(first, first.stats()->snapshots() + 1));
  process.restart();
  EXPECT_THAT(*second.gather("x", 1, "two"), ElementsAre("one", "two"));
  EXPECT_EQ(*first.push({batch_id(0, 1)}, {count_at({5}, 2)}, {}, Position{0, 1}), wire::DUPLICATE);
  ASSERT_TRUE(second.push({batch_id(0, 1)}, {count_at({5}, 4)}, {}, Position{0, 1}).ok());
  EXPECT_THAT(*first.pull_rows(0, {5}, Position{0, 2}), ElementsAre(5, 5));
}

// durability=snapshot loses what came after, and says nothing else: a sync job goes on where its workers are.
TEST(ServerSnapshot, IsAllThatIsLeftWithoutALog) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.durability = Durability::snapshot;
  const JobSpec spec = job(Mode::sync, 1, {counting_rows()});
  InProcess process(options);
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(wait_for_snapshots(worker, 1));  // at once, for the new worker
  for (uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(worker.push({batch_id(0, i)}, {count_at({5})}, {}, Position{0, i}).ok());
  process.restart();
  EXPECT_EQ(*worker.push({batch_id(0, 3)}, {count_at({5})}, {}, Position{0, 3}), wire::APPLIED);
  EXPECT_THAT(*worker.pull_rows(0, {5}, Position{0, 4}), ElementsAre(1, 1));
  ASSERT_TRUE(process.server->stop().ok());  // an orderly end keeps everything
  process.restart();
  EXPECT_THAT(*worker.pull_rows(0, {5}), ElementsAre(1, 1));
}

// Two servers save, three load: every row and element arrives once.
TEST(ServerSnapshot, IsSavedByTwoAndLoadedByThree) {
  Folder folder;
  TableSpec rows = counting_rows();
  rows.rule = "adagrad";
  TableSpec dense = counting_dense("w", 40'000);
  dense.rule = "adam";
  const JobSpec spec = job(Mode::async, 1, {rows, dense});
  const std::filesystem::path target = folder.path() / "model";
  std::map<uint64_t, std::vector<float>> expected;
  std::vector<float> weights(40'000);
  {
    std::vector<std::unique_ptr<InProcess>> servers;
    std::vector<Worker> links;
    for (int i = 0; i < 2; ++i) {
      servers.push_back(std::make_unique<InProcess>(options_for(folder, i, 2)));
      links.push_back(servers.back()->worker(spec, 0));
      links.back().set_server(i, 2);
      ASSERT_TRUE(links.back().hello().ok());
      const Range range = dense_range(spec, 1, 2, i);
      std::vector<float> first;
      for (uint64_t e = range.begin; e < range.end; ++e) first.push_back(static_cast<float>(e));
      ASSERT_TRUE(links.back().init_dense(1, first).ok());
      std::vector<uint64_t> keys;
      for (uint64_t key = 0; key < 500; ++key) {
        if (server_of(key, 2) == i) keys.push_back(key);
      }
      ASSERT_TRUE(links.back().push({batch_id(0, 0)}, {count_at(keys)}, {{1, std::vector<float>(range.size(), 0.5f)}}).ok());
      const auto values = *links.back().pull_rows(0, keys);
      for (size_t k = 0; k < keys.size(); ++k) expected[keys[k]] = {values[2 * k], values[2 * k + 1]};
      std::ranges::copy(*links.back().pull_dense(1), weights.begin() + static_cast<long>(range.begin));
      ASSERT_TRUE(save(links.back(), target, wire::FULL, 77, false, "cursor 5").ok());
    }
    ASSERT_TRUE(save(links[0], target, wire::FULL, 77, true).ok());
    ASSERT_TRUE(save(links[0], target, wire::FULL, 77, true).ok());  // repeated
  }
  uint64_t loaded = 0;
  for (int i = 0; i < 3; ++i) {
    ServerOptions options = options_for(folder, i, 3);
    options.directory = folder.path() / "three" / std::to_string(i);
    InProcess process(options);
    Worker worker = process.worker(spec, 0);
    worker.set_server(i, 3);
    ASSERT_TRUE(worker.hello().ok());
    const auto report = load(worker, target);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->extra(), "cursor 5");
    loaded += report->tables(0).rows();
    process.restart();  // what was loaded is safe
    for (const auto& [key, values] : expected) {
      if (server_of(key, 3) != i) continue;
      ASSERT_THAT(*worker.pull_rows(0, {key}), ElementsAre(values[0], values[1]));
    }
    const Range range = dense_range(spec, 1, 3, i);
    ASSERT_EQ(*worker.pull_dense(1), std::vector<float>(weights.begin() + static_cast<long>(range.begin),
                                                        weights.begin() + static_cast<long>(range.end)));
  }
  EXPECT_EQ(loaded, 500u);
}

TEST(ServerSnapshot, BuildsDeltasOnABase) {
  Folder folder;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  EXPECT_THAT(save(worker, folder.path() / "d0", wire::DELTA, 1, false).status().message(), HasSubstr("nothing to build on"));
  ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at({1, 2, 3})}).ok());
  ASSERT_EQ(save(worker, folder.path() / "base", wire::BASE, 2, false)->rows(), 3u);
  ASSERT_TRUE(save(worker, folder.path() / "base", wire::BASE, 2, true).ok());
  ASSERT_TRUE(worker.push({batch_id(0, 1)}, {count_at({2, 4})}).ok());
  process.restart();  // what a delta builds on is remembered
  ASSERT_EQ(save(worker, folder.path() / "d1", wire::DELTA, 3, false)->rows(), 2u);
  ASSERT_TRUE(save(worker, folder.path() / "d1", wire::DELTA, 3, true).ok());
  ASSERT_TRUE(worker.push({batch_id(0, 2)}, {count_at({1})}).ok());
  const auto report = load(worker, folder.path() / "d1");
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_THAT(*worker.pull_rows(0, {1, 2, 3, 4}), ElementsAre(1, 1, 2, 2, 1, 1, 1, 1));
  EXPECT_THAT(save(worker, folder.path() / "d2", wire::DELTA, 4, false).status().message(), HasSubstr("nothing to build on"));
}

wire::ShrinkRequest shrink_request(const Worker& worker, uint64_t number) {
  wire::ShrinkRequest request;
  *request.mutable_caller() = worker.caller();
  request.set_table(-1);
  request.set_number(number);
  return request;
}

Result<wire::ShrinkReply> shrink(Worker& worker, const wire::ShrinkRequest& request) {
  return worker.call<wire::ShrinkReply>(wire::SHRINK, request);
}

void save_and_publish(Worker& worker, const std::filesystem::path& folder, wire::SnapshotKind kind, uint64_t id) {
  const auto saved = save(worker, folder, kind, id, false);
  ASSERT_TRUE(saved.ok()) << saved.status().message();
  ASSERT_TRUE(save(worker, folder, kind, id, true).ok());
}

// Base and deltas load to the table as it was, without the rows that a shrink has dropped and with those that came back.
TEST(ServerSnapshot, DeltasKnowWhatAShrinkHasDropped) {
  Folder folder;
  TableSpec table = counting_rows();
  table.admission = {.kind = Admission::Kind::count, .count = 2};
  const JobSpec spec = job(Mode::async, 1, {table});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  uint32_t batch = 0;
  const auto push = [&](std::vector<uint64_t> keys) {
    ASSERT_TRUE(worker.push({batch_id(0, batch++)}, {count_at(std::move(keys))}).ok());
  };
  push({1, 2, 3, 4});
  push({1, 2, 3, 4, 50});  // 50 waits for its second gradient
  save_and_publish(worker, folder.path() / "base", wire::BASE, 2);
  push({2});
  push({2});
  push({2});
  wire::ShrinkRequest request = shrink_request(worker, 1);
  request.set_unseen_steps(2);
  const auto report = shrink(worker, request);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->dropped(), 3u);
  EXPECT_EQ(report->dropped_waiting(), 1u);
  push({3});
  push({3});  // comes back
  process.restart();
  save_and_publish(worker, folder.path() / "d1", wire::DELTA, 3);
  push({2, 50});
  save_and_publish(worker, folder.path() / "d2", wire::DELTA, 4);
  const auto values = *worker.pull_rows(0, {1, 2, 3, 4, 50});
  const auto loaded = load(worker, folder.path() / "d2");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(*worker.pull_rows(0, {1, 2, 3, 4, 50}), values);
  EXPECT_EQ(worker.stats()->tables(0).rows(), 2u);
  push({50});  // was seen once since it was dropped
  EXPECT_EQ(worker.stats()->tables(0).rows(), 3u);
}

// A shrink halves the counters of rows that stay, which get no gradient by it: the delta has them all the same.
TEST(ServerSnapshot, DeltasKnowThatCountersHaveDecayed) {
  Folder folder;
  TableSpec table = counting_rows();
  table.show_click = {.enabled = true, .non_click_weight = 1, .click_weight = 1, .decay = 0.5f};
  InProcess process(options_for(folder));
  Worker worker = process.worker(job(Mode::async, 1, {table}), 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at({1, 2, 3})}).ok());
  save_and_publish(worker, folder.path() / "base", wire::BASE, 2);
  ASSERT_EQ(shrink(worker, shrink_request(worker, 1))->kept(), 3u);  // 0.5
  save_and_publish(worker, folder.path() / "d1", wire::DELTA, 3);
  ASSERT_TRUE(load(worker, folder.path() / "d1").ok());
  wire::ShrinkRequest request = shrink_request(worker, 2);  // 0.25
  request.set_score(0.3f);
  EXPECT_EQ(shrink(worker, request)->dropped(), 3u);
}

// The answer may be lost, the server killed, the worker started again with its script: a shrink counts once.
TEST(ServerSnapshot, AShrinkIsDoneOnce) {
  Folder folder;
  TableSpec table = counting_rows();
  table.show_click = {.enabled = true, .non_click_weight = 1, .click_weight = 1, .decay = 0.5f};
  const JobSpec spec = job(Mode::async, 2, {table});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at({1, 2})}).ok());
  wire::ShrinkRequest first = shrink_request(worker, 1), second = shrink_request(worker, 2);
  first.set_score(0.4f);
  second.set_score(0.4f);
  EXPECT_EQ(shrink(worker, first)->kept(), 2u);
  EXPECT_EQ(shrink(worker, first)->kept(), 2u) << "repeated";
  process.restart();
  EXPECT_EQ(shrink(worker, first)->kept(), 2u) << "repeated to the next process";
  Worker again = process.worker(spec, 0);
  ASSERT_TRUE(again.hello().ok());
  *first.mutable_caller() = *second.mutable_caller() = again.caller();
  EXPECT_EQ(shrink(again, first)->kept(), 2u) << "replayed";
  EXPECT_EQ(shrink(again, second)->dropped(), 2u) << "another one";
  EXPECT_EQ(shrink(again, second)->dropped(), 2u);
  EXPECT_EQ(again.stats()->tables(0).rows(), 0u);
}

TEST(ServerSnapshot, ReportsWhatIsMissingAndUnusedAndRefusesWhatDoesNotFit) {
  Folder folder;
  const auto serve = [&](const char* name, std::vector<TableSpec> tables, const auto& use) {
    ServerOptions options = options_for(folder);
    options.directory = folder.path() / name;
    const JobSpec spec = job(Mode::async, 1, std::move(tables));
    InProcess process(options);
    Worker worker = process.worker(spec, 0);
    ASSERT_TRUE(worker.hello().ok());
    use(worker);
  };
  const std::filesystem::path target = folder.path() / "model";
  serve("a", {counting_rows("kept"), counting_rows("dropped")}, [&](Worker& worker) {
    ASSERT_TRUE(worker.push({1}, {count_at({5})}).ok());
    ASSERT_TRUE(save(worker, target, wire::FULL, 5, false).ok());
    ASSERT_TRUE(save(worker, target, wire::FULL, 5, true).ok());
  });
  serve("b", {counting_rows("kept"), counting_rows("new")}, [&](Worker& worker) {
    const auto report = load(worker, target);
    ASSERT_TRUE(report.ok()) << report.status().message();
    ASSERT_EQ(report->tables_size(), 3);
    EXPECT_EQ(report->tables(0).rows(), 1u);
    EXPECT_TRUE(report->tables(1).missing());
    EXPECT_TRUE(report->tables(2).unused());
    EXPECT_EQ(report->tables(2).table(), "dropped");
  });
  serve("c", {counting_rows("kept", 3)}, [&](Worker& worker) {
    EXPECT_THAT(load(worker, target).status().message(), HasSubstr("table 'kept': its rows have"));
    EXPECT_EQ(load(worker, folder.path() / "nowhere").status().code(), Code::not_found);
  });
  for (const auto& entry : std::filesystem::recursive_directory_iterator(target)) {  // damage
    if (entry.path().filename().string().find("part") == std::string::npos || !entry.is_regular_file()) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<long>(entry.file_size() / 2));
    file.put('\x55');
  }
  serve("d", {counting_rows("kept")}, [&](Worker& worker) {
    ASSERT_TRUE(worker.push({1}, {count_at({5}, 9)}).ok());
    EXPECT_EQ(load(worker, target).status().code(), Code::data_loss);
    EXPECT_THAT(*worker.pull_rows(0, {5}), ElementsAre(9, 9));  // found before anything was replaced
  });
}

// A directory of a finished job is where the next run begins, not a reason to skip its training.
TEST(ServerSnapshot, StartsTheNextRunFromAFinishedOne) {
  Folder folder;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at({5})}).ok());
  ASSERT_TRUE(worker.goodbye().ok());
  process.restart();
  Worker next = process.worker(spec, 0);
  EXPECT_EQ(next.hello()->window().through(), 0u);
  EXPECT_EQ(*next.push({batch_id(0, 0)}, {count_at({5})}), wire::APPLIED);
  process.restart();
  EXPECT_THAT(*next.pull_rows(0, {5}), ElementsAre(2, 2));
}

// Pushes that arrive while a snapshot is cut wait, and are not lost.
TEST(ServerSnapshot, LetsPushesWaitWhileItIsCut) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.snapshot_seconds = 0.01;
  const JobSpec spec = job(Mode::async, 2, {counting_rows()});
  InProcess process(options);
  std::atomic<bool> done = false;
  std::vector<std::future<float>> running;
  for (int i = 0; i < 2; ++i) {
    running.push_back(std::async(std::launch::async, [&, i] {
      Worker worker = process.worker(spec, i);
      EXPECT_TRUE(worker.hello().ok());
      uint32_t batch = 0;
      for (; !done; ++batch) {
        std::vector<uint64_t> keys = {7};
        for (uint64_t k = 0; k < 100; ++k) keys.push_back(1000 + batch * 100 + k);
        const auto pushed = worker.push({batch_id(0, batch)}, {count_at(keys)});
        EXPECT_TRUE(pushed.ok()) << pushed.status().message();
      }
      return static_cast<float>(batch);
    }));
  }
  Worker observer = process.worker(spec, 0);
  while (!observer.observe().ok())  // until a worker has come
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(wait_for_snapshots(observer, 4));
  done = true;
  float pushes = 0;
  for (auto& one : running) pushes += one.get();
  process.restart();
  ASSERT_OK(observer.observe());
  EXPECT_THAT(*observer.pull_rows(0, {7, 1000}), ElementsAre(pushes, pushes, 2, 2));
}

}  // namespace
}  // namespace argosy::ps
