#include <gmock/gmock.h>

#include "argosy/base/wait_check.h"
#include "argosy/ps/communicator/training_test.h"

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

struct Shape {
  int workers, servers, threads;
};

struct Case {
  std::string name;
  std::function<void(JobSpec&, CommunicatorOptions&)> change;
};

std::vector<Case> cases() {
  const auto group = [](JobSpec& spec, CommunicatorOptions& options, const std::string& name, float norm,
                        std::vector<int> tables) {
    for (const int table : tables) spec.tables[static_cast<size_t>(table)].clip_group = name;
    options.norm_clips.push_back({.group = name, .clip_norm = norm, .tables = std::move(tables)});
  };
  return {
      {"plain", [](JobSpec&, CommunicatorOptions&) {}},
      {"schedule and L2",
       [](JobSpec& spec, CommunicatorOptions&) {
         for (TableSpec& table : spec.tables) {
           table.schedule = optim::exponential_decay(0.1, 2, 0.5);
           table.regularization = optim::L2Decay{0.01};
         }
         spec.tables[kRows].rate_factor = 0.5f;
       }},
      {"clip by value",
       [](JobSpec& spec, CommunicatorOptions&) {
         for (TableSpec& table : spec.tables) table.value_clip = ValueClip{-0.1f, 0.4f};
       }},
      {"clip by norm",
       [group](JobSpec& spec, CommunicatorOptions& options) {
         group(spec, options, "w", 2, {kDense});
         group(spec, options, "b", 1000, {kBias});
         group(spec, options, "emb", 0.5, {kRows});
       }},
      {"clip by global norm, L1",
       [group](JobSpec& spec, CommunicatorOptions& options) {
         group(spec, options, "all", 1.5, {kDense, kBias, kRows});
         spec.tables[kDense].regularization = optim::L1Decay{0.001};
       }},
  };
}

// `rounds` rounds with as many batches for each worker as `batches` says, on an undisturbed cluster and on the oracle.
void expect_oracle(const JobSpec& spec, const CommunicatorOptions& options, Shape shape, int rounds,
                   const std::vector<uint32_t>& batches, std::shared_ptr<Faults> faults = nullptr) {
  Cluster cluster(shape.servers);
  as_workers(shape.workers, [&](int worker) {
    TestWorker test(cluster.client(worker, faults), spec, options);
    ASSERT_TRUE(test.status.ok()) << test.status.to_string();
    for (int round = 0; round < rounds; ++round) {
      const Status status = test.train_round(shape.threads, batches[static_cast<size_t>(worker)]);
      ASSERT_TRUE(status.ok()) << status.to_string();
    }
    ASSERT_TRUE(test.communicator->stop().ok());
    ASSERT_TRUE(test.client->barrier("end", Deadline::after_seconds(60)).ok());
    Oracle oracle(spec, options.norm_clips);
    for (int round = 0; round < rounds; ++round) {
      const auto threads = static_cast<uint32_t>(shape.threads);
      for (uint32_t first = 0;; first += threads) {
        std::vector<std::pair<TestBatch, double>> step;
        int workers = 0;
        for (const uint32_t count : batches) workers += first < count;
        if (workers == 0) break;
        for (int other = 0; other < shape.workers; ++other) {
          const uint32_t count = batches[static_cast<size_t>(other)];
          const uint32_t here = first < count ? std::min(threads, count - first) : 0;
          for (uint32_t i = 0; i < here; ++i) {
            step.emplace_back(TestBatch(other, static_cast<uint32_t>(round), first + i), 1.0 / here / workers);
          }
        }
        oracle.step(step);
      }
    }
    expect_equal(*test.client, oracle, 1e-6f);
  });
}

