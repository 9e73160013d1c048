#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/ps/client/cluster_test.h"
#include "argosy/ps/communicator/communicator.h"
#include "argosy/ps/communicator/make_communicator.h"

// Operations of workers that are killed and started again, on servers that are too.
namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

JobSpec one_table(int workers, Mode mode = Mode::async) {
  return {.mode = mode, .workers = workers, .tables = {dense_table("w", 4)}};
}

std::unique_ptr<Client> connected(const Cluster& cluster, const JobSpec& spec, int worker = 0,
                                  std::shared_ptr<Faults> faults = nullptr) {
  auto client = Client::connect(cluster.client(worker, std::move(faults)), spec);
  EXPECT_TRUE(client.ok()) << client.status().to_string();
  return client.ok() ? std::move(*client) : nullptr;
}

// Counts how often an operation's body is run; its answer says which time it was.
struct Body {
  OperationBody run() {
    return [this](uint64_t with) -> Result<std::string> {
      number = with;
      return std::to_string(++times);
    };
  }
  int times = 0;
  uint64_t number = 0;
};

Operation save(BatchId position, const std::string& target = "model") {
  return {.kind = "save", .target = target, .position = position};
}

TEST(ClientOnce, AWorkerThatIsStartedAgainGetsTheOldAnswers) {
  Cluster cluster(2);
  const JobSpec spec = one_table(2);
  Body body;
  {
    const auto client = connected(cluster, spec);
    EXPECT_EQ(client->once(save(5), body.run())->answer, "1");
    EXPECT_EQ(client->once(save(5), body.run())->answer, "2") << "the same place twice is two operations";
    EXPECT_EQ(client->once(save(5, "other"), body.run())->answer, "3");
    EXPECT_EQ(client->once(save(6), body.run())->answer, "4");
  }
  const auto again = connected(cluster, spec);
  for (const char* answer : {"1", "2"}) {
    const auto outcome = again->once(save(5), body.run());
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_TRUE(outcome->before);
    EXPECT_EQ(outcome->answer, answer);
  }
  EXPECT_EQ(again->once(save(5, "other"), body.run())->answer, "3");
  EXPECT_EQ(again->once(save(6), body.run())->answer, "4");
  EXPECT_EQ(body.times, 4) << "nothing was repeated";
  EXPECT_FALSE(again->once(save(6), body.run())->before) << "a second one at the last place";
  EXPECT_FALSE(again->once(save(7), body.run())->before);
  EXPECT_FALSE(connected(cluster, spec, 1)->once(save(5), body.run())->before) << "another worker's";
  EXPECT_EQ(body.times, 7);
}

