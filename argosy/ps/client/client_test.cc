#include "argosy/ps/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "argosy/base/mutex.h"
#include "argosy/base/wait_check.h"
#include "argosy/ps/client/cluster_test.h"
#include "argosy/ps/spec/messages.pb.h"

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

Deadline soon() { return Deadline::after_seconds(60); }

JobSpec counting_spec(int workers, Mode mode = Mode::async) {
  JobSpec spec{.mode = mode, .workers = workers, .tables = {dense_table("w", 20000), sparse_table("emb", 2)}};
  return spec;
}

std::unique_ptr<Client> connected(const Cluster& cluster, const JobSpec& spec, int worker = 0,
                                  std::shared_ptr<Faults> faults = nullptr) {
  auto client = Client::connect(cluster.client(worker, std::move(faults)), spec);
  EXPECT_TRUE(client.ok()) << client.status().to_string();
  return client.ok() ? std::move(*client) : nullptr;
}

std::vector<float> row_values(Client& client, int table, const std::vector<uint64_t>& keys, size_t width) {
  std::vector<float> rows(keys.size() * width, -99);
  const RowRequest request{.table = table, .keys = keys, .rows = rows.data()};
  const Status status = client.pull_rows(std::span(&request, 1));
  EXPECT_TRUE(status.ok()) << status.to_string();
  return rows;
}

// Runs `body` for each worker on a thread of its own.
void as_workers(int workers, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int worker = 0; worker < workers; ++worker) threads.emplace_back(body, worker);
  for (auto& thread : threads) thread.join();
}

// A push reaches the right rows and ranges on every number of servers, and a pull brings them back in the caller's order.
TEST(Client, PushedGradientsComeBackFromAnyNumberOfServers) {
  for (const int servers : {1, 2, 3, 5}) {
    SCOPED_TRACE(servers);
    Cluster cluster(servers);
    const auto client = connected(cluster, counting_spec(1));
    std::vector<float> dense(20000);
    std::iota(dense.begin(), dense.end(), 0.0f);
    ASSERT_TRUE(client->init_dense(0, dense).ok());
    ASSERT_TRUE(client->wait_initialised(soon()).ok());

    std::vector<uint64_t> keys;
    std::vector<float> gradients;
    for (uint64_t i = 0; i < 1000; ++i) {
      keys.push_back(mix64(i));
      gradients.push_back(-static_cast<float>(i));
      gradients.push_back(static_cast<float>(i) / 2);
    }
    const std::vector<float> ones(dense.size(), 1.0f);
    const DenseGradient dense_gradient{.table = 0, .values = ones};
    const RowGradients rows{.table = 1, .keys = keys, .values = gradients.data()};
    const BatchId batch = batch_id(0, 0);
    const Status pushed =
        client->push({.batches = std::span(&batch, 1), .dense = std::span(&dense_gradient, 1), .rows = std::span(&rows, 1)});
    ASSERT_TRUE(pushed.ok()) << pushed.to_string();

    std::reverse(keys.begin(), keys.end());
    const auto pulled = row_values(*client, 1, keys, 2);
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto count = static_cast<float>(999 - i);
      ASSERT_EQ(pulled[2 * i], count);
      ASSERT_EQ(pulled[2 * i + 1], -count / 2);
    }
    std::vector<float> now(20000);
    const DenseRequest request{.table = 0, .values = now};
    ASSERT_TRUE(client->pull_dense(std::span(&request, 1)).ok());
    for (size_t i = 0; i < now.size(); ++i) ASSERT_EQ(now[i], static_cast<float>(i) - 1);
    EXPECT_TRUE(client->stop().ok());
  }
}

// The first initialisation counts; a later one, say of a worker that was started again, changes nothing.
TEST(Client, DenseValuesAreSetOnce) {
  Cluster cluster(2);
  const auto client = connected(cluster, counting_spec(1));
  const Status early = client->wait_initialised(Deadline::after_seconds(8));
  EXPECT_EQ(early.code(), Code::deadline_exceeded);
  EXPECT_THAT(early.message(), HasSubstr("'w'"));
  ASSERT_TRUE(client->init_dense(0, std::vector<float>(20000, 3.0f)).ok());
  ASSERT_TRUE(client->init_dense(0, std::vector<float>(20000, 4.0f)).ok());
  std::vector<float> now(20000);
  const DenseRequest request{.table = 0, .values = now};
  ASSERT_TRUE(client->pull_dense(std::span(&request, 1)).ok());
  EXPECT_EQ(now, std::vector<float>(20000, 3.0f));
  ASSERT_TRUE(client->import_dense(0, std::vector<float>(20000, 5.0f)).ok());
  ASSERT_TRUE(client->pull_dense(std::span(&request, 1)).ok());
  EXPECT_EQ(now, std::vector<float>(20000, 5.0f));
}

