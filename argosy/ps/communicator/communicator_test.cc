#include "argosy/ps/communicator/communicator.h"

#include <gmock/gmock.h>

#include "argosy/base/mutex.h"
#include "argosy/ps/communicator/make_communicator.h"
#include "argosy/ps/communicator/training_test.h"
#include "argosy/ps/spec/messages.pb.h"

namespace argosy::ps {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Mode kModes[] = {Mode::sync, Mode::half_async, Mode::async, Mode::geo};

// One sparse table where a batch adds 1 to each of its keys, so that a row is the count of batches applied.
JobSpec counting_spec(Mode mode, int workers) {
  JobSpec spec{.mode = mode, .workers = workers, .tables = {dense_table("w", 17000), sparse_table("count", 1)}};
  for (TableSpec& table : spec.tables) table.geo = mode == Mode::geo;
  return spec;
}

std::vector<uint64_t> counted_keys() {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 64; ++i) keys.push_back(i * 7919);
  return keys;
}

// A worker that counts: client, communicator, and the dense table's storage.
struct Counter {
  Counter(const ClientOptions& client_options, const JobSpec& spec, const CommunicatorOptions& options) : dense(17000) {
    auto connected = Client::connect(client_options, spec);
    status = connected.status();
    if (!status.ok()) return;
    client = std::move(*connected);
    if (client->worker() == 0) status = client->init_dense(0, std::vector<float>(17000, 0.0f));
    if (status.ok()) status = client->wait_initialised(Deadline::after_seconds(60));
    if (!status.ok()) return;
    auto created = make_communicator(options, *client);
    status = created.status();
    if (!status.ok()) return;
    communicator = std::move(*created);
    status = communicator->bind_dense(0, dense);
    if (status.ok()) status = communicator->start();
  }

  Status step(BatchId batch) {
    std::vector<float> rows(keys.size());
    const RowRequest request{.table = 1, .keys = keys, .rows = rows.data()};
    RETURN_IF_ERROR(communicator->pull(std::span(&request, 1)));
    const DenseGradient gradient{.table = 0, .values = dense_ones};
    const RowGradients gradients{.table = 1, .keys = keys, .values = ones.data()};
    return communicator->step({.batch_id = batch, .dense = std::span(&gradient, 1), .rows = std::span(&gradients, 1)});
  }

  Status train_round(int threads, uint32_t batches) {
    ASSIGN_OR_RETURN(const bool wanted, communicator->begin_round(threads));
    if (!wanted) return {};
    std::vector<Status> ends(static_cast<size_t>(threads));
    Mutex data;
    uint32_t taken = 0;
    as_workers(threads, [&](int thread) {
      Status& end = ends[static_cast<size_t>(thread)];
      while (end.ok()) {
        BatchId batch;
        {
          std::lock_guard lock(data);
          if (taken++ >= batches) break;
          batch = communicator->begin_batch();
        }
        if (communicator->wants(batch)) end = step(batch);
      }
      if (end.ok()) end = communicator->thread_done();
    });
    for (const Status& end : ends) RETURN_IF_ERROR(end);
    return communicator->end_round();
  }

  // What the servers hold: every row and every dense element is `count`.
  void expect_count(float count) {
    std::vector<float> rows(keys.size()), now(17000);
    const RowRequest request{.table = 1, .keys = keys, .rows = rows.data(), .create = false};
    ASSERT_TRUE(client->pull_rows(std::span(&request, 1)).ok());
    EXPECT_EQ(rows, std::vector<float>(keys.size(), count));
    const DenseRequest dense_request{.table = 0, .values = now};
    ASSERT_TRUE(client->pull_dense(std::span(&dense_request, 1)).ok());
    EXPECT_EQ(now, std::vector<float>(17000, count));
  }

  Status status;
  std::vector<float> dense;
  std::unique_ptr<Client> client;
  std::unique_ptr<Communicator> communicator;
  const std::vector<uint64_t> keys = counted_keys();
  const std::vector<float> ones = std::vector<float>(64, -1.0f), dense_ones = std::vector<float>(17000, -1.0f);
};

