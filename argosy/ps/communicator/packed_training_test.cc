// Training in sync mode with tables that are rounded on the wire: the parameters are those of an undisturbed run, bit by bit.
#include <gtest/gtest.h>

#include <thread>

#include "argosy/ps/communicator/training_test.h"

namespace argosy::ps {
namespace {

constexpr uint32_t kSteps = 8, kRestartAfter = 3;

JobSpec rounded_spec(WireFormat format) {
  JobSpec spec = training_spec(Mode::sync, 2, "momentum");
  for (TableSpec& table : spec.tables) table.wire_format = format;
  return spec;
}

Status run_script(TestWorker& worker, uint32_t steps, const std::function<void(uint32_t)>& each) {
  RETURN_IF_ERROR(worker.status);
  for (uint32_t i = 0; i < steps; ++i) {
    const BatchId batch = worker.communicator->begin_batch();
    if (!worker.communicator->wants(batch)) continue;
    RETURN_IF_ERROR(worker.train(batch));
    if (each) each(i);
  }
  return {};
}

struct Disturbed {
  bool messages = false, server = false, worker = false;
};

std::vector<float> train(WireFormat format, Disturbed disturbed) {
  Cluster cluster(2, {}, true);
  const JobSpec spec = rounded_spec(format);
  std::vector<std::unique_ptr<TestWorker>> workers(2);
  std::vector<std::thread> threads;
  for (int index = 0; index < 2; ++index) {
    threads.emplace_back([&, index] {
      const auto faults = std::make_shared<Faults>(static_cast<uint64_t>(index) + 5);
      auto& worker = workers[static_cast<size_t>(index)];
      const auto begin = [&] {
        worker = std::make_unique<TestWorker>(cluster.client(index, faults), spec, CommunicatorOptions());
      };
      begin();
      if (disturbed.messages) faults->disturb(0.1);
      if (disturbed.worker && index == 1) {
        const Status before = run_script(*worker, kRestartAfter, {});
        EXPECT_TRUE(before.ok()) << before.to_string();
        worker.reset();  // without a word to the servers
        begin();
      }
      const Status ended = run_script(*worker, kSteps, [&](uint32_t step) {
        if (!disturbed.server || index != 0 || step != kRestartAfter) return;
        cluster.kill(1);
        cluster.start(1);
      });
      EXPECT_TRUE(ended.ok()) << ended.to_string();
      faults->heal();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<float> values(20'003);
  const DenseRequest requests[] = {{.table = kDense, .values = std::span(values).first(20'000)},
                                   {.table = kBias, .values = std::span(values).last(3)}};
  EXPECT_TRUE(workers[0]->client->pull_dense(requests).ok());
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 30; ++i) keys.push_back(i * 0x123456789ULL);
  std::vector<float> rows(keys.size() * 4);
  const RowRequest request{.table = kRows, .keys = keys, .rows = rows.data(), .create = false};
  EXPECT_TRUE(workers[0]->client->pull_rows(std::span(&request, 1)).ok());
  values.insert(values.end(), rows.begin(), rows.end());
  return values;
}

TEST(PackedTraining, Bfloat16EndsWithTheBitsOfAnUndisturbedRunWhateverIsKilled) {
  const auto undisturbed = train(WireFormat::bfloat16, {});
  EXPECT_NE(undisturbed, train(WireFormat::float32, {})) << "nothing was rounded";
  EXPECT_EQ(train(WireFormat::bfloat16, {.messages = true, .server = true}), undisturbed);
  EXPECT_EQ(train(WireFormat::bfloat16, {.worker = true}), undisturbed);
}

// A worker's own restart loses what rounding has left out, and is not among the promises with int8.
TEST(PackedTraining, Int8EndsWithTheBitsOfAnUndisturbedRunWhenServersAreKilled) {
  const auto undisturbed = train(WireFormat::int8, {});
  EXPECT_EQ(train(WireFormat::int8, {.messages = true, .server = true}), undisturbed);
  const auto restarted = train(WireFormat::int8, {.worker = true});
  const auto exact = train(WireFormat::float32, {});
  for (size_t i = 0; i < exact.size(); ++i) ASSERT_NEAR(restarted[i], exact[i], 0.02) << i;
}

}  // namespace
}  // namespace argosy::ps