TEST(Client, WrongTablesAndSizesAreNamed) {
  Cluster cluster(1);
  const auto client = connected(cluster, counting_spec(1));
  EXPECT_THAT(client->init_dense(1, {}).message(), HasSubstr("table 'emb' is sparse"));
  EXPECT_THAT(client->init_dense(0, std::vector<float>(7)).message(), HasSubstr("7 values given, it has 20000"));
  EXPECT_THAT(client->init_dense(9, {}).message(), HasSubstr("table 9 of a job with 2 tables"));
  const RowRequest request{.table = 0};
  EXPECT_THAT(client->pull_rows(std::span(&request, 1)).message(), HasSubstr("table 'w' is dense"));
  const BatchId batch = 0;
  const RowGradients twice[] = {{.table = 1}, {.table = 1}};
  EXPECT_THAT(client->push({.batches = std::span(&batch, 1), .rows = twice}).message(), HasSubstr("'emb' is in a push twice"));
}

// A start order of workers before servers is waited out; a server that never comes is named.
TEST(Client, WaitsForServersAndNamesTheMissing) {
  Cluster cluster(2);
  cluster.kill(1);
  std::thread late([&] {
    EXPECT_TRUE(wait_for([&] { return cluster.refused(1) > 0; }));
    cluster.start(1);
  });
  const auto client = connected(cluster, counting_spec(1));
  late.join();
  ASSERT_NE(client, nullptr);
  EXPECT_GT(client->counters().retries, 0u);

  cluster.kill(1);
  ClientOptions impatient = cluster.client(0);
  impatient.server_wait_seconds = 0.2;
  const auto failed = Client::connect(impatient, counting_spec(1));
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), Code::unavailable);
  EXPECT_THAT(failed.status().message(), HasSubstr("server 1 (place 1) has not answered"));
}

// A server that takes long to come, because it reads a large snapshot, costs nobody the lease at those that are there.
TEST(Client, KeepsItsLeaseWhileAServerIsStillToCome) {
  Cluster cluster(2, [](ServerOptions& options) { options.lease_seconds = 0.3; });
  cluster.kill(1);
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    cluster.start(1);
  });
  const auto client = connected(cluster, counting_spec(1));
  late.join();
  ASSERT_NE(client, nullptr);
  const BatchId batch = 0;
  EXPECT_TRUE(client->push({.batches = std::span(&batch, 1)}).ok());
  EXPECT_EQ(row_values(*client, 1, {7}, 2).size(), 2u);
}

TEST(Client, AnotherSchemaOrJobIsRefusedByName) {
  Cluster cluster(1);
  const auto client = connected(cluster, counting_spec(1));
  JobSpec other = counting_spec(1);
  other.tables[1].width = 3;
  EXPECT_THAT(Client::connect(cluster.client(0), other).status().message(), HasSubstr("emb"));
  ClientOptions stranger = cluster.client(0);
  stranger.job = "somebody else's";
  EXPECT_THAT(Client::connect(stranger, counting_spec(1)).status().message(), HasSubstr("somebody else's"));
}

TEST(Client, ASecondStartOfAWorkerFencesOffTheFirst) {
  Cluster cluster(2);
  const auto first = connected(cluster, counting_spec(1));
  const auto second = connected(cluster, counting_spec(1));
  const BatchId batch = 0;
  EXPECT_EQ(first->push({.batches = std::span(&batch, 1)}).code(), Code::aborted);
  EXPECT_TRUE(second->push({.batches = std::span(&batch, 1)}).ok());
}

