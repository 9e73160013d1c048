// A disk that hangs for longer than a lease: workers that live are not lost, and what does not need the disk goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "argosy/ps/client.h"
#include "argosy/ps/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;

// What stands between this process's logs and the disk.
struct Disk {
  std::mutex mutex;
  std::condition_variable changed;
  bool hangs = false;  // guarded by mutex, as is the next
  int waiting = 0;

  void wait_for_it() {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.notify_all();
    changed.wait(lock, [this] { return !hangs; });
    --waiting;
  }
  void set(bool value) {
    std::lock_guard lock(mutex);
    hangs = value;
    changed.notify_all();
  }
  bool wait_until_somebody_waits(double seconds) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return waiting > 0; });
  }
} disk;

}  // namespace
}  // namespace argosy::ps

// Takes the place of the C library's for this program: logs are written with it.
extern "C" ssize_t pwritev(int fd, const struct iovec* pieces, int count, off_t offset) {
  argosy::ps::disk.wait_for_it();
  return ::syscall(SYS_pwritev, fd, pieces, count, offset, offset >> 32 >> 32);
}

namespace argosy::ps {
namespace {

constexpr double kLease = 1.5;
constexpr double kPatience = 60;

Result<std::unique_ptr<Client>> connect(const Server& server, const JobSpec& spec, int worker) {
  ClientOptions options;
  options.servers = {server.endpoint()};
  options.job = "test";
  options.worker = worker;
  options.call_seconds = 20;
  return Client::connect(options, spec);
}

constexpr int kWorkers = 6;

// A push of every worker, more than the server has threads, waits for the disk; then every worker is asked for, over three
// leases. Each worker pushes once: in sync mode a worker's steps follow each other.
void push_while_the_disk_hangs(Mode mode) {
  Folder folder;
  ServerOptions options;
  options.job = "test";
  options.directory = folder.path();
  options.lease_seconds = kLease;
  options.on_worker_loss = OnWorkerLoss::shrink;
  options.threads = 2;
  const JobSpec spec = job(mode, kWorkers, {counting_rows()});
  auto server = Server::start(options);
  ASSERT_TRUE(server.ok()) << server.status().message();
  std::vector<std::unique_ptr<Client>> clients;
  for (int worker = 0; worker < kWorkers; ++worker) {
    auto client = connect(**server, spec, worker);
    ASSERT_TRUE(client.ok()) << client.status().message();
    clients.push_back(std::move(*client));
  }

  disk.set(true);
  std::vector<std::future<Status>> pushes;
  for (auto& client : clients) {
    pushes.push_back(std::async(std::launch::async, [&client, mode] {
      const BatchId batch = batch_id(0, 0);
      const uint64_t key = 7;
      const float values[] = {-1, -1};
      const RowGradients rows{.table = 0, .keys = {&key, 1}, .values = values};
      const std::optional<Position> step = mode == Mode::sync ? std::optional(Position{0, 0}) : std::nullopt;
      return client->push({.batches = {&batch, 1}, .step = step, .dense = {}, .rows = {&rows, 1}});
    }));
  }
  const bool waits = disk.wait_until_somebody_waits(kPatience);
  EXPECT_TRUE(waits) << "no push reached the disk";
  for (const Stopwatch watch; waits && watch.seconds() < 3 * kLease;) {
    const Stopwatch answered;
    const auto stats = clients.back()->stats();
    EXPECT_TRUE(stats.ok()) << stats.status().message();
    if (!stats.ok()) break;
    EXPECT_LT(answered.seconds(), kLease);
    for (const auto& worker : (*stats)[0].workers) EXPECT_EQ(worker.state, "live");
    std::vector<float> row(2);
    const uint64_t key = 3;
    const RowRequest read{.table = 0, .keys = {&key, 1}, .rows = row.data(), .create = false};
    EXPECT_TRUE(clients.back()->pull_rows({&read, 1}).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  disk.set(false);
  for (auto& push : pushes) {
    const Status status = push.get();
    EXPECT_TRUE(status.ok()) << status.message();
  }
  for (auto& client : clients) client->fail("the test is over");
}

TEST(SlowDisk, LosesNobodyInAsyncMode) { push_while_the_disk_hangs(Mode::async); }
TEST(SlowDisk, LosesNobodyInSyncMode) { push_while_the_disk_hangs(Mode::sync); }

}  // namespace
}  // namespace argosy::ps
