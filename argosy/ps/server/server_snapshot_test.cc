#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <future>
#include <numeric>
#include <thread>

#include "argosy/ps/server/server_scratch.h"

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
  options.snapshot_roots = {folder.path()};
  return options;
}

// Asks until it is done, as the client does.
template <typename Reply, typename Request>
Result<Reply> until_done(Worker& worker, wire::Method method, const Request& request) {
  const Deadline deadline = Deadline::after_seconds(60);
  for (;;) {
    auto reply = worker.call<Reply>(method, request);
    if (!reply.ok() || !reply->running()) return reply;
    if (deadline.passed()) return Status::deadline_exceeded("{} of {} rows", reply->rows_done(), reply->rows_total());
  }
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
  return until_done<wire::SaveSnapshotReply>(worker, wire::SAVE_SNAPSHOT, request);
}

wire::LoadSnapshotRequest load_request(const Worker& worker, const std::filesystem::path& folder, uint64_t id) {
  wire::LoadSnapshotRequest request;
  *request.mutable_caller() = worker.caller();
  request.set_folder(folder.string());
  request.set_id(id);
  return request;
}

Result<wire::LoadSnapshotReply> load(Worker& worker, const std::filesystem::path& folder, uint64_t id = 0) {
  static uint64_t next = 1'000'000;
  return until_done<wire::LoadSnapshotReply>(worker, wire::LOAD_SNAPSHOT, load_request(worker, folder, id == 0 ? next++ : id));
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
  const uint64_t most = 4 * 20'000;  // since the last snapshot, and for the last three
  while (worker.stats()->log_bytes() > most && !soon.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LE(worker.stats()->log_bytes(), most);
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

// Nothing else says so where there is no log: a push whose answer was lost comes again.
TEST(ServerSnapshot, SaysWhichBatchesItHolds) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.durability = Durability::snapshot;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(options);
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_EQ(*worker.push({batch_id(0, 0)}, {count_at({5})}), wire::APPLIED);
  ASSERT_TRUE(process.server->stop().ok());  // with a last snapshot
  process.restart();
  EXPECT_EQ(*worker.push({batch_id(0, 0)}, {count_at({5})}), wire::DUPLICATE);
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

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

void damage(const std::filesystem::path& folder, const std::string& name) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != name) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<long>(entry.file_size() / 2));
    file.put('\x55');
  }
}

// The newest snapshot may be damaged on the disk: the one before and a longer part of the log give the same state.
TEST(ServerSnapshot, KeepsThreeAndTheLogBehindTheOldest) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.snapshot_seconds = 0.02;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(options);
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  uint32_t pushes = 0;
  for (uint64_t snapshots = 1; snapshots <= 5; ++snapshots) {
    ASSERT_TRUE(worker.push({batch_id(0, pushes++)}, {count_at({7})}).ok());
    ASSERT_TRUE(wait_for_snapshots(worker, snapshots));
  }
  ASSERT_TRUE(worker.push({batch_id(0, pushes++)}, {count_at({7})}).ok());
  process.kill();
  const std::filesystem::path root = folder.path() / "server-0" / "snapshots";
  const auto kept = entries_of(root);
  ASSERT_GE(kept.size(), 3u);
  ASSERT_LE(kept.size(), 4u) << "three, and perhaps one that was being written";
  for (size_t newest = 1; newest <= 2; ++newest) damage(root / kept[kept.size() - newest], "part-00000");
  process.start();
  EXPECT_THAT(*worker.pull_rows(0, {7}), ElementsAre(pushes, pushes));
}

