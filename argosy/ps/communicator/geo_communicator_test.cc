#include <fmt/format.h>
#include <gmock/gmock.h>

#include "argosy/ps/communicator/geo_rows.h"
#include "argosy/ps/communicator/make_communicator.h"
#include "argosy/ps/communicator/training_test.h"

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

// One worker and k batches between exchanges: the servers end with what the rule gives in one process.
TEST(GeoCommunicator, OneWorkerEqualsOneProcess) {
  for (const auto& [servers, rule] :
       {std::pair(1, "sgd"), std::pair(3, "sgd"), std::pair(1, "adam"), std::pair(3, "adagrad"), std::pair(3, "momentum")}) {
    SCOPED_TRACE(fmt::format("{} servers, {}", servers, rule));
    JobSpec spec = training_spec(Mode::geo, 1, rule, 0.05);
    for (TableSpec& table : spec.tables) {
      table.schedule = optim::exponential_decay(0.1, 2, 0.7);
      table.regularization = optim::L2Decay{0.01};
    }
    Cluster cluster(servers);
    TestWorker test(cluster.client(0), spec, {.geo_k_steps = 3});
    ASSERT_TRUE(test.status.ok()) << test.status.to_string();
    const Status status = test.train_round(1, 10);
    ASSERT_TRUE(status.ok()) << status.to_string();
    Oracle oracle(spec, {});
    for (uint32_t i = 0; i < 10; ++i) oracle.step({{TestBatch(0, 0, i), 1.0}});
    expect_equal(*test.client, oracle, 1e-5f);
    for (size_t i = 0; i < test.dense.size(); ++i) ASSERT_NEAR(test.dense[i], oracle.values(kDense)[i], 1e-5f);
    EXPECT_EQ(test.communicator->counters().pushes, 4u) << "three times three batches, and the last one";
  }
}

// Nothing goes to a server but once in k steps, by the client's counter of messages.
TEST(GeoCommunicator, SendsOncePerKSteps) {
  Cluster cluster(2);
  TestWorker test(cluster.client(0), training_spec(Mode::geo, 1), {.geo_k_steps = 5});
  ASSERT_TRUE(test.status.ok());
  const uint64_t before = test.client->counters().pushes;
  for (int step = 0; step < 4; ++step) ASSERT_TRUE(test.train(test.communicator->begin_batch()).ok());
  EXPECT_EQ(test.client->counters().pushes, before);
  for (int step = 0; step < 16; ++step) ASSERT_TRUE(test.train(test.communicator->begin_batch()).ok());
  ASSERT_TRUE(test.communicator->refresh().ok());
  EXPECT_EQ(test.client->counters().pushes, before + 4 * 2);
}

TEST(GeoCommunicator, RulesThatNeedAWholeParameterAreRefused) {
  Cluster cluster(1);
  EXPECT_THAT(Client::connect(cluster.client(0), training_spec(Mode::geo, 1, "lamb")).status().message(),
              HasSubstr("'lamb', whose update of an element depends on the others"));
}

// A server adds differences by no rule, so it keeps no moments.
TEST(GeoCommunicator, ServersKeepNoStates) {
  Cluster cluster(1);
  TestWorker test(cluster.client(0), training_spec(Mode::geo, 1, "adam"), {.geo_k_steps = 1});
  ASSERT_TRUE(test.status.ok());
  ASSERT_TRUE(test.train_round(1, 2).ok());
  std::vector<float> moment(20000);
  EXPECT_FALSE(test.client->pull_state(kDense, 0, {}, moment).ok());
}