TEST(Communicator, OptionsOutOfRangeAreNamed) {
  Cluster cluster(1);
  const auto client = Client::connect(cluster.client(0), counting_spec(Mode::async, 1));
  ASSERT_TRUE(client.ok());
  const auto message = [&](const CommunicatorOptions& options) {
    return make_communicator(options, **client).status().message();
  };
  EXPECT_THAT(message({.max_merge_var_num = 0}), HasSubstr("max_merge_var_num is 0; expected 1 or more"));
  EXPECT_THAT(message({.send_queue_size = -1}), HasSubstr("send_queue_size"));
  EXPECT_THAT(message({.thread_pool_size = 0}), HasSubstr("thread_pool_size"));
  EXPECT_THAT(message({.geo_k_steps = 0}), HasSubstr("geo_k_steps"));
  EXPECT_THAT(message({.norm_clips = {{.group = "g", .clip_norm = 1, .tables = {4}}}}), HasSubstr("table 4"));
  EXPECT_THAT(message({.norm_clips = {{.group = "g", .clip_norm = -1}}}), HasSubstr("clip_norm is -1"));
  EXPECT_THAT(message({.value_clips = {{.table = 0, .clip = {1, -1}}}}), HasSubstr("the maximum is below"));
}

TEST(Communicator, StorageMustFitAndBeThere) {
  Cluster cluster(1);
  const auto client = Client::connect(cluster.client(0), counting_spec(Mode::async, 1));
  ASSERT_TRUE(client.ok());
  auto communicator = make_communicator({}, **client);
  ASSERT_TRUE(communicator.ok());
  EXPECT_THAT((*communicator)->start().message(), HasSubstr("table 'w' has no storage"));
  std::vector<float> small(3), right(17000);
  EXPECT_THAT((*communicator)->bind_dense(0, small).message(), HasSubstr("17000 elements; the storage given has 3"));
  EXPECT_THAT((*communicator)->bind_dense(1, small).message(), HasSubstr("sparse"));
  EXPECT_TRUE((*communicator)->bind_dense(0, right).ok());
  EXPECT_EQ((*communicator)->bind_dense(0, right).code(), Code::already_exists);
}

// In every mode each batch of each worker counts exactly once, also where messages are lost and come twice. Sync counts
// steps, since it takes the mean.
TEST(Communicator, EveryBatchCountsOnceOnBadChannels) {
  for (const Mode mode : kModes) {
    const uint64_t seed = 5;
    SCOPED_TRACE(fmt::format("{}, seed {}", mode_name(mode), seed));
    const int workers = mode == Mode::geo ? 1 : 2;
    Cluster cluster(2);
    as_workers(workers, [&](int worker) {
      auto faults = std::make_shared<Faults>(seed + static_cast<uint64_t>(worker));
      faults->disturb(0.05);
      CommunicatorOptions options{
          .max_merge_var_num = 3, .send_wait_times = 1, .thread_pool_size = 2, .sum_merged = true, .geo_k_steps = 7};
      Counter counter(cluster.client(worker, faults), counting_spec(mode, workers), options);
      ASSERT_TRUE(counter.status.ok()) << counter.status.to_string();
      for (int round = 0; round < 2; ++round) {
        const Status status = counter.train_round(1, 25);
        ASSERT_TRUE(status.ok()) << status.to_string();
      }
      ASSERT_TRUE(counter.communicator->stop().ok());
      ASSERT_TRUE(counter.communicator->stop().ok()) << "twice is fine";
      ASSERT_TRUE(counter.client->barrier("end", Deadline::after_seconds(60)).ok());
      counter.expect_count(mode == Mode::half_async || mode == Mode::async ? 100 : 50);
    });
  }
}