// Only below the roots, wherever links and dots lead, and never over what is not a snapshot.
TEST(ServerSnapshot, IsWrittenOnlyWhereItMay) {
  Folder folder, elsewhere;
  namespace fs = std::filesystem;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at({5})}).ok());
  fs::create_directory_symlink(elsewhere.path(), folder.path() / "link");
  fs::create_directories(folder.path() / "there");
  uint64_t id = 10;
  for (const fs::path& target : {elsewhere.path() / "s", folder.path() / "link" / "s", folder.path() / "there/../../s",
                                 folder.path() / "../x", folder.path()}) {
    const Status refused = save(worker, target, wire::FULL, id++, false).status();
    EXPECT_EQ(refused.code(), Code::permission_denied) << target << ": " << refused.message();
  }
  EXPECT_THAT(save(worker, elsewhere.path() / "s", wire::FULL, id++, false).status().message(), HasSubstr("snapshot_roots"));
  EXPECT_THAT(save(worker, "s3://bucket/s", wire::FULL, id++, false).status().message(), HasSubstr("snapshots on disks"));
  for (const char* own : {"log/s", "snapshots/snapshot-1", "cold/s"}) {
    const Status refused = save(worker, folder.path() / "server-0" / own, wire::FULL, id++, false).status();
    EXPECT_EQ(refused.code(), Code::permission_denied) << own;
  }
  EXPECT_TRUE(entries_of(elsewhere.path()).empty());

  for (const char* name : {"papers", "thesis.saving"}) {
    fs::create_directories(folder.path() / name / "server-0-of-1");
    std::ofstream(folder.path() / name / "server-0-of-1" / "chapter-1") << "a year's work";
  }
  for (const char* name : {"papers", "thesis"}) {
    const auto refused = save(worker, folder.path() / name, wire::FULL, id, false);
    EXPECT_EQ(refused.status().code(), Code::failed_precondition) << name;
    EXPECT_THAT(refused.status().message(), HasSubstr("is not a snapshot")) << name;
    EXPECT_FALSE(save(worker, folder.path() / name, wire::FULL, id++, true).ok()) << name;
  }
  for (const char* name : {"papers", "thesis.saving"})
    EXPECT_TRUE(fs::exists(folder.path() / name / "server-0-of-1" / "chapter-1")) << name;
  // What appears there while it is written is not removed either.
  ASSERT_TRUE(save(worker, folder.path() / "late", wire::FULL, 77, false).ok());
  fs::create_directories(folder.path() / "late");
  std::ofstream(folder.path() / "late" / "letter") << "dear";
  EXPECT_EQ(save(worker, folder.path() / "late", wire::FULL, 77, true).status().code(), Code::failed_precondition);
  EXPECT_TRUE(fs::exists(folder.path() / "late" / "letter"));
  // A snapshot is replaced, and so is an empty folder.
  fs::create_directories(folder.path() / "model");
  for (const uint64_t which : {81u, 82u}) {
    ASSERT_TRUE(save(worker, folder.path() / "model", wire::FULL, which, false).ok());
    ASSERT_TRUE(save(worker, folder.path() / "model", wire::FULL, which, true).ok());
  }
  EXPECT_FALSE(fs::exists(folder.path() / "model.saving"));
}

// A load is done once: what was acknowledged after it stays, also when it is asked for again, and in the next process too.
TEST(ServerSnapshot, IsLoadedOnce) {
  Folder folder;
  const JobSpec spec = job(Mode::async, 1, {counting_rows(), counting_dense()});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(worker.init_dense(1, {1, 2, 3, 4}).ok());
  ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at({5})}).ok());
  ASSERT_TRUE(save(worker, folder.path() / "model", wire::FULL, 7, false, "cursor").ok());
  ASSERT_TRUE(save(worker, folder.path() / "model", wire::FULL, 7, true).ok());
  ASSERT_TRUE(worker.push({batch_id(0, 1)}, {count_at({5, 6})}, {{1, {-1, -1, -1, -1}}}).ok());
  ASSERT_TRUE(load(worker, folder.path() / "model", 99).ok());
  EXPECT_THAT(*worker.pull_rows(0, {5, 6}), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(*worker.pull_dense(1), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(worker.push({batch_id(0, 2)}, {count_at({5})}, {{1, {-1, 0, 0, 0}}}).ok());
  for (int process_number = 0; process_number < 2; ++process_number) {
    const auto again = load(worker, folder.path() / "model", 99);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again->extra(), "cursor");
    EXPECT_EQ(again->tables(0).rows(), 1u);
    EXPECT_THAT(*worker.pull_rows(0, {5}), ElementsAre(2, 2)) << "the push that came after the load";
    EXPECT_THAT(*worker.pull_dense(1), ElementsAre(2, 2, 3, 4));
    process.restart();
  }
  ASSERT_TRUE(load(worker, folder.path() / "model", 100).ok());
  EXPECT_THAT(*worker.pull_rows(0, {5}), ElementsAre(1, 1)) << "another load is another";
}