// Two workers take turns. A worker sends half of what it has changed and keeps the other half; it receives what the other
// sent and keeps its own unsent part.
TEST(GeoCommunicator, WorkersExchangeDifferences) {
  JobSpec spec{.mode = Mode::geo, .workers = 2, .tables = {dense_table("w", 3), sparse_table("emb", 1)}};
  for (TableSpec& table : spec.tables) table.geo = true;
  Cluster cluster(2);
  struct Side {
    std::unique_ptr<Client> client;
    std::unique_ptr<Communicator> communicator;
    std::vector<float> dense = std::vector<float>(3);
    float row = 0;

    void pull() {
      const uint64_t key = 9;
      const RowRequest request{.table = 1, .keys = std::span(&key, 1), .rows = &row};
      ASSERT_TRUE(communicator->pull(std::span(&request, 1)).ok());
    }
    void add(float amount) {
      pull();
      const uint64_t key = 9;
      const float gradient = -amount;
      const std::vector<float> gradients(3, -amount);
      const DenseGradient dense_gradient{.table = 0, .values = gradients};
      const RowGradients rows{.table = 1, .keys = std::span(&key, 1), .values = &gradient};
      const Status status = communicator->step(
          {.batch_id = communicator->begin_batch(), .dense = std::span(&dense_gradient, 1), .rows = std::span(&rows, 1)});
      ASSERT_TRUE(status.ok()) << status.to_string();
      ASSERT_TRUE(communicator->refresh().ok());
      pull();
    }
  };
  Side sides[2];
  for (int worker = 0; worker < 2; ++worker) {
    Side& side = sides[worker];
    side.client = *Client::connect(cluster.client(worker), spec);
    ASSERT_TRUE(side.client->init_dense(0, std::vector<float>(3, 0.0f)).ok());
    side.communicator = *make_communicator({.geo_k_steps = 100}, *side.client);
    ASSERT_TRUE(side.communicator->bind_dense(0, side.dense).ok());
    ASSERT_TRUE(side.communicator->start().ok());
  }
  sides[0].pull();
  sides[1].pull();
  sides[0].add(8);  // sends 4, keeps 4
  EXPECT_EQ(sides[0].row, 8);
  EXPECT_EQ(sides[0].dense[0], 8);
  sides[1].add(2);  // sends 1, keeps 1, receives 4
  EXPECT_EQ(sides[1].row, 6);
  EXPECT_EQ(sides[1].dense[0], 6);
  sides[0].add(0);  // sends 2 of its 4, receives 1
  EXPECT_EQ(sides[0].row, 9);
  EXPECT_EQ(sides[0].dense[0], 9);
  // Nothing was trained since: nothing is sent, the unsent part stays, and what the other has sent arrives.
  const uint64_t pushes = sides[1].client->counters().pushes;
  for (int again = 0; again < 2; ++again) ASSERT_TRUE(sides[1].communicator->refresh().ok());
  sides[1].pull();
  EXPECT_EQ(sides[1].client->counters().pushes, pushes);
  EXPECT_EQ(sides[1].row, 8);
  EXPECT_EQ(sides[1].dense[0], 8);
  float held = 0;
  const uint64_t key = 9;
  const RowRequest request{.table = 1, .keys = std::span(&key, 1), .rows = &held};
  ASSERT_TRUE(sides[0].client->pull_rows(std::span(&request, 1)).ok());
  EXPECT_EQ(held, 4 + 1 + 2);

  // Values that a worker gives the table replace everything, and nothing of what was before is sent again.
  const float given = 100;
  ASSERT_TRUE(sides[1].communicator->store_dense(0, std::vector<float>(3, given)).ok());
  ASSERT_TRUE(sides[1].communicator->store_rows(1, std::span(&key, 1), std::span(&given, 1)).ok());
  sides[1].add(2);
  EXPECT_EQ(sides[1].row, 102);
  EXPECT_EQ(sides[1].dense[0], 102);
  ASSERT_TRUE(sides[0].client->pull_rows(std::span(&request, 1)).ok());
  EXPECT_EQ(held, 101);
}

// A rate that is set holds for the worker's own training.
TEST(GeoCommunicator, TrainsWithTheRateThatIsSet) {
  Cluster cluster(1);
  const JobSpec spec = training_spec(Mode::geo, 1, "sgd", 0.1);
  TestWorker test(cluster.client(0), spec, {});
  ASSERT_TRUE(test.status.ok());
  ASSERT_TRUE(test.communicator->set_rate(-1, 0.0f).ok());
  const auto before = test.dense;
  ASSERT_TRUE(test.train(test.communicator->begin_batch()).ok());
  EXPECT_EQ(test.dense, before);
  ASSERT_TRUE(test.communicator->set_rate(-1, std::nullopt).ok());
  ASSERT_TRUE(test.train(test.communicator->begin_batch()).ok());
  EXPECT_NE(test.dense, before);
  EXPECT_FALSE(test.communicator->set_rate(7, 1.0f).ok());
}

// Threads train while exchanges run; with one worker nothing may get lost on the way.
TEST(GeoCommunicator, ThreadsAndExchangesLoseNothing) {
  Cluster cluster(2);
  JobSpec spec{.mode = Mode::geo, .workers = 1, .tables = {dense_table("w", 5), sparse_table("emb", 1)}};
  for (TableSpec& table : spec.tables) table.geo = true;
  const auto client = *Client::connect(cluster.client(0), spec);
  ASSERT_TRUE(client->init_dense(0, std::vector<float>(5, 0.0f)).ok());
  const auto communicator = *make_communicator({.geo_k_steps = 3}, *client);
  std::vector<float> dense(5);
  ASSERT_TRUE(communicator->bind_dense(0, dense).ok());
  ASSERT_TRUE(communicator->start().ok());
  ASSERT_TRUE(*communicator->begin_round(3));
  as_workers(3, [&](int thread) {
    for (uint64_t i = 0; i < 200; ++i) {
      const uint64_t keys[] = {0, 1 + static_cast<uint64_t>(thread)};
      float rows[2];
      const float ones[] = {-1, -1};
      const std::vector<float> gradients(5, -1.0f);
      const RowRequest request{.table = 1, .keys = keys, .rows = rows};
      ASSERT_TRUE(communicator->pull(std::span(&request, 1)).ok());
      const DenseGradient dense_gradient{.table = 0, .values = gradients};
      const RowGradients row_gradients{.table = 1, .keys = keys, .values = ones};
      const Status status = communicator->step({.batch_id = communicator->begin_batch(),
                                                .dense = std::span(&dense_gradient, 1),
                                                .rows = std::span(&row_gradients, 1)});
      ASSERT_TRUE(status.ok()) << status.to_string();
    }
    ASSERT_TRUE(communicator->thread_done().ok());
  });
  ASSERT_TRUE(communicator->end_round().ok());
  const uint64_t keys[] = {0, 1, 2, 3};
  std::vector<float> rows(4);
  const RowRequest request{.table = 1, .keys = keys, .rows = rows.data()};
  ASSERT_TRUE(client->pull_rows(std::span(&request, 1)).ok());
  EXPECT_EQ(rows, (std::vector<float>{600, 200, 200, 200}));
  EXPECT_EQ(dense, std::vector<float>(5, 600.0f));
}

