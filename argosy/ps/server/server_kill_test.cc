// argosy-server as a process that is killed with SIGKILL at random moments and started again on its directory, while workers
// push integers at rate 1: a row is then the count of what was applied.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>

#include "argosy/ps/server/server_process_test.h"

namespace argosy::ps {
namespace {

using namespace scratch;

// Says hello before each reading: a server that was started again, perhaps in between, does not know its observers.
Result<std::vector<float>> observe_rows(Worker& observer, const std::vector<uint64_t>& keys) {
  RETURN_IF_ERROR(observer.observe().status());
  auto rows = observer.pull_rows(0, keys);
  if (rows.status().code() == Code::unauthenticated) return Status::unavailable("{}", rows.status().message());
  return rows;
}

// Kills and starts the server until `done`, once at least, at intervals that hit every phase: replay, pushes, snapshots. Each
// life answers something, however slow the machine is.
void disturb(ServerProcess& process, const std::atomic<bool>& done, Random& random) {
  do {
    const int64_t before = answered;
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random.below(150)));
    while (answered == before && !done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    process.kill();
    process.start();
  } while (!done);
}

struct Mishaps {
  uint64_t seed = std::random_device{}();
  std::vector<std::string> flags(const Folder& folder) const {
    return {"--job",           "test", "--run-id",    kRun, "--directory", folder.path().string(), "--stay",
            "--lease-seconds", "100",  "--log-limit", "30K"};  // snapshots are cut all the time
  }
};

TEST(ServerKill, CountsEveryPushOnceInAsyncMode) {
  constexpr int kWorkers = 2;
  constexpr uint32_t kBatches = 400;
  const Mishaps mishaps;
  SCOPED_TRACE(::testing::Message() << "seed " << mishaps.seed);
  Folder folder;
  const JobSpec spec = job(Mode::async, kWorkers, {counting_rows()});
  ServerProcess process(ARGOSY_SERVER_PROGRAM, mishaps.flags(folder));
  process.start();
  std::atomic<bool> done = false;
  std::vector<std::future<std::map<uint64_t, float>>> running;
  for (int index = 0; index < kWorkers; ++index) {
    running.push_back(std::async(std::launch::async, [&, index] {
      std::map<uint64_t, float> expected;
      Random random(mishaps.seed, static_cast<uint64_t>(index));
      uint64_t process_id = static_cast<uint64_t>(index + 1) << 32;
      Worker worker = connect(process, spec, index, process_id);
      EXPECT_TRUE(persist([&] { return worker.hello(); }).ok());
      for (uint32_t batch = 0; batch < kBatches; ++batch) {
        if (random.below(50) == 0) {  // the worker is started again too
          worker = connect(process, spec, index, ++process_id);
          EXPECT_EQ(persist([&] { return worker.hello(); })->window().through(), batch);
        }
        std::vector<uint64_t> keys;
        for (uint64_t i = 0; i < 50; ++i) keys.push_back(i * 40 + random.below(40));
        for (const uint64_t key : keys) ++expected[key];
        const std::vector<float> values(keys.size() * 2, -1);
        const auto outcome = persist([&] { return worker.push({batch_id(0, batch)}, {{0, keys, values}}); });
        EXPECT_TRUE(outcome.ok()) << outcome.status().message();
      }
      return expected;
    }));
  }
  Random random(mishaps.seed, 99);
  auto disturbing = std::async(std::launch::async, [&] { disturb(process, done, random); });
  std::map<uint64_t, float> expected;
  for (auto& one : running) {
    for (const auto& [key, count] : one.get()) expected[key] += count;
  }
  done = true;
  disturbing.get();
  Worker observer = connect(process, spec, 0, 1);
  ASSERT_TRUE(persist([&] { return observer.observe(); }).ok());
  for (const auto& [key, count] : expected) {
    ASSERT_THAT(*persist([&, key = key] { return observer.pull_rows(0, {key}); }), ::testing::ElementsAre(count, count))
        << "key " << key;
  }
  EXPECT_EQ(process.end(), 0);
}

TEST(ServerKill, EndsASyncJobWithTheResultOfAnUndisturbedOne) {
  constexpr uint32_t kSteps = 150;
  const Mishaps mishaps;
  SCOPED_TRACE(::testing::Message() << "seed " << mishaps.seed);
  Folder folder;
  TableSpec rows = counting_rows();
  rows.rule = "adam";  // the order of steps and the powers of beta show in the bits
  const JobSpec spec = job(Mode::sync, 2, {rows});
  const auto train = [&](ServerProcess& process) {
    std::vector<std::future<void>> running;
    for (int index = 0; index < 2; ++index) {
      running.push_back(std::async(std::launch::async, [&, index] {
        Worker worker = connect(process, spec, index, static_cast<uint64_t>(index) + 5);
        EXPECT_TRUE(persist([&] { return worker.hello(); }).ok());
        for (uint32_t step = 0; step < kSteps; ++step) {
          const std::vector<uint64_t> keys = {1, step % 7 + 2u};
          const std::vector<float> values = {1.0f + static_cast<float>(index), 0.1f, -0.3f, static_cast<float>(step)};
          EXPECT_TRUE(persist([&] { return worker.push({batch_id(0, step)}, {{0, keys, values}}, {}, Position{0, step}); }).ok());
          EXPECT_TRUE(persist([&] { return worker.pull_rows(0, {1}, Position{0, step + 1}, 5); }).ok());
        }
      }));
    }
    for (auto& one : running) one.get();
    Worker observer = connect(process, spec, 0, 1);
    return *persist([&] { return observe_rows(observer, {1, 2, 3, 4, 5, 6, 7, 8}); });
  };
  ServerProcess undisturbed(ARGOSY_SERVER_PROGRAM, {"--job", "test", "--run-id", kRun, "--stay"});
  undisturbed.start();
  const std::vector<float> expected = train(undisturbed);
  ServerProcess process(ARGOSY_SERVER_PROGRAM, mishaps.flags(folder));
  process.start();
  std::atomic<bool> done = false;
  Random random(mishaps.seed, 98);
  auto disturbing = std::async(std::launch::async, [&] { disturb(process, done, random); });
  const std::vector<float> found = train(process);
  done = true;
  disturbing.get();
  EXPECT_EQ(found, expected);  // every bit
}

}  // namespace
}  // namespace argosy::ps