// With calls that may take less than the work, the work is done all the same, and once.
TEST(ServerSnapshot, LoadsForLongerThanACallMayTake) {
  Folder folder;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  std::vector<uint64_t> keys(100'000);
  std::iota(keys.begin(), keys.end(), 0);
  ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at(keys)}).ok());
  ASSERT_TRUE(save(worker, folder.path() / "model", wire::FULL, 7, false).ok());
  ASSERT_TRUE(save(worker, folder.path() / "model", wire::FULL, 7, true).ok());
  const wire::LoadSnapshotRequest request = load_request(worker, folder.path() / "model", 8);
  const Deadline deadline = Deadline::after_seconds(60);
  int calls = 0;
  Result<wire::LoadSnapshotReply> reply = Status::unavailable("not asked yet");
  for (; (!reply.ok() || reply->running()) && !deadline.passed(); ++calls) {
    reply = worker.call<wire::LoadSnapshotReply>(wire::LOAD_SNAPSHOT, request, {}, 0.01);
    const bool late = reply.status().code() == Code::deadline_exceeded;
    EXPECT_TRUE(reply.ok() || late) << reply.status().message();
  }
  ASSERT_TRUE(reply.ok()) << reply.status().message();
  EXPECT_GT(calls, 1);
  EXPECT_EQ(reply->tables(0).rows(), 100'000u);
  ASSERT_TRUE(worker.push({batch_id(0, 1)}, {count_at({5})}).ok());
  EXPECT_THAT(*worker.pull_rows(0, {5}), ElementsAre(2, 2));
  ASSERT_TRUE(save(worker, folder.path() / "other", wire::FULL, 9, false).ok()) << "after all loads that were asked for";
  EXPECT_THAT(*worker.pull_rows(0, {5}), ElementsAre(2, 2));
}

// A delta that was written and never published, and one whose answer was lost, can be saved again.
TEST(ServerSnapshot, ADeltaCanBeRepeated) {
  Folder folder;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at({1, 2, 3})}).ok());
  save_and_publish(worker, folder.path() / "base", wire::BASE, 2);
  ASSERT_TRUE(worker.push({batch_id(0, 1)}, {count_at({2, 4})}).ok());
  const auto first = save(worker, folder.path() / "d1", wire::DELTA, 3, false);
  ASSERT_EQ(first->rows(), 2u);
  process.restart();  // before anybody published it
  ASSERT_TRUE(worker.push({batch_id(0, 2)}, {count_at({1})}).ok());
  const auto same = save(worker, folder.path() / "d1", wire::DELTA, 3, false);
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_EQ(same->SerializeAsString(), first->SerializeAsString()) << "the same id: the same answer";
  const auto other = save(worker, folder.path() / "d1", wire::DELTA, 4, false);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_EQ(other->rows(), 3u) << "another id, into the same folder: everything since the base";
  ASSERT_TRUE(save(worker, folder.path() / "d1", wire::DELTA, 4, true).ok());
  ASSERT_TRUE(save(worker, folder.path() / "d1", wire::DELTA, 4, true).ok()) << "repeated";
  ASSERT_TRUE(worker.push({batch_id(0, 3)}, {count_at({9})}).ok());
  process.restart();
  EXPECT_EQ(save(worker, folder.path() / "d2", wire::DELTA, 5, false)->rows(), 1u) << "since the delta that was published";
  ASSERT_TRUE(save(worker, folder.path() / "d2", wire::DELTA, 5, true).ok());
  const auto values = *worker.pull_rows(0, {1, 2, 3, 4, 9});
  ASSERT_TRUE(load(worker, folder.path() / "d2").ok());
  EXPECT_EQ(*worker.pull_rows(0, {1, 2, 3, 4, 9}), values);
}