// The first process died when one server had its batch and the other had not. The next one trains that batch again, and the one
// after it with it: in one exchange, in which the first server must not find what it has.
TEST(GeoCommunicator, AWorkerThatIsStartedAgainTrainsOnlyWhatAServerLacks) {
  Cluster cluster(2, {}, true);
  JobSpec spec{.mode = Mode::geo, .workers = 1, .tables = {sparse_table("emb", 1)}};
  spec.tables[0].geo = true;
  std::vector<uint64_t> keys = {0, 0};  // one on each server
  for (int server : {0, 1}) {
    while (server_of(keys[static_cast<size_t>(server)], 2) != server) ++keys[static_cast<size_t>(server)];
  }
  std::vector<float> rows(2);
  const std::vector<float> gradients(2, -1.0f);
  const RowRequest request{.table = 0, .keys = keys, .rows = rows.data()};
  const RowGradients row_gradients{.table = 0, .keys = keys, .values = gradients.data()};
  const auto train = [&](Communicator& communicator) {
    return communicator.step({.batch_id = communicator.begin_batch(), .rows = std::span(&row_gradients, 1)});
  };
  {
    ClientOptions impatient = cluster.client(0);
    impatient.server_wait_seconds = 0.5;
    const auto client = *Client::connect(impatient, spec);
    const auto communicator = *make_communicator({.geo_k_steps = 1}, *client);
    ASSERT_TRUE(communicator->start().ok());
    ASSERT_TRUE(communicator->pull(std::span(&request, 1)).ok());
    cluster.kill(1);
    ASSERT_TRUE(train(*communicator).ok());
    ASSERT_FALSE(communicator->refresh().ok());
  }
  cluster.start(1);
  const auto client = *Client::connect(cluster.client(0), spec);
  ASSERT_TRUE(client->had(0, 0) && !client->had(1, 0));
  const auto communicator = *make_communicator({.geo_k_steps = 2}, *client);
  ASSERT_TRUE(communicator->start().ok());
  ASSERT_TRUE(communicator->pull(std::span(&request, 1)).ok());
  for (int batch = 0; batch < 2; ++batch) ASSERT_TRUE(train(*communicator).ok());
  ASSERT_TRUE(communicator->refresh().ok());
  ASSERT_TRUE(client->pull_rows(std::span(&request, 1)).ok());
  EXPECT_EQ(rows, (std::vector<float>{2, 2}));
}

TEST(GeoRows, KeepsTheUnsentPart) {
  const auto rule = *optim::make_rule("sgd");
  GeoRows rows(2, *rule);
  const optim::Step step = rule->begin_step(1, {});
  const std::vector<uint64_t> keys{5, 6};
  const std::vector<float> first{1, 1, 2, 2};
  rows.insert(keys, first.data());
  const std::vector<float> gradient{-4, -8};
  rows.train(std::span(keys).first(1), gradient.data(), step, {}, {});
  std::vector<uint64_t> sent;
  std::vector<float> differences;
  rows.collect(0.25f, sent, differences);
  EXPECT_EQ(sent, std::vector<uint64_t>{5});
  EXPECT_EQ(differences, (std::vector<float>{1, 2}));
  const std::vector<float> server{2 + 10, 3 + 20, 0, 0};
  rows.receive(keys, server);
  std::vector<float> now(4);
  std::vector<uint32_t> unknown;
  rows.read(keys, now.data(), unknown);
  EXPECT_EQ(now, (std::vector<float>{1 + 4 + 10, 1 + 8 + 20, 0, 0}));
  EXPECT_TRUE(unknown.empty());
  differences.clear(), sent.clear();
  rows.collect(1, sent, differences);
  EXPECT_TRUE(sent.empty()) << "nothing was trained since";
  const uint64_t stranger = 77;
  rows.read(std::span(&stranger, 1), now.data(), unknown);
  EXPECT_EQ(unknown, std::vector<uint32_t>{0});
}

}  // namespace
}  // namespace argosy::ps
