// A disk that hangs for longer than a lease: workers that live are not lost, and what does not need the disk goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <numeric>
#include <string>
#include <thread>

#include "argosy/base/mutex.h"
#include "argosy/ps/client/client.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;

// What stands between this process and the disk; writes of logs, or reads of cold rows, hang while it says so.
struct Disk {
  Mutex mutex;
  ConditionVariable changed;
  bool hangs = false;  // guarded by mutex, as is the next
  int waiting = 0;
  std::atomic<bool> full = false;

  void wait_for_it() {
    MutexLock lock(mutex);
    ++waiting;
    changed.notify_all();
    changed.wait(lock, [this] { return !hangs; });
    --waiting;
  }
  void set(bool value) {
    MutexLock lock(mutex);
    hangs = value;
    changed.notify_all();
  }
  bool wait_until_somebody_waits(double seconds) {
    MutexLock lock(mutex);
    return changed.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return waiting > 0; });
  }
} disk, cold_disk;

bool is_cold(int fd) {
  char path[1024];
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof(path));
  return size > 0 && std::string_view(path, static_cast<size_t>(size)).find("/cold/") != std::string_view::npos;
}

}  // namespace
}  // namespace argosy::ps

// Takes the place of the C library's for this program: logs are written with it.
extern "C" ssize_t pwritev(int fd, const struct iovec* pieces, int count, off_t offset) {
  argosy::ps::disk.wait_for_it();
  if (argosy::ps::disk.full) {
    errno = ENOSPC;
    return -1;
  }
  return ::syscall(SYS_pwritev, fd, pieces, count, offset, offset >> 32 >> 32);
}

// The same for reads of rows that were moved to disk.
extern "C" ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  if (argosy::ps::is_cold(fd)) argosy::ps::cold_disk.wait_for_it();
  return ::syscall(SYS_pread64, fd, bytes, size, offset);
}
extern "C" ssize_t pread64(int fd, void* bytes, size_t size, off64_t offset) { return pread(fd, bytes, size, offset); }

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

// While a change waits for the log, every call that changes nothing is answered: only changes queue behind it.
TEST(SlowDisk, OnlyChangesWaitForTheLog) {
  Folder folder;
  ServerOptions options = InProcess::options();
  options.directory = folder.path();
  InProcess process(options);
  const JobSpec spec = job(Mode::sync, 1, {counting_rows(), counting_dense()});
  Worker worker = process.worker(spec, 0);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  disk.set(true);
  Worker pusher = worker;
  auto push = std::async(std::launch::async, [&] { return pusher.push({batch_id(0, 0)}, {count_at({1})}, {}, Position{0, 0}); });
  EXPECT_TRUE(disk.wait_until_somebody_waits(kPatience)) << "no push reached the disk";

  wire::HeartbeatRequest any;  // a caller in field 1, as in every request
  *any.mutable_caller() = worker.caller();
  for (const wire::Method method : {wire::HEARTBEAT, wire::ABANDON, wire::PULL_DENSE, wire::PULL_ROWS, wire::PULL_STATE,
                                    wire::EXPORT_ROWS, wire::LEDGER, wire::STATS, wire::COMPARE, wire::WAIT_INITIALISED}) {
    const auto answer = worker.call<wire::HeartbeatReply>(method, any, {}, kLease);
    const Code code = answer.status().code();
    EXPECT_TRUE(code != Code::deadline_exceeded && code != Code::unavailable)
        << wire::Method_Name(method) << ": " << answer.status().to_string();
  }
  wire::BeginOperationRequest begin;
  *begin.mutable_caller() = worker.caller();
  begin.mutable_operation()->set_kind("save");
  begin.mutable_operation()->set_target("here");
  ASSERT_OK(worker.call<wire::BeginOperationReply>(wire::BEGIN_OPERATION, begin, {}, kLease));

  wire::SetRateRequest change;
  *change.mutable_caller() = worker.caller();
  const auto waits = worker.call<wire::SetRateReply>(wire::SET_RATE, change, {}, 0.5);
  EXPECT_FALSE(waits.ok()) << "a change does";
  disk.set(false);
  const auto outcome = push.get();
  EXPECT_TRUE(outcome.ok()) << outcome.status().to_string();
}