// The promise of the mode: W workers with T threads and S servers give, step for step, what one process gives.
TEST(SyncCommunicator, EqualsOneProcess) {
  std::vector<Shape> shapes;
  for (int workers = 1; workers <= 3; ++workers) {
    for (int servers = 1; servers <= 3; ++servers) {
      for (int threads = 1; threads <= 2; ++threads) shapes.push_back({workers, servers, threads});
    }
  }
  const std::vector<Shape> some = {{1, 1, 1}, {2, 1, 1}, {1, 2, 2}, {2, 2, 1}, {3, 2, 2}, {2, 3, 2}};
  for (const std::string rule : {"sgd", "momentum", "adagrad", "adam"}) {
    for (const Case& named : cases()) {
      for (const Shape& shape : named.name == "plain" ? shapes : some) {
        SCOPED_TRACE(fmt::format("{}, {}: {} workers, {} servers, {} threads", rule, named.name, shape.workers, shape.servers,
                                 shape.threads));
        JobSpec spec = training_spec(Mode::sync, shape.workers, rule, 0.05);
        CommunicatorOptions options;
        named.change(spec, options);
        const std::vector<uint32_t> batches(static_cast<size_t>(shape.workers), static_cast<uint32_t>(4 * shape.threads));
        ASSERT_NO_FATAL_FAILURE(expect_oracle(spec, options, shape, 1, batches));
      }
    }
  }
}

// Workers with little data leave the round, those with more go on with the mean over who is left; the next round has all.
TEST(SyncCommunicator, UnequalDataEndsWithoutAHang) {
  const JobSpec spec = training_spec(Mode::sync, 3, "adam", 0.05);
  expect_oracle(spec, {}, {3, 2, 2}, 3, {7, 2, 0});
}

// A worker with little data waits for one with much, longer than sync_wait_seconds, as long as steps are made.
TEST(SyncCommunicator, WaitsForTheEndOfARoundWhileStepsAreMade) {
  Cluster cluster(2);
  const JobSpec spec = training_spec(Mode::sync, 2);
  as_workers(2, [&](int worker) {
    TestWorker test(cluster.client(worker), spec, {.sync_wait_seconds = 4});  // much more than a step takes
    ASSERT_TRUE(test.status.ok()) << test.status.to_string();
    const auto slow = [](uint32_t) { std::this_thread::sleep_for(std::chrono::milliseconds(500)); };
    const Stopwatch watch;
    const Status status = worker == 0 ? test.train_round(1, 1) : test.train_round(1, 18, slow);
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_GT(watch.seconds(), 9.0) << "both leave the round together";
    ASSERT_TRUE(test.communicator->stop().ok());
  });
}

// A worker that waits for the others in a barrier is not waited for in steps; after it all take steps together again.
TEST(SyncCommunicator, WhoIsInAGatheringIsNotWaitedFor) {
  Cluster cluster(2);
  const JobSpec spec = training_spec(Mode::sync, 2);
  as_workers(2, [&](int worker) {
    TestWorker test(cluster.client(worker), spec, {.sync_wait_seconds = 60});
    ASSERT_TRUE(test.status.ok()) << test.status.to_string();
    for (int turn = 0; turn < 3; ++turn) {
      const int steps = (worker + turn) % 2 == 0 ? 5 : turn;
      for (int i = 0; i < steps; ++i) {
        const BatchId batch = test.communicator->begin_batch();
        const Status status = test.communicator->step({.batch_id = batch});
        ASSERT_TRUE(status.ok()) << status.to_string();
      }
      ASSERT_TRUE(test.communicator->before_gathering().ok());
      const Status met = test.client->barrier("all", Deadline::after_seconds(60));
      ASSERT_TRUE(met.ok()) << met.to_string();
    }
    ASSERT_TRUE(test.communicator->refresh().ok());
    ASSERT_TRUE(test.communicator->stop().ok());
  });
}

TEST(SyncCommunicator, LostAndRepeatedMessagesChangeNothing) {
  const uint64_t seed = 11;
  SCOPED_TRACE(seed);
  auto faults = std::make_shared<Faults>(seed);
  faults->disturb(0.08);
  JobSpec spec = training_spec(Mode::sync, 2, "adagrad", 0.05);
  CommunicatorOptions options;
  cases()[4].change(spec, options);
  expect_oracle(spec, options, {2, 2, 1}, 2, {6, 5}, faults);
}

// After each step all workers hold the same parameters.
TEST(SyncCommunicator, WorkersAgreeAfterEachStep) {
  Cluster cluster(2);
  const JobSpec spec = training_spec(Mode::sync, 2, "adam");
  std::vector<std::vector<float>> seen[2];
  as_workers(2, [&](int worker) {
    TestWorker test(cluster.client(worker), spec, {});
    ASSERT_TRUE(test.status.ok()) << test.status.to_string();
    for (int step = 0; step < 5; ++step) {  // a feeder's steps, outside a round
      ASSERT_TRUE(test.train(test.communicator->begin_batch()).ok());
      seen[worker].push_back(test.dense);
    }
    ASSERT_TRUE(test.communicator->stop().ok());
  });
  ASSERT_EQ(seen[0].size(), 5u);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(seen[0][0], seen[0][4]);
}