TEST(Client, WorkersMeetAndAddUp) {
  Cluster cluster(2);
  const JobSpec spec = counting_spec(3);
  as_workers(3, [&](int worker) {
    const auto client = connected(cluster, spec, worker);
    ASSERT_TRUE(client->barrier("start", soon()).ok());
    const auto all = client->all_gather("names", "worker " + std::to_string(worker), soon());
    ASSERT_TRUE(all.ok()) << all.status().to_string();
    EXPECT_EQ(*all, (std::vector<std::string>{"worker 0", "worker 1", "worker 2"}));
    std::vector<double> sums{1.5 * worker, 1};
    ASSERT_TRUE(client->all_reduce("sum", Reduce::sum, std::span(sums), soon()).ok());
    EXPECT_EQ(sums, (std::vector<double>{4.5, 3}));
    std::vector<int64_t> most{worker, -worker};
    ASSERT_TRUE(client->all_reduce("max", Reduce::max, std::span(most), soon()).ok());
    EXPECT_EQ(most, (std::vector<int64_t>{2, 0}));
    std::vector<float> least{static_cast<float>(worker)};
    ASSERT_TRUE(client->all_reduce("min", Reduce::min, std::span(least), soon()).ok());
    EXPECT_EQ(least, std::vector<float>{0});
  });
}

// A worker's gatherings are known by where its script makes them, not by how many it has made.
TEST(Client, AReplayedScriptFindsItsGatherings) {
  Cluster cluster(2);
  const JobSpec spec = counting_spec(2);
  const auto say = [&](int worker, std::string_view what, BatchId position, Client& client) {
    const auto all = client.all_gather("g", std::string(what) + std::to_string(worker), soon(), position);
    ASSERT_TRUE(all.ok()) << all.status().to_string();
    EXPECT_EQ(*all, (std::vector<std::string>{std::string(what) + "0", std::string(what) + "1"}));
  };
  as_workers(2, [&](int worker) {
    const auto client = connected(cluster, spec, worker);
    say(worker, "a", 10, *client);
    say(worker, "b", 10, *client);
    say(worker, "c", 20, *client);
    ASSERT_TRUE(client->barrier("met", soon(), 20).ok());
  });
  as_workers(2, [&](int worker) {
    const auto client = connected(cluster, spec, worker);
    const auto all = client->all_gather("g", "something else", soon(), 10);
    ASSERT_TRUE(all.ok()) << all.status().to_string();
    EXPECT_EQ(*all, (std::vector<std::string>{"a0", "a1"}));  // what was said then stands
    say(worker, "b", 10, *client);
    say(worker, "c", 20, *client);
    ASSERT_TRUE(client->barrier("met", soon(), 20).ok());
    say(worker, "d", 20, *client);
  });
}

TEST(Client, AChangedScriptMeetsTheOthersWhereItHasNotBeen) {
  Cluster cluster(2);
  const JobSpec spec = counting_spec(2);
  as_workers(2, [&](int worker) {
    const auto client = connected(cluster, spec, worker);
    ASSERT_TRUE(client->barrier("b", soon(), 10).ok());
  });
  std::atomic<bool> second_came = false;
  as_workers(2, [&](int worker) {
    const auto client = connected(cluster, spec, worker);
    if (worker == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      second_came = true;
    }
    ASSERT_TRUE(client->barrier("b", soon(), 25).ok());
    EXPECT_TRUE(second_came);
    ASSERT_TRUE(client->barrier("b", soon(), 25).ok());
  });
}

TEST(Client, ABarrierNamesWhoIsMissing) {
  Cluster cluster(1);
  const JobSpec spec = counting_spec(3);
  const auto zero = connected(cluster, spec, 0);
  const auto two = connected(cluster, spec, 2);
  std::thread other([&] { EXPECT_FALSE(two->barrier("b", Deadline::after_seconds(8)).ok()); });
  const Status status = zero->barrier("b", Deadline::after_seconds(8));
  other.join();
  EXPECT_EQ(status.code(), Code::deadline_exceeded);
  EXPECT_THAT(status.message(), HasSubstr("at barrier 'b' number 1; missing: worker 1"));
  // The failed barrier is still the one that the late worker meets.
  const auto one = connected(cluster, spec, 1);
  std::thread third([&] { EXPECT_TRUE(one->barrier("b", soon()).ok()); });
  std::thread second([&] { EXPECT_TRUE(two->barrier("b", soon()).ok()); });
  EXPECT_TRUE(zero->barrier("b", soon()).ok());
  second.join();
  third.join();
}

// A user's Ctrl-C ends a wait for others long before its deadline.
TEST(Client, AWaitEndsWhenTheUserWantsIt) {
  Cluster cluster(1);
  const auto alone = connected(cluster, counting_spec(2), 0);
  set_wait_check([] { return true; });
  const Stopwatch watch;
  const Status status = alone->barrier("b", soon());
  set_wait_check(nullptr);
  EXPECT_EQ(status.code(), Code::cancelled);
  EXPECT_THAT(status.message(), HasSubstr("server 0"));
  EXPECT_LT(watch.seconds(), 40);
}