// A worker is cut off after any number of calls and started again. It replays its script; each batch counts once on
// every server.
TEST(Communicator, ARestartedWorkerCountsEachBatchOnce) {
  for (const Mode mode : kModes) {
    for (int64_t cut = 4; cut < 120; cut += 9) {
      SCOPED_TRACE(fmt::format("{}, cut after {} calls", mode_name(mode), cut));
      Cluster cluster(2);
      int64_t cut_after = cut;
      for (bool done = false; !done;) {
        auto faults = std::make_shared<Faults>();
        faults->cut_after = std::exchange(cut_after, -1);
        ClientOptions client = cluster.client(0, faults);
        if (faults->cut_after >= 0) client.server_wait_seconds = 0.01;
        Counter counter(
            client, counting_spec(mode, 1),
            {.max_merge_var_num = 3, .send_wait_times = 1, .thread_pool_size = 2, .sum_merged = true, .geo_k_steps = 4});
        Status status = counter.status;
        for (int round = 0; round < 2 && status.ok(); ++round) status = counter.train_round(1, 10);
        if (status.ok()) status = counter.communicator->stop();
        done = status.ok();
        ASSERT_TRUE(done || faults->cut) << status.to_string();
        faults->heal();  // the cut may be still to come
        if (done) counter.expect_count(20);
      }
      if (HasFailure()) return;
    }
  }
}

// A server is killed and started again all the time.
TEST(Communicator, ARestartedServerChangesNothing) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(mode_name(mode));
    Cluster cluster(2, {}, true);
    std::atomic<bool> done = false;
    std::thread killer([&] {
      for (int i = 0; !done; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        cluster.kill(i % 2);
        cluster.start(i % 2);
      }
    });
    Counter counter(cluster.client(0), counting_spec(mode, 1), {.sum_merged = true, .geo_k_steps = 3});
    EXPECT_TRUE(counter.status.ok()) << counter.status.to_string();
    Status status = counter.status;
    for (int round = 0; round < 2 && status.ok(); ++round) status = counter.train_round(1, 60);
    EXPECT_TRUE(status.ok()) << status.to_string();
    done = true;
    killer.join();
    counter.expect_count(120);
  }
}

// With one worker standing still, all but sync go on.
TEST(Communicator, OnlySyncWaitsForAWorkerThatStandsStill) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(mode_name(mode));
    Cluster cluster(1);
    const JobSpec spec = counting_spec(mode, 2);
    std::unique_ptr<Counter> idle;
    std::thread other([&] { idle = std::make_unique<Counter>(cluster.client(1), spec, CommunicatorOptions{}); });
    // The thread that goes on may wait for its own threads as long as these take.
    Counter busy(cluster.client(0), spec, {.geo_k_steps = 2, .sync_wait_seconds = mode == Mode::sync ? 0.5 : 60});
    other.join();
    ASSERT_TRUE(busy.status.ok() && idle->status.ok());
    Status status;
    for (int i = 0; i < 6 && status.ok(); ++i) status = busy.step(busy.communicator->begin_batch());
    EXPECT_EQ(status.code(), mode == Mode::sync ? Code::deadline_exceeded : Code::ok) << status.to_string();
  }
}

// With one thread standing still, sync and half_async wait for it, async and geo go on.
TEST(Communicator, OnlyMeetingModesWaitForAThreadThatStandsStill) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(mode_name(mode));
    Cluster cluster(1);
    const bool meets = mode == Mode::sync || mode == Mode::half_async;
    Counter counter(cluster.client(0), counting_spec(mode, 1), {.geo_k_steps = 2, .sync_wait_seconds = meets ? 0.3 : 60});
    ASSERT_TRUE(counter.status.ok());
    ASSERT_TRUE(counter.communicator->begin_parallel(2).ok());
    Status status;
    for (int i = 0; i < 6 && status.ok(); ++i) status = counter.step(counter.communicator->begin_batch());
    EXPECT_EQ(status.code(), meets ? Code::deadline_exceeded : Code::ok) << status.to_string();
    if (meets) {
      EXPECT_THAT(status.message(), HasSubstr("1 of this worker's 2 trainer threads"));
    }
  }
}

// A step lacks nobody's batch: where a thread fails, the others' part of it is not sent, and a round that goes on has all of it.
TEST(Communicator, AStepIsNotTakenWithoutAThreadThatFails) {
  for (const Mode mode : {Mode::sync, Mode::half_async}) {
    SCOPED_TRACE(mode_name(mode));
    Cluster cluster(2);
    Counter counter(cluster.client(0), counting_spec(mode, 1), {});
    ASSERT_TRUE(counter.train_round(2, 4).ok());
    counter.expect_count(2);
    ASSERT_TRUE(*counter.communicator->begin_round(2));
    Status waited;
    std::thread other([&] { waited = counter.step(counter.communicator->begin_batch(0)); });
    counter.communicator->thread_failed(Status::invalid_argument("data:6: a bad line"));
    other.join();
    EXPECT_EQ(waited.code(), Code::invalid_argument);
    EXPECT_THAT(waited.message(), AllOf(HasSubstr("another trainer thread"), HasSubstr("data:6: a bad line")));
    EXPECT_EQ(counter.step(counter.communicator->begin_batch(1)), waited) << "also one that comes later";
    counter.communicator->abandon_round(waited);
    counter.expect_count(2);
    ASSERT_TRUE(counter.train_round(2, 4).ok());
    counter.expect_count(4);
  }
}