// A worker that stands still stops the others, who are told its name.
TEST(SyncCommunicator, AStoppedWorkerBlocksTheOthersAndIsNamed) {
  Cluster cluster(2);
  const JobSpec spec = training_spec(Mode::sync, 2);
  std::unique_ptr<TestWorker> idle;
  std::thread other([&] { idle = std::make_unique<TestWorker>(cluster.client(1), spec, CommunicatorOptions{}); });
  TestWorker busy(cluster.client(0), spec, {.sync_wait_seconds = 8});
  other.join();
  ASSERT_TRUE(busy.status.ok()) << busy.status.to_string();
  const Status status = busy.train(busy.communicator->begin_batch());
  EXPECT_EQ(status.code(), Code::deadline_exceeded);
  EXPECT_THAT(status.message(), HasSubstr("worker 1"));
  EXPECT_EQ(busy.communicator->refresh(), status) << "the first error stays";
}

// After Ctrl-C in the middle of a step a script may still save and leave; who goes on is not held up by it.
TEST(SyncCommunicator, AnInterruptedWorkerCanReceiveAndStopButNotTrainOn) {
  Cluster cluster(2);
  const JobSpec spec = training_spec(Mode::sync, 2);
  std::unique_ptr<TestWorker> other;
  std::thread starting([&] { other = std::make_unique<TestWorker>(cluster.client(1), spec, CommunicatorOptions{}); });
  TestWorker worker(cluster.client(0), spec, {});
  starting.join();
  ASSERT_TRUE(worker.status.ok()) << worker.status.to_string();
  set_wait_check([] { return true; });
  const Status interrupted = worker.train(worker.communicator->begin_batch());
  set_wait_check(nullptr);
  EXPECT_EQ(interrupted.code(), Code::cancelled);
  const Status again = worker.train(worker.communicator->begin_batch());
  EXPECT_EQ(again.code(), Code::cancelled);
  EXPECT_THAT(again.message(), HasSubstr("cannot train on; it can save what the servers hold, and stop"));
  EXPECT_EQ(worker.communicator->refresh(), Status());
  EXPECT_EQ(worker.communicator->stop(), Status());
  EXPECT_EQ(worker.client->stop(), Status());
  const Status alone = other->train(other->communicator->begin_batch());
  EXPECT_TRUE(alone.ok()) << alone.to_string();
}

// A worker is cut off at any moment, in the middle of a step, and started again: it replays its script, and the result is
// that of an undisturbed run.
TEST(SyncCommunicator, ARestartedWorkerChangesNothing) {
  for (const bool clips : {false, true}) {
    for (int64_t cut = 3; cut < 60; cut += 4) {
      SCOPED_TRACE(fmt::format("cut after {} calls, clips {}", cut, clips));
      JobSpec spec = training_spec(Mode::sync, 2, "adam", 0.05);
      CommunicatorOptions options;
      if (clips) cases()[4].change(spec, options);
      Cluster cluster(2);
      as_workers(2, [&](int worker) {
        int64_t cut_after = worker == 1 ? cut : -1;
        for (bool done = false; !done;) {
          const auto faults = std::make_shared<Faults>();
          faults->cut_after = std::exchange(cut_after, -1);
          ClientOptions client = cluster.client(worker, faults);
          if (faults->cut_after >= 0) client.server_wait_seconds = 0.01;
          TestWorker test(client, spec, options);
          Status status = test.status;
          for (int round = 0; round < 2 && status.ok(); ++round) status = test.train_round(1, 4);
          if (status.ok()) status = test.communicator->stop();
          if (status.ok()) status = test.client->barrier("end", Deadline::after_seconds(60));
          done = status.ok();
          ASSERT_TRUE(done || faults->cut) << status.to_string();
          if (!done) continue;
          faults->heal();  // the cut may be still to come
          Oracle oracle(spec, options.norm_clips);
          for (uint32_t i = 0; i < 8; ++i) {
            oracle.step({{TestBatch(0, i / 4, i % 4), 0.5}, {TestBatch(1, i / 4, i % 4), 0.5}});
          }
          expect_equal(*test.client, oracle, 1e-6f);
        }
      });
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace argosy::ps