// First values count when the last of them is there: a process that dies in between leaves nothing of them.
TEST(ServerImport, IsAllOrNothing) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.spec = job(Mode::async, 1, {counting_rows(), counting_dense()});
  options.import_first = true;
  const std::vector<float> rows = {1, 1, 2, 2}, dense = {1, 2, 3, 4};
  InProcess process(options);
  Worker worker = process.worker(*options.spec, 0);
  ASSERT_TRUE(*process.server->begin_import());
  ASSERT_TRUE(process.server->import_rows(0, {}, std::vector<uint64_t>{5, 6}, rows).ok());
  EXPECT_EQ(worker.hello().status().code(), Code::unavailable) << "nobody is let in to half a model";
  process.restart();
  ASSERT_TRUE(*process.server->begin_import()) << "it has to be given again";
  ASSERT_TRUE(process.server->import_rows(0, {}, std::vector<uint64_t>{6}, std::vector<float>{7, 7}).ok());
  ASSERT_TRUE(process.server->import_dense(1, {}, dense).ok());
  ASSERT_TRUE(process.server->end_import().ok());
  for (int process_number = 0; process_number < 2; ++process_number) {
    ASSERT_TRUE(worker.hello().ok());
    EXPECT_THAT(*worker.pull_rows(0, {5, 6}), ElementsAre(0, 0, 7, 7)) << "5 is of the import that never ended";
    EXPECT_THAT(*worker.pull_dense(1), ElementsAre(1, 2, 3, 4));
    process.restart();
    EXPECT_FALSE(*process.server->begin_import()) << "it is there";
  }
}

TEST(ServerImport, AnUnfinishedOneIsRefusedByNameWhereNobodyRepeatsIt) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.spec = job(Mode::async, 1, {counting_rows()});
  options.import_first = true;
  {
    InProcess process(options);
    ASSERT_TRUE(*process.server->begin_import());
    ASSERT_TRUE(process.server->import_rows(0, {}, std::vector<uint64_t>{5}, std::vector<float>{1, 1}).ok());
  }
  options.import_first = false;
  const Status refused = Server::start(options).status();
  EXPECT_EQ(refused.code(), Code::failed_precondition);
  EXPECT_THAT(refused.message(), HasSubstr("holds a part of it"));
}

// Importing beside snapshots, which used to be an error whenever they met.
TEST(ServerImport, WaitsWhileASnapshotIsCut) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.spec = job(Mode::async, 1, {counting_rows()});
  options.snapshot_seconds = 0.001;
  InProcess process(options);
  Worker worker = process.worker(*options.spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  const std::vector<float> ones(2, 1);
  const Deadline deadline = Deadline::after_seconds(60);
  for (uint64_t key = 0; worker.stats()->snapshots() < 5 && !deadline.passed();) {
    for (const uint64_t last = key + 200; key < last; ++key) {
      const Status status = process.server->import_rows(0, {}, std::span(&key, 1), ones);
      ASSERT_TRUE(status.ok()) << key << ": " << status.message();
    }
  }
}

// A directory of a finished run is where the next one begins that is told to go on with it, not a reason to skip its training.
TEST(ServerSnapshot, StartsTheNextRunFromAFinishedOne) {
  Folder folder;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  ServerOptions options = options_for(folder);
  {
    InProcess process(options);
    Worker worker = process.worker(spec, 0);
    ASSERT_TRUE(worker.hello().ok());
    ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at({5})}).ok());
    ASSERT_TRUE(worker.goodbye().ok());
  }
  options.run = "the next";
  options.on_old_state = OnOldState::resume;
  InProcess process(options);
  Worker next = process.worker(spec, 0);
  next.set_run(options.run);
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
