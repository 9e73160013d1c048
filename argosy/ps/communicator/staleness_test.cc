// What servers tell of how stale gradients are, in each mode, where the test knows it: the order of readings and pushes is its
// own.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "argosy/observe/metrics.h"
#include "argosy/ps/communicator/training_test.h"

namespace argosy::ps {
namespace {

using ByBound = std::map<double, uint64_t>;

ByBound staleness_of(TestWorker& worker, int table, uint64_t* sum = nullptr) {
  const auto stats = worker.client->stats();
  EXPECT_TRUE(stats.ok()) << stats.status().to_string();
  const ServerStats::Table& of_table = (*stats)[0].tables[static_cast<size_t>(table)];
  if (sum != nullptr) *sum = of_table.staleness_sum;
  return of_table.staleness;
}

void expect_staleness(TestWorker& worker, const ByBound& expected, uint64_t expected_sum) {
  for (const int table : {kDense, kBias, kRows}) {
    uint64_t sum = 0;
    EXPECT_EQ(staleness_of(worker, table, &sum), expected) << "table " << table;
    EXPECT_EQ(sum, expected_sum) << "table " << table;
  }
}

// A batch in two parts, so that others can push in between.
struct Halves {
  explicit Halves(TestWorker& owner) : worker(owner), id(worker.communicator->begin_batch()), batch(0, 0, 0) {
    const RowRequest request{.table = kRows, .keys = batch.keys, .rows = rows.data()};
    status = worker.communicator->pull(std::span(&request, 1));
  }
  Status push() {
    const DenseGradient dense[] = {{.table = kDense, .values = ones}, {.table = kBias, .values = std::span(ones).first(3)}};
    const RowGradients of_rows{.table = kRows, .keys = batch.keys, .values = rows.data()};
    return worker.communicator->step({.batch_id = id, .dense = dense, .rows = std::span(&of_rows, 1)});
  }

  TestWorker& worker;
  const BatchId id;
  const TestBatch batch;
  std::vector<float> rows = std::vector<float>(48), ones = std::vector<float>(20000, 0.01f);
  Status status;
};

Status train_and_refresh(TestWorker& worker, int batches) {
  for (int i = 0; i < batches; ++i) {
    RETURN_IF_ERROR(worker.train(worker.communicator->begin_batch()));
    RETURN_IF_ERROR(worker.communicator->refresh());
  }
  return {};
}

#define ASSERT_FINE(expression) \
  if (const Status fine = (expression); !fine.ok()) FAIL() << fine.to_string()

TEST(Staleness, IsNoneInSyncMode) {
  Cluster cluster(1);
  const JobSpec spec = training_spec(Mode::sync, 2);
  as_workers(2, [&](int number) {
    TestWorker worker(cluster.client(number), spec, {});
    ASSERT_FINE(worker.status);
    ASSERT_FINE(worker.train_round(2, 6));
    ASSERT_FINE(worker.train_round(1, 4));
    if (number == 0) expect_staleness(worker, {{0, 2 * (3 + 4)}}, 0);
    ASSERT_FINE(worker.communicator->stop());
  });
}

// A worker that reads before three batches of another worker and pushes after them is three batches late; the others are not.
TEST(Staleness, CountsTheBatchesOfOthersInHalfAsyncAndAsyncMode) {
  for (const Mode mode : {Mode::half_async, Mode::async}) {
    SCOPED_TRACE(mode_name(mode));
    Cluster cluster(1);
    const JobSpec spec = training_spec(mode, 2);
    TestWorker slow(cluster.client(0), spec, {}), fast(cluster.client(1), spec, {});
    ASSERT_FINE(slow.status);
    ASSERT_FINE(fast.status);
    expect_staleness(slow, {}, 0);
    Halves late(slow);
    ASSERT_FINE(late.status);
    ASSERT_FINE(train_and_refresh(fast, 3));
    ASSERT_FINE(late.push());
    ASSERT_FINE(slow.communicator->refresh());
    expect_staleness(slow, {{0, 3}, {4, 1}}, 3);
    ASSERT_FINE(train_and_refresh(slow, 1));
    expect_staleness(slow, {{0, 4}, {4, 1}}, 3);
  }
}

// Rows that another thread pulls one batch ahead lack the batch that is computed meanwhile.
TEST(Staleness, RowsThatArePulledAheadLackOneBatch) {
  Cluster cluster(1);
  TestWorker worker(cluster.client(0), training_spec(Mode::async, 1), {});
  ASSERT_FINE(worker.status);
  Halves first(worker);
  ASSERT_FINE(first.status);
  std::unique_ptr<Halves> second;
  std::thread([&] { second = std::make_unique<Halves>(worker); }).join();
  ASSERT_FINE(second->status);
  ASSERT_FINE(first.push());
  ASSERT_FINE(worker.communicator->refresh());
  ASSERT_FINE(second->push());
  ASSERT_FINE(worker.communicator->refresh());
  uint64_t sum = 0;
  EXPECT_EQ(staleness_of(worker, kRows, &sum), (ByBound{{0, 1}, {1, 1}}));
  EXPECT_EQ(sum, 1u);
}

// A geo push is as old as the oldest of its batches, which was computed from what the exchange before has brought.
TEST(Staleness, CountsFromTheLastExchangeInGeoMode) {
  Cluster cluster(1);
  const JobSpec spec = training_spec(Mode::geo, 2);
  const CommunicatorOptions options{.geo_k_steps = 2};
  TestWorker slow(cluster.client(0), spec, options), fast(cluster.client(1), spec, options);
  ASSERT_FINE(slow.status);
  ASSERT_FINE(fast.status);
  ASSERT_FINE(slow.train(slow.communicator->begin_batch()));
  for (int i = 0; i < 2; ++i) ASSERT_FINE(fast.train(fast.communicator->begin_batch()));
  ASSERT_FINE(fast.communicator->refresh());
  expect_staleness(fast, {{0, 1}}, 0);
  ASSERT_FINE(slow.train(slow.communicator->begin_batch()));
  ASSERT_FINE(slow.communicator->refresh());
  expect_staleness(fast, {{0, 1}, {2, 1}}, 2);
  for (int i = 0; i < 2; ++i) ASSERT_FINE(slow.train(slow.communicator->begin_batch()));
  ASSERT_FINE(slow.communicator->refresh());
  expect_staleness(fast, {{0, 2}, {2, 1}}, 2);
}

// What observes the server finds the same, dense parameters as one.
TEST(Staleness, IsAmongTheMetricsOfTheServer) {
  Cluster cluster(1);
  TestWorker worker(cluster.client(0), training_spec(Mode::half_async, 1), {});
  ASSERT_FINE(worker.status);
  ASSERT_FINE(train_and_refresh(worker, 5));
  std::map<std::string, double> at_zero;
  const auto samples = observe::parse_samples(observe::Registry::process().text());
  ASSERT_TRUE(samples.ok());
  for (const observe::Sample& sample : *samples) {
    if (sample.name != "argosy_server_pushes_by_staleness_total" || sample.label("staleness_up_to") != "0") continue;
    at_zero[fmt::format("{}{}", sample.label("parameters"), sample.label("table"))] = sample.value;
  }
  EXPECT_EQ(at_zero, (std::map<std::string, double>{{"dense", 5}, {"emb", 5}}));
}

}  // namespace
}  // namespace argosy::ps