TEST(Communicator, WhereThreadsDoNotMeetTheOthersGoOn) {
  for (const Mode mode : {Mode::async, Mode::geo}) {
    SCOPED_TRACE(mode_name(mode));
    Cluster cluster(1);
    Counter counter(cluster.client(0), counting_spec(mode, 1), {.geo_k_steps = 2});
    ASSERT_TRUE(*counter.communicator->begin_round(2));
    counter.communicator->thread_failed(Status::invalid_argument("data:6: a bad line"));
    EXPECT_TRUE(counter.step(counter.communicator->begin_batch(0)).ok());
  }
}

// Threads of a worker meet in half_async: one push a step, with the mean of their gradients.
TEST(Communicator, HalfAsyncSendsTheMeanOfItsThreads) {
  Cluster cluster(2);
  Counter counter(cluster.client(0), counting_spec(Mode::half_async, 1), {});
  ASSERT_TRUE(counter.train_round(3, 30).ok());
  counter.expect_count(10);
  EXPECT_EQ(counter.communicator->counters().pushes, 10u);
  EXPECT_EQ(counter.communicator->counters().merged_batches, 30u);
  EXPECT_EQ(counter.dense, std::vector<float>(17000, 10.0f)) << "what the worker sees";
}

// async: at most max_merge_var_num batches a push, added up or averaged.
TEST(Communicator, AsyncMergesWhatIsQueued) {
  for (const bool sum : {true, false}) {
    SCOPED_TRACE(sum);
    Cluster cluster(2);
    Counter counter(cluster.client(0), counting_spec(Mode::async, 1),
                    {.max_merge_var_num = 4, .send_wait_times = 10'000, .sum_merged = sum});
    ASSERT_TRUE(counter.train_round(1, 32).ok());
    counter.expect_count(sum ? 32 : 8);
    EXPECT_EQ(counter.communicator->counters().pushes, 8u);
    EXPECT_EQ(counter.communicator->counters().merged_batches, 32u);
  }
}

// A server that does not answer fills the queue, and a full queue stops the threads.
TEST(Communicator, AFullQueueBlocksTheThread) {
  Cluster cluster(1);
  auto faults = std::make_shared<Faults>();
  Counter counter(cluster.client(0, faults), counting_spec(Mode::async, 1), {.send_queue_size = 3, .sync_wait_seconds = 0.2});
  ASSERT_TRUE(counter.status.ok());
  const DenseGradient gradient{.table = 0, .values = counter.dense_ones};
  const auto step = [&] {
    return counter.communicator->step({.batch_id = counter.communicator->begin_batch(), .dense = std::span(&gradient, 1)});
  };
  faults->cut = true;
  Status status = step();
  ASSERT_TRUE(wait_for([&] { return faults->lost_requests(wire::PUSH) > 0; })) << "the first is on its way";
  int steps = 1;
  for (; steps < 10 && status.ok(); ++steps) status = step();
  EXPECT_EQ(status.code(), Code::deadline_exceeded);
  EXPECT_THAT(status.message(), HasSubstr("4 batches could not be sent"));
  EXPECT_EQ(steps, 4) << "three are queued or on their way, and one is too many";
  faults->cut = false;
}

// Dense parameters are received after so many pushes, by either thread.
TEST(Communicator, AsyncReceivesAfterSoManyPushes) {
  for (const bool independent : {true, false}) {
    SCOPED_TRACE(independent);
    Cluster cluster(1);
    Counter counter(cluster.client(0), counting_spec(Mode::async, 1),
                    {.min_send_grad_num_before_recv = 10, .independent_recv_thread = independent});
    ASSERT_TRUE(counter.train_round(1, 35).ok());
    // One at the start, one at the end of the round, three between; a thread of its own may come late and find all due at once.
    const uint64_t receives = counter.communicator->counters().receives;
    EXPECT_LE(receives, 5u);
    EXPECT_GE(receives, independent ? 2u : 5u);
    EXPECT_EQ(counter.dense, std::vector<float>(17000, 35.0f));
  }
}

// A receive that is under way when a round ends must not come after the round's own, with older values.
TEST(Communicator, TheLastReceiveOfARoundIsTheNewest) {
  Cluster cluster(1);
  auto faults = std::make_shared<Faults>();
  Counter counter(cluster.client(0, faults), counting_spec(Mode::async, 1), {.min_send_grad_num_before_recv = 10});
  ASSERT_TRUE(counter.status.ok()) << counter.status.to_string();
  faults->hold_next(wire::PULL_DENSE);
  ASSERT_TRUE(counter.communicator->begin_round(1).ok());
  for (int batch = 0; batch < 10; ++batch) ASSERT_TRUE(counter.step(counter.communicator->begin_batch()).ok());
  ASSERT_TRUE(wait_for([&] { return faults->keeps(); }));
  for (int batch = 0; batch < 5; ++batch) ASSERT_TRUE(counter.step(counter.communicator->begin_batch()).ok());
  std::jthread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    faults->release();
  });
  ASSERT_TRUE(counter.communicator->end_round().ok());
  late.join();
  ASSERT_TRUE(counter.communicator->stop().ok());
  EXPECT_EQ(counter.dense, std::vector<float>(17000, 15.0f));
}