// What server 0 remembers survives its own death, in the log and in snapshots.
TEST(ClientOnce, AServerThatIsStartedAgainRemembers) {
  for (const bool snapshots : {false, true}) {
    SCOPED_TRACE(snapshots);
    Cluster cluster(
        2, [&](ServerOptions& options) { options.log_limit_bytes = snapshots ? 4096 : options.log_limit_bytes; }, true);
    const JobSpec spec = one_table(1);
    Body body;
    uint64_t number = 0;
    {
      const auto client = connected(cluster, spec);
      for (uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(client->once(save(batch_id(0, i)), body.run()).ok());
      number = body.number;
      ASSERT_TRUE(!snapshots || wait_for([&] { return (*client->stats())[0].snapshots > 0; }));
    }
    cluster.kill(0);
    cluster.start(0);
    const auto again = connected(cluster, spec);
    for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(again->once(save(batch_id(0, i)), body.run())->answer, std::to_string(i + 1));
    EXPECT_EQ(body.times, 100);
    Body next;
    ASSERT_TRUE(again->once(save(batch_id(0, 100)), next.run()).ok());
    EXPECT_NE(next.number, number);
  }
}

// A process that dies in an operation has not done it: the next one does, under the same number, by which servers know their
// part.
TEST(ClientOnce, WhatWasNotSeenThroughIsDoneAgainUnderItsNumber) {
  Cluster cluster(1, {}, true);
  const JobSpec spec = one_table(1);
  uint64_t number = 0;
  {
    const auto client = connected(cluster, spec);
    const auto failed = client->once(save(3), [&](uint64_t with) -> Result<std::string> {
      number = with;
      return Status::unavailable("the disk is full");
    });
    EXPECT_THAT(failed.status().message(), HasSubstr("the disk is full"));
    Body retried;
    EXPECT_FALSE(client->once(save(4), retried.run())->before);
  }
  cluster.kill(0);
  cluster.start(0);
  Body body;
  const auto again = connected(cluster, spec);
  EXPECT_FALSE(again->once(save(3), body.run())->before);
  EXPECT_EQ(body.number, number);
}

TEST(ClientOnce, ABodyThatFailsIsTriedAgainAsTheSame) {
  Cluster cluster(1);
  const auto client = connected(cluster, one_table(1));
  std::vector<uint64_t> numbers;
  const auto body = [&](uint64_t number) -> Result<std::string> {
    numbers.push_back(number);
    if (numbers.size() == 1) return Status::unavailable("not now");
    return std::string("done");
  };
  EXPECT_FALSE(client->once(save(0), body).ok());
  EXPECT_EQ(client->once(save(0), body)->answer, "done");
  ASSERT_TRUE(client->once(save(0), body).ok());
  ASSERT_EQ(numbers.size(), 3u);
  EXPECT_EQ(numbers[0], numbers[1]);
  EXPECT_NE(numbers[1], numbers[2]);
}

// Lost and repeated messages change nothing.
TEST(ClientOnce, LostMessagesDoNotRepeatIt) {
  Cluster cluster(2);
  const JobSpec spec = one_table(1);
  const auto faults = std::make_shared<Faults>(4);
  const auto client = connected(cluster, spec, 0, faults);
  faults->disturb(0.3);
  Body body;
  for (uint32_t i = 0; i < 50; ++i) {
    const auto outcome = client->once(save(i), body.run());
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_FALSE(outcome->before);
  }
  EXPECT_EQ(body.times, 50);
}

// A job that is over leaves its tables to the next run, and none of its operations.
TEST(ClientOnce, ANewRunBeginsWithNone) {
  int launches = 0;
  Cluster cluster(
      1,
      [&](ServerOptions& options) {
        options.launch = std::to_string(++launches);
        options.on_old_state = OnOldState::resume;
      },
      true);
  const JobSpec spec = one_table(1);
  Body body;
  {
    const auto client = connected(cluster, spec);
    ASSERT_TRUE(client->once(save(0), body.run()).ok());
    ASSERT_TRUE(client->stop().ok());
  }
  const uint64_t number = body.number;
  cluster.kill(0);
  cluster.start(0);
  const auto next = connected(cluster, spec);
  EXPECT_FALSE(next->once(save(0), body.run())->before);
  EXPECT_EQ(body.times, 2);
  EXPECT_NE(body.number, number);
}

// The places that a script comes to are those of the first time, over passes and batches that are skipped, in every mode.
class Places : public testing::TestWithParam<Mode> {};
TEST_P(Places, OfAReplayedScriptAreThoseOfTheFirstTime) {
  Cluster cluster(2);
  const JobSpec spec = [&] {
    JobSpec made = one_table(1, GetParam());
    made.tables[0].geo = GetParam() == Mode::geo;
    return made;
  }();
  const std::vector<float> gradient(4, -1);
  // Two passes of a dataset, batches that the script feeds itself, with a barrier between them, and one more pass.
  const auto script = [&](int until) {
    std::vector<BatchId> places;
    const auto client = connected(cluster, spec);
    std::vector<float> w(4, 0);
    EXPECT_TRUE(client->init_dense(0, w).ok());
    const auto communicator = *make_communicator({.geo_k_steps = 1}, *client);
    EXPECT_TRUE(communicator->bind_dense(0, w).ok());
    EXPECT_TRUE(communicator->start().ok());
    const DenseGradient dense{.table = 0, .values = gradient};
    const auto step = [&](BatchId id) { EXPECT_TRUE(communicator->step({.batch_id = id, .dense = {&dense, 1}}).ok()); };
    const auto here = [&] { return places.push_back(communicator->next_batch()), static_cast<int>(places.size()) == until; };
    const auto dataset_pass = [&] {
      if (!*communicator->begin_round(1)) return;
      for (uint32_t i = 0; i < 3; ++i) {
        const BatchId id = communicator->begin_batch(i);
        if (communicator->wants(id)) step(id);
      }
      EXPECT_TRUE(communicator->thread_done().ok());
      EXPECT_TRUE(communicator->end_round().ok());
    };
    const auto rest = [&]() -> bool {
      if (here()) return false;
      for (int pass = 0; pass < 2; ++pass) {
        dataset_pass();
        if (here()) return false;
      }
      for (int i = 0; i < 4; ++i) {
        step(communicator->begin_batch());
        if (here()) return false;
        if (i != 1) continue;
        EXPECT_TRUE(communicator->before_gathering().ok());
        if (here()) return false;
      }
      dataset_pass();
      return !here();
    };
    EXPECT_TRUE(!rest() || communicator->stop().ok());
    return places;  // what is not finished is left as a kill leaves it
  };
  const size_t all = 9;
  std::vector<BatchId> expected;
  for (int until = 1; until <= static_cast<int>(all); ++until) {
    const auto places = script(until);
    ASSERT_EQ(places.size(), static_cast<size_t>(until));
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), places.begin()));
    expected = places;
  }
  EXPECT_EQ(script(100), expected);
}
INSTANTIATE_TEST_SUITE_P(All, Places, testing::Values(Mode::sync, Mode::half_async, Mode::async, Mode::geo),
                         [](const auto& info) { return std::string(mode_name(info.param)); });

}  // namespace
}  // namespace argosy::ps