TEST(Client, EachFileGoesToOneWorkerAndMailArrives) {
  Cluster cluster(2);
  const JobSpec spec = counting_spec(2);
  Mutex mutex;
  std::multiset<uint64_t> files;
  as_workers(2, [&](int worker) {
    const auto client = connected(cluster, spec, worker);
    for (int call = 0;; ++call) {
      const auto file = client->next_file("train", 7, call % 2);  // two readers in each
      ASSERT_TRUE(file.ok()) << file.status().to_string();
      if (!*file) break;
      MutexLock lock(mutex);
      files.insert(**file);
    }
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(client->post(1 - worker, "message " + std::to_string(i)).ok());
    for (int i = 0; i < 3; ++i) {
      const auto mail = client->take(soon());
      ASSERT_TRUE(mail.ok()) << mail.status().to_string();
      EXPECT_EQ(mail->from, 1 - worker);
      EXPECT_EQ(mail->bytes, "message " + std::to_string(i));
    }
    EXPECT_EQ(client->take(Deadline::after_seconds(0.05)).status().code(), Code::deadline_exceeded);
  });
  EXPECT_EQ(files, (std::multiset<uint64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Client, RowsAreImportedAndVisited) {
  Cluster cluster(3);
  const auto client = connected(cluster, counting_spec(1));
  std::vector<uint64_t> keys;
  std::vector<float> values;
  for (uint64_t i = 0; i < 5000; ++i) {
    keys.push_back(i * 977);
    values.push_back(static_cast<float>(i));
    values.push_back(static_cast<float>(i) + 0.5f);
  }
  ASSERT_TRUE(client->import_rows(1, keys, values).ok());
  std::map<uint64_t, float> seen;
  const Status status = client->for_each_row(
      1,
      [&](std::span<const uint64_t> some, std::span<const float> rows) {
        for (size_t i = 0; i < some.size(); ++i) seen[some[i]] = rows[2 * i + 1];
        return Status();
      },
      4096);
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_EQ(seen.size(), keys.size());
  for (uint64_t i = 0; i < 5000; ++i) ASSERT_EQ(seen.at(i * 977), static_cast<float>(i) + 0.5f);
}

// Reading for evaluation shows what a new row would hold, and makes none.
TEST(Client, ReadingWithoutCreatingLeavesNoRow) {
  Cluster cluster(2);
  JobSpec spec = counting_spec(1);
  spec.tables[1].initializer = {.kind = RowInitializer::Kind::constant, .a = 7};
  const auto client = connected(cluster, spec);
  const std::vector<uint64_t> keys{1, 2, 3}, others{4, 5};
  std::vector<float> rows(6), other_rows(4);
  const RowRequest requests[] = {{.table = 1, .keys = keys, .rows = rows.data(), .create = false},
                                 {.table = 1, .keys = others, .rows = other_rows.data(), .create = true}};
  const Status status = client->pull_rows(requests);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(rows, std::vector<float>(6, 7.0f));
  EXPECT_EQ(other_rows, std::vector<float>(4, 7.0f));
  uint64_t made = 0;
  const auto stats = client->stats();
  ASSERT_TRUE(stats.ok());
  for (const ServerStats& server : *stats) made += server.tables[1].rows;
  EXPECT_LE(made, 2u);
}

TEST(Client, RatesCanBeSetAndTakenBack) {
  Cluster cluster(2);
  const auto client = connected(cluster, counting_spec(1));
  const std::vector<uint64_t> keys{5};
  const std::vector<float> gradient{-1, -1};
  const RowGradients rows{.table = 1, .keys = keys, .values = gradient.data()};
  const auto push = [&](uint32_t index) {
    const BatchId batch = batch_id(0, index);
    ASSERT_TRUE(client->push({.batches = std::span(&batch, 1), .rows = std::span(&rows, 1)}).ok());
  };
  push(0);
  ASSERT_TRUE(client->set_rate(-1, 10.0f).ok());
  push(1);
  ASSERT_TRUE(client->set_rate(1, std::nullopt).ok());
  push(2);
  EXPECT_EQ(row_values(*client, 1, keys, 2)[0], 12);
}

// Messages are lost on the way there and back, and delivered twice: a row that counts pushes counts each once.
TEST(Client, EveryPushCountsOnceOnBadChannels) {
  const uint64_t seed = 7;
  SCOPED_TRACE(seed);
  Cluster cluster(2);
  auto faults = std::make_shared<Faults>(seed);
  faults->disturb(0.15);
  const auto client = connected(cluster, counting_spec(1), 0, faults);
  std::vector<uint64_t> keys(50);
  std::iota(keys.begin(), keys.end(), 0);
  const std::vector<float> ones(100, -1.0f);
  const RowGradients rows{.table = 1, .keys = keys, .values = ones.data()};
  for (uint32_t i = 0; i < 300; ++i) {
    const BatchId batch = batch_id(0, i);
    const Status status = client->push({.batches = std::span(&batch, 1), .rows = std::span(&rows, 1)});
    ASSERT_TRUE(status.ok()) << status.to_string();
  }
  EXPECT_EQ(row_values(*client, 1, keys, 2), std::vector<float>(100, 300.0f));
  EXPECT_GT(client->counters().retries, 50u);
}

// A server that is killed and started again between and during pushes loses nothing that it acknowledged.
TEST(Client, FindsARestartedServerAgain) {
  Cluster cluster(2, {}, true);
  const auto client = connected(cluster, counting_spec(1));
  std::vector<uint64_t> keys(20);
  std::iota(keys.begin(), keys.end(), 0);
  const std::vector<float> ones(40, -1.0f);
  const RowGradients rows{.table = 1, .keys = keys, .values = ones.data()};
  std::atomic<bool> done = false;
  std::thread killer([&] {
    for (int i = 0; !done; ++i) {
      cluster.kill(i % 2);
      cluster.start(i % 2);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  for (uint32_t i = 0; i < 200; ++i) {
    const BatchId batch = batch_id(0, i);
    const Status status = client->push({.batches = std::span(&batch, 1), .rows = std::span(&rows, 1)});
    EXPECT_TRUE(status.ok()) << status.to_string();
    if (!status.ok()) break;
  }
  done = true;
  killer.join();
  EXPECT_EQ(row_values(*client, 1, keys, 2), std::vector<float>(40, 200.0f));
}

// Which methods went over which channel.
class Recorder final : public rpc::Channel {
 public:
  struct Record {
    Mutex mutex;
    std::vector<std::set<uint16_t>> methods;  // by channel; guarded by mutex
  };
  Recorder(std::unique_ptr<rpc::Channel> inner, std::shared_ptr<Record> record)
      : inner_(std::move(inner)), record_(std::move(record)) {
    MutexLock lock(record_->mutex);
    number_ = record_->methods.size();
    record_->methods.emplace_back();
  }
  void call(rpc::Message message, Deadline deadline, rpc::Callback done) override {
    {
      MutexLock lock(record_->mutex);
      record_->methods[number_].insert(message.method);
    }
    inner_->call(std::move(message), deadline, std::move(done));
  }
  Status wait_ready(Deadline deadline) override { return inner_->wait_ready(deadline); }
  const std::string& peer() const override { return inner_->peer(); }

 private:
  const std::unique_ptr<rpc::Channel> inner_;
  const std::shared_ptr<Record> record_;
  size_t number_ = 0;
};

// A large push fills its connection for longer than a lease; signs of life do not wait behind it.
TEST(Client, SendsHeartbeatsOverAChannelOfTheirOwn) {
  Cluster cluster(1, [](ServerOptions& options) { options.lease_seconds = 0.5; });
  const auto record = std::make_shared<Recorder::Record>();
  ClientOptions options = cluster.client(0);
  options.make_channel = [make = options.make_channel,
                          record](const std::string& endpoint) -> Result<std::unique_ptr<rpc::Channel>> {
    ASSIGN_OR_RETURN(auto channel, make(endpoint));
    return std::unique_ptr<rpc::Channel>(std::make_unique<Recorder>(std::move(channel), record));
  };
  auto client = Client::connect(options, counting_spec(1));
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  const auto beats = [&] {
    MutexLock lock(record->mutex);
    return std::ranges::count_if(record->methods, [](const auto& methods) { return methods.contains(wire::HEARTBEAT); });
  };
  for (const Deadline deadline = soon(); beats() == 0 && !deadline.passed();) std::this_thread::yield();
  EXPECT_TRUE((*client)->stats().ok());
  MutexLock lock(record->mutex);
  ASSERT_EQ(record->methods.size(), 2u);
  for (const std::set<uint16_t>& methods : record->methods) {
    EXPECT_EQ(methods.contains(wire::HEARTBEAT), !methods.contains(wire::STATS));
  }
}

}  // namespace
}  // namespace argosy::ps