// Dense parameters come late, and the threads do not run away from them.
TEST(Communicator, AsyncThreadsWaitForAReceiverThatComesLate) {
  Cluster cluster(1);
  auto faults = std::make_shared<Faults>();
  Counter counter(cluster.client(0, faults), counting_spec(Mode::async, 1),
                  {.send_queue_size = 3, .min_send_grad_num_before_recv = 2});
  ASSERT_TRUE(counter.status.ok()) << counter.status.to_string();
  faults->hold_next(wire::PULL_DENSE);
  ASSERT_TRUE(counter.communicator->begin_round(1).ok());
  std::atomic<int> steps = 0;
  std::jthread training([&] {
    for (; steps < 40; ++steps) ASSERT_TRUE(counter.step(counter.communicator->begin_batch()).ok());
  });
  constexpr int kMost = 3 + 2 - 1;  // what the queue holds, and a receive that is not due
  EXPECT_TRUE(wait_for([&] { return faults->keeps() && steps == kMost; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(steps, kMost);
  faults->release();
  training.join();
  EXPECT_EQ(steps, 40);
  EXPECT_TRUE(counter.communicator->end_round().ok());
  EXPECT_TRUE(counter.communicator->stop().ok());  // the receiver may write until then
  EXPECT_EQ(counter.dense, std::vector<float>(17000, 40.0f));
}

// An async worker computes with parameters that lack none of its own batches, however late the servers are.
TEST(Communicator, AsyncParametersHaveTheWorkersOwnBatches) {
  Cluster cluster(2);
  auto faults = std::make_shared<Faults>();
  Counter counter(cluster.client(0, faults), counting_spec(Mode::async, 1), {.send_queue_size = 8});
  ASSERT_TRUE(counter.status.ok()) << counter.status.to_string();
  ASSERT_TRUE(counter.communicator->begin_round(1).ok());
  faults->hold_next(wire::PULL_DENSE);
  for (int batch = 1; batch <= 6; ++batch) {
    ASSERT_TRUE(counter.step(counter.communicator->begin_batch()).ok());
    // No receive comes through, and so nobody else writes there.
    EXPECT_EQ(counter.dense, std::vector<float>(17000, static_cast<float>(batch)));
  }
  ASSERT_TRUE(wait_for([&] { return faults->keeps(); }));
  faults->release();
  ASSERT_TRUE(counter.communicator->end_round().ok());
  ASSERT_TRUE(counter.communicator->stop().ok());
  EXPECT_EQ(counter.dense, std::vector<float>(17000, 6.0f));
  counter.expect_count(6);
}

// Rows that are pulled ahead have every batch that was finished before.
TEST(Communicator, RowsThatArePulledAheadWaitForWhatWasSent) {
  Cluster cluster(1);
  auto faults = std::make_shared<Faults>();
  Counter counter(cluster.client(0, faults), counting_spec(Mode::async, 1), {.send_queue_size = 8});
  ASSERT_TRUE(counter.status.ok()) << counter.status.to_string();
  ASSERT_TRUE(counter.communicator->begin_round(1).ok());
  faults->hold_next(wire::PUSH);
  for (int batch = 0; batch < 3; ++batch) ASSERT_TRUE(counter.step(counter.communicator->begin_batch()).ok());
  ASSERT_TRUE(wait_for([&] { return faults->keeps(); }));
  std::vector<float> rows(counter.keys.size());
  std::atomic<bool> pulled = false;
  std::jthread ahead([&] {
    EXPECT_TRUE(counter.communicator->before_prefetch().ok());
    const RowRequest request{.table = 1, .keys = counter.keys, .rows = rows.data()};
    EXPECT_TRUE(counter.communicator->pull(std::span(&request, 1)).ok());
    pulled = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(pulled);
  faults->release();
  ahead.join();
  EXPECT_EQ(rows, std::vector<float>(counter.keys.size(), 3.0f));
  EXPECT_TRUE(counter.communicator->end_round().ok());
  EXPECT_TRUE(counter.communicator->stop().ok());
}

// Nobody waits for ever: neither for servers that are gone, nor for a batch that waits to be merged.
TEST(Communicator, ThePullAheadDoesNotWaitForEver) {
  Cluster cluster(1);
  auto faults = std::make_shared<Faults>();
  Counter gone(cluster.client(0, faults), counting_spec(Mode::async, 1), {.send_queue_size = 8, .sync_wait_seconds = 0.2});
  ASSERT_TRUE(gone.status.ok()) << gone.status.to_string();
  faults->cut = true;
  const DenseGradient gradient{.table = 0, .values = gone.dense_ones};
  ASSERT_TRUE(gone.communicator->step({.batch_id = gone.communicator->begin_batch(), .dense = std::span(&gradient, 1)}).ok());
  EXPECT_THAT(gone.communicator->before_prefetch().message(), HasSubstr("1 batches could not be sent in 0 s"));
  faults->cut = false;

  Cluster merging(1);
  Counter merges(merging.client(0), counting_spec(Mode::async, 1), {.max_merge_var_num = 4, .send_wait_times = 10'000});
  ASSERT_TRUE(merges.status.ok()) << merges.status.to_string();
  ASSERT_TRUE(merges.step(merges.communicator->begin_batch()).ok());
  EXPECT_TRUE(merges.communicator->before_prefetch().ok());
}

// In the modes without sync a worker clips each batch before anything is merged.
TEST(Communicator, WorkersClipBeforeTheySend) {
  for (const Mode mode : {Mode::half_async, Mode::async, Mode::geo}) {
    SCOPED_TRACE(mode_name(mode));
    Cluster cluster(2);
    // 64 rows of -1 have the norm 8; the dense gradient is clipped to -0.25.
    Counter counter(cluster.client(0), counting_spec(mode, 1),
                    {.geo_k_steps = 3,
                     .norm_clips = {{.group = "count", .clip_norm = 4, .tables = {1}}},
                     .value_clips = {{.table = 0, .clip = {-0.25f, 0.25f}}}});
    ASSERT_TRUE(counter.status.ok()) << counter.status.to_string();
    ASSERT_TRUE(counter.train_round(1, 8).ok());
    std::vector<float> rows(64), now(17000);
    const RowRequest request{.table = 1, .keys = counter.keys, .rows = rows.data()};
    ASSERT_TRUE(counter.client->pull_rows(std::span(&request, 1)).ok());
    EXPECT_EQ(rows, std::vector<float>(64, 4.0f));
    const DenseRequest dense{.table = 0, .values = now};
    ASSERT_TRUE(counter.client->pull_dense(std::span(&dense, 1)).ok());
    EXPECT_EQ(now, std::vector<float>(17000, 2.0f));
  }
}

}  // namespace
}  // namespace argosy::ps
