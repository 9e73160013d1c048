// A server of two processes (replicas=1), an arbiter, and a client that pushes integers at rate 1: a row is the count of what was
// applied. Either process is killed with SIGKILL or stopped, at random moments, and started again as a launcher would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <future>
#include <initializer_list>

#include "argosy/base/mutex.h"
#include "argosy/ps/arbiter/arbiter.h"
#include "argosy/ps/client/client.h"
#include "argosy/ps/server/server_process_test.h"

namespace argosy::ps {
namespace {

using namespace scratch;

constexpr double kMostSeconds = 3;  // that a push waits when a process is killed
constexpr uint64_t kEvery = 7;  // the row that every batch counts in

class FailoverKillTest : public ::testing::Test {
 protected:
  FailoverKillTest() {
    for (const char* seat : {"a", "b"}) {
      processes_.push_back(std::make_unique<ServerProcess>(
          ARGOSY_SERVER_PROGRAM,
          std::vector<std::string>{"--job", "test", "--run-id", kRun, "--directory", (folder_.path() / seat).string(), "--stay",
                                   "--lease-seconds", "100", "--log-limit", "30K", "--replicas", "1"}));
    }
  }
  void SetUp() override {
    auto arbiter = Arbiter::start({.servers = {process(0).endpoint()},
                                   .followers = {process(1).endpoint()},
                                   .job = "test",
                                   .run = kRun,
                                   .tell = [this](const std::string& line) {
                                     const MutexLock lock(mutex_);
                                     said_ += line + "\n";
                                   }});
    ASSERT_TRUE(arbiter.ok()) << arbiter.status().message();
    arbiter_ = std::move(*arbiter);
    auto a = start(0), b = start(1);  // the follower lets itself be seen when its primary has a job
    auto client = Client::connect({.servers = {process(0).endpoint()},
                                   .followers = {process(1).endpoint()},
                                   .job = "test",
                                   .run = kRun,
                                   .server_wait_seconds = 60},
                                  spec_);
    ASSERT_TRUE(client.ok()) << client.status().message();
    client_ = std::move(*client);
    a.get();
    b.get();
    push_for(0.5);
  }
  void TearDown() override {
    for (std::future<void>& one : starting_) one.get();
    client_.reset();
    arbiter_.reset();
  }

  ServerProcess& process(size_t seat) { return *processes_[seat]; }
  std::future<void> start(size_t seat) {
    return std::async(std::launch::async, [this, seat] { process(seat).start(); });
  }
  // As the launcher of its machine: it says what it knows, and starts another process.
  void kill(std::initializer_list<size_t> seats) {
    for (std::future<void>& one : starting_) one.get();
    starting_.clear();
    for (const size_t seat : seats) process(seat).kill();
    for (const size_t seat : seats) {
      arbiter_->ended(0, seat == 1);
      starting_.push_back(start(seat));
    }
  }
  void push() {
    const uint64_t batch = batch_id(0, batches_++);
    const uint64_t keys[] = {kEvery, 1000 + batches_ % 50};
    const float values[] = {-1, -1, -1, -1};
    const RowGradients rows[] = {{.table = 0, .keys = keys, .values = values}};
    const Stopwatch since;
    const Status pushed = client_->push({.batches = {&batch, 1}, .dense = {}, .rows = rows});
    ASSERT_TRUE(pushed.ok()) << pushed.message() << "\n" << said();
    longest_ = std::max(longest_, since.seconds());
  }
  void push_for(double seconds) {
    for (const Stopwatch since; since.seconds() < seconds;) ASSERT_NO_FATAL_FAILURE(push());
  }
  // The longest that a push has waited since the last call.
  double longest() { return std::exchange(longest_, 0); }
  void expect_all() {
    const uint64_t keys[] = {kEvery};
    std::vector<float> values(2);
    const RowRequest request{.table = 0, .keys = keys, .rows = values.data()};
    const Status pulled = client_->pull_rows({&request, 1});
    ASSERT_TRUE(pulled.ok()) << pulled.message();
    EXPECT_THAT(values, ::testing::Each(static_cast<float>(batches_))) << said();
  }
  std::string said() {
    const MutexLock lock(mutex_);
    return said_;
  }
  // Until the arbiter has said this, pushing on.
  void push_until(const std::string& text) {
    for (const Stopwatch since; said().find(text) == std::string::npos;) {
      ASSERT_LT(since.seconds(), 60) << text << "\n" << said();
      ASSERT_NO_FATAL_FAILURE(push());
    }
    push_for(0.7);
  }

  const Folder folder_;
  const JobSpec spec_ = job(Mode::async, 1, {counting_rows()});
  std::vector<std::unique_ptr<ServerProcess>> processes_;
  Mutex mutex_;
  std::string said_ ARGOSY_GUARDED_BY(mutex_);
  std::unique_ptr<Arbiter> arbiter_;
  std::unique_ptr<Client> client_;
  std::vector<std::future<void>> starting_;
  uint32_t batches_ = 0;
  double longest_ = 0;
};

TEST_F(FailoverKillTest, EachProcessInTurnIsKilledAndNothingIsLost) {
  (void)longest();
  kill({0});
  ASSERT_NO_FATAL_FAILURE(push_until("is the follower from epoch 2"));
  const double first = longest();
  kill({1});  // which leads
  ASSERT_NO_FATAL_FAILURE(push_until("is the follower from epoch 3"));
  const double second = longest();
  kill({1});  // which follows
  ASSERT_NO_FATAL_FAILURE(push_until("is the follower from epoch 4"));
  const double third = longest();
  expect_all();
  std::printf("a push waited %.3f s and %.3f s when the primary was killed, %.3f s when the follower was\n", first, second,
              third);
  for (const double seconds : {first, second, third}) EXPECT_LT(seconds, kMostSeconds);
}

TEST_F(FailoverKillTest, RandomKillsOfEitherSideLoseNothing) {
  Random random(std::random_device{}());
  for (int turn = 0; turn < 6; ++turn) {
    ASSERT_NO_FATAL_FAILURE(push_for(0.05 + random.uniform() * 0.8));
    kill({static_cast<size_t>(random.below(2))});
  }
  ASSERT_NO_FATAL_FAILURE(push_for(1));
  expect_all();
}

TEST_F(FailoverKillTest, BothAreKilledAndTheirDirectoriesHaveEverything) {
  kill({0, 1});
  ASSERT_NO_FATAL_FAILURE(push_for(1));
  expect_all();
}

}  // namespace
}  // namespace argosy::ps
