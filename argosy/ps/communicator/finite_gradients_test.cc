#include "argosy/ps/communicator/finite_gradients.h"

#include <gmock/gmock.h>

#include <limits>

#include "argosy/ps/client/cluster_test.h"
#include "argosy/ps/communicator/make_communicator.h"

namespace argosy::ps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

uint64_t key_of(int server, int servers = 2) {
  uint64_t key = 0;
  while (server_of(key, servers) != server) ++key;
  return key;
}

JobSpec geo_spec() {
  JobSpec spec{.mode = Mode::geo, .workers = 1, .tables = {dense_table("w", 40000), sparse_table("emb", 2)}};
  for (TableSpec& table : spec.tables) table.geo = true;
  return spec;
}

// One batch: the dense gradient has a NaN in the part of server 1, the second of two rows an infinity.
struct BadBatch {
  BadBatch() {
    dense_values[30000] = kNan;
    dense = {.table = 0, .values = dense_values};
    rows = {.table = 1, .keys = keys, .values = row_values.data()};
  }
  StepGradients gradients(BatchId batch) const { return {.batch_id = batch, .dense = {&dense, 1}, .rows = {&rows, 1}}; }

  std::vector<float> dense_values = std::vector<float>(40000, -1.0f);
  std::vector<uint64_t> keys = {key_of(0), key_of(1)};
  std::vector<float> row_values = {-1, -1, -1, kInf};
  DenseGradient dense;
  RowGradients rows;
};

TEST(FiniteGradients, ARefusalNamesTheBatchAndTheNumber) {
  const JobSpec spec = geo_spec();
  const FiniteGradients finite(spec, 2, 3, Nonfinite::refuse);
  BadBatch batch;
  EXPECT_FALSE(finite.is_finite(batch.gradients(batch_id(2, 7))));
  EXPECT_THAT(finite.refusal(batch.gradients(batch_id(2, 7))).message(),
              HasSubstr("worker 3, batch 7 of pass 2: table 'w', element 30000: the gradient is nan; a smaller"));
  batch.dense_values[30000] = 0;
  EXPECT_THAT(finite.refusal(batch.gradients(batch_id(2, 7))).message(),
              HasSubstr(fmt::format("table 'emb', key {}: number 1 of its gradient is inf", key_of(1))));
  batch.row_values[3] = 0;
  EXPECT_TRUE(finite.is_finite(batch.gradients(0)));
}

TEST(FiniteGradients, AGradientIsLeftOutOrItsNumbersAre) {
  const JobSpec spec = geo_spec();
  for (const Nonfinite policy : {Nonfinite::skip, Nonfinite::clip}) {
    FiniteGradients finite(spec, 2, 0, policy);
    GradientCopy copy;
    copy.assign(spec, BadBatch().gradients(0));
    finite.make_finite(copy);
    const auto dense = copy.values(0);
    const float rest = policy == Nonfinite::skip ? 0.0f : -1.0f;
    EXPECT_EQ(dense[0], -1) << "the part of another server";
    EXPECT_EQ(dense[30000], 0);
    EXPECT_EQ(dense[39999], rest);
    EXPECT_THAT(copy.values(1), ElementsAre(-1, -1, rest, 0));
    std::vector<uint64_t> counts;
    finite.take_counts(counts);
    EXPECT_THAT(counts, ElementsAre(0, 0, 1, 1)) << "by server and table";
    counts.clear();
    finite.take_counts(counts);
    EXPECT_TRUE(counts.empty());
  }
}

// ---- A worker.

struct GeoWorker {
  GeoWorker(Cluster& cluster, Nonfinite policy) : client(*Client::connect(cluster.client(0), geo_spec())) {
    EXPECT_TRUE(client->init_dense(0, dense).ok());
    communicator = *make_communicator({.geo_k_steps = 2, .nonfinite = policy}, *client);
    EXPECT_TRUE(communicator->bind_dense(0, dense).ok());
    EXPECT_TRUE(communicator->start().ok());
  }
  Status train(const BadBatch& batch) {
    std::vector<float> values(4);
    const RowRequest request{.table = 1, .keys = batch.keys, .rows = values.data()};
    RETURN_IF_ERROR(communicator->pull(std::span(&request, 1)));
    return communicator->step(batch.gradients(communicator->begin_batch()));
  }
  std::vector<float> held(const BadBatch& batch) {
    std::vector<float> values(4);
    const RowRequest request{.table = 1, .keys = batch.keys, .rows = values.data()};
    EXPECT_TRUE(client->pull_rows(std::span(&request, 1)).ok());
    return values;
  }

  std::vector<float> dense = std::vector<float>(40000);
  const std::unique_ptr<Client> client;
  std::unique_ptr<Communicator> communicator;
};

// One bad batch in four: the others count, in the worker's copy and on the servers, which count what was left out.
TEST(GeoNonfinite, OneBadBatchDoesNotSpoilTheWorkersCopy) {
  for (const Nonfinite policy : {Nonfinite::skip, Nonfinite::clip}) {
    Cluster cluster(2, [&](ServerOptions& options) { options.nonfinite = policy; });
    GeoWorker worker(cluster, policy);
    BadBatch bad, good;
    good.dense_values[30000] = -1;
    good.row_values[3] = -1;
    for (const BadBatch* batch : {&good, &bad, &good, &good}) ASSERT_TRUE(worker.train(*batch).ok());
    ASSERT_TRUE(worker.communicator->refresh().ok());
    const float clipped = policy == Nonfinite::clip ? 4.0f : 3.0f;
    EXPECT_THAT(worker.held(good), ElementsAre(4, 4, clipped, 3));
    EXPECT_EQ(worker.dense[0], 4);
    EXPECT_EQ(worker.dense[30000], 3);
    EXPECT_EQ(worker.dense[39999], clipped);
    const auto stats = worker.client->stats();
    ASSERT_TRUE(stats.ok());
    EXPECT_EQ(stats->at(0).tables[0].nonfinite + stats->at(0).tables[1].nonfinite, 0u);
    EXPECT_EQ(stats->at(1).tables[0].nonfinite, 1u);
    EXPECT_EQ(stats->at(1).tables[1].nonfinite, 1u);
  }
}

TEST(GeoNonfinite, ARefusedBatchIsNamedAndNothingIsTrainedWithIt) {
  Cluster cluster(2);
  GeoWorker worker(cluster, Nonfinite::refuse);
  BadBatch bad, good;
  good.dense_values[30000] = -1;
  good.row_values[3] = -1;
  ASSERT_TRUE(worker.train(good).ok());
  const Status refused = worker.train(bad);
  EXPECT_EQ(refused.code(), Code::invalid_argument);
  EXPECT_THAT(refused.message(), HasSubstr("worker 0, batch 1 of pass 0: table 'w', element 30000"));
  EXPECT_EQ(worker.dense[30000], 1);
  EXPECT_FALSE(worker.train(good).ok()) << "the script does not go on without it";
}

}  // namespace
}  // namespace argosy::ps