// A step whose rows have to be read from disk holds up nobody who does not need them.
TEST(SlowDisk, StepsThatReadColdRowsHoldUpNobody) {
  constexpr uint32_t kWidth = 64;
  constexpr uint64_t kRows = 200'000;  // three times what RocksDB keeps in memory
  Folder folder;
  ServerOptions options = InProcess::options();
  options.directory = folder.path();
  options.durability = Durability::none;
  options.mem_limit_bytes = 4 << 20;
  options.lease_seconds = kLease;
  options.on_worker_loss = OnWorkerLoss::shrink;
  InProcess process(options);
  const JobSpec spec = job(Mode::sync, 2, {counting_rows("rows", kWidth), counting_dense()});
  Worker worker = process.worker(spec, 0), other = process.worker(spec, 1);
  ASSERT_OK(worker.hello());
  ASSERT_OK(other.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  for (uint64_t first = 0; first < kRows; first += 10'000) {
    std::vector<uint64_t> keys(10'000);
    std::iota(keys.begin(), keys.end(), first);
    wire::ImportRowsRequest request;
    *request.mutable_caller() = worker.caller();
    request.set_count(keys.size());
    std::vector<float> values(keys.size() * kWidth, 1);
    std::vector<rpc::Slice> payload{rpc::Slice::own(std::move(keys)), rpc::Slice::own(std::move(values))};
    ASSERT_OK(worker.call<wire::ImportRowsReply>(wire::IMPORT_ROWS, request, std::move(payload)));
    ASSERT_OK(other.heartbeat());
  }
  ASSERT_GT(worker.stats()->tables(0).cold_rows(), kRows / 2) << "the test moves rows to disk";

  cold_disk.set(true);
  std::vector<uint64_t> keys;
  for (uint64_t key = 0; key < kRows; key += 997) keys.push_back(key);
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at(keys, 1, 0, kWidth)}, {}, Position{0, 0}));
  auto last = std::async(std::launch::async,
                         [&] { return other.push({batch_id(0, 0)}, {count_at(keys, 1, 0, kWidth)}, {}, Position{0, 0}); });
  ASSERT_TRUE(cold_disk.wait_until_somebody_waits(kPatience)) << "the step read nothing from the disk";
  for (const Stopwatch watch; watch.seconds() < 3 * kLease;) {
    ASSERT_OK(worker.heartbeat());
    ASSERT_OK(other.heartbeat());
    const auto stats = worker.stats();
    ASSERT_TRUE(stats.ok()) << stats.status().to_string();
    for (const auto& one : stats->workers()) EXPECT_EQ(one.state(), "live");
    const auto dense = worker.pull_dense(1, {}, kLease);
    ASSERT_TRUE(dense.ok()) << dense.status().to_string();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  cold_disk.set(false);
  const auto outcome = last.get();
  EXPECT_TRUE(outcome.ok()) << outcome.status().to_string();
  EXPECT_TRUE(worker.pull_dense(1, Position{0, 1}, kPatience).ok()) << "the step was taken";
}

// What could not be logged has not happened: the same push is a new one when there is room again.
TEST(FullDisk, APushIsTakenWhenItIsTriedAgain) {
  Folder folder;
  ServerOptions options = InProcess::options();
  options.directory = folder.path();
  InProcess process(options);
  Worker worker = process.worker(job(Mode::async, 1, {counting_rows()}), 0);
  ASSERT_OK(worker.hello());
  disk.full = true;
  const Status refused = worker.push({batch_id(0, 0)}, {count_at({5})}).status();
  disk.full = false;
  EXPECT_EQ(refused.code(), Code::unavailable) << refused.message();
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({5})}));
  EXPECT_EQ(worker.pull_rows(0, {5})->at(0), 1);
}

TEST(SlowDisk, LosesNobodyInAsyncMode) { push_while_the_disk_hangs(Mode::async); }
TEST(SlowDisk, LosesNobodyInSyncMode) { push_while_the_disk_hangs(Mode::sync); }

}  // namespace
}  // namespace argosy::ps
