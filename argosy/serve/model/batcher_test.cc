#include "argosy/serve/model/batcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

namespace argosy::serve {
namespace {

using namespace std::chrono_literals;

Inputs request(std::vector<float> x) {
  const auto count = static_cast<int64_t>(x.size());
  return {{"x", Tensor::copy_of(x, {count, 1})}};
}

// A model that doubles, and stops in a run until it is let go.
class Doubler {
 public:
  std::shared_ptr<ServedVersion> version(const std::string& name = "1") {
    auto made = std::make_shared<ServedVersion>();
    made->version = name;
    made->inputs = {{.name = "x", .shape = {-1, 1}}};
    made->outputs = {{.name = "y", .shape = {-1, 1}}};
    made->run = [this](const Inputs& inputs) { return run(inputs); };
    return made;
  }

  Result<std::vector<Tensor>> run(const Inputs& inputs) {
    MutexLock lock(mutex_);
    sizes_.push_back(inputs.at("x").shape[0]);
    changed_.notify_all();
    changed_.wait_for(lock, 30s, [&]() ARGOSY_REQUIRES(mutex_) { return open_; });
    std::vector<float> y;
    for (const float value : inputs.at("x").values<float>()) {
      if (value < 0) return Status::invalid_argument("a negative number");
      y.push_back(2 * value);
    }
    const auto count = static_cast<int64_t>(y.size());
    return std::vector{Tensor::copy_of(y, {whole_ ? 1 : count, whole_ ? count : 1})};
  }
  void open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_runs(size_t count) {
    MutexLock lock(mutex_);
    changed_.wait_for(lock, 30s, [&]() ARGOSY_REQUIRES(mutex_) { return sizes_.size() >= count; });
  }
  void give_whole() { whole_ = true; }  // outputs that are not one per sample
  std::vector<int64_t> sizes() {
    MutexLock lock(mutex_);
    return sizes_;
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<int64_t> sizes_ ARGOSY_GUARDED_BY(mutex_);
  bool open_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::atomic<bool> whole_ = false;
};

// Callers on threads of their own, each of which keeps its answer.
class Callers {
 public:
  explicit Callers(Batcher& batcher) : batcher_(batcher) {}
  void call(std::shared_ptr<const ServedVersion> version, std::vector<float> x) {
    answers_.push_back(std::make_unique<Result<std::vector<Tensor>>>(Status::unknown("no answer")));
    threads_.emplace_back("caller", [this, version, x, answer = answers_.back().get()] {
      *answer = batcher_.predict(version, request(x), Deadline::after(30s));
    });
  }
  std::vector<float> values(size_t index) {
    threads_[index].join();
    if (!answers_[index]->ok()) return {};
    const auto values = (**answers_[index])[0].values<float>();
    return {values.begin(), values.end()};
  }
  Status status(size_t index) {
    threads_[index].join();
    return answers_[index]->status();
  }

 private:
  Batcher& batcher_;
  std::vector<std::unique_ptr<Result<std::vector<Tensor>>>> answers_;
  std::vector<Thread> threads_;
};

// While the first request runs, three more arrive: they become one run, and each gets its own rows.
TEST(Batcher, RequestsThatWaitRunTogether) {
  Doubler doubler;
  ServeCounters counters;
  Batcher batcher({.threads = 1}, counters);
  Callers callers(batcher);
  const auto version = doubler.version();
  callers.call(version, {1});
  doubler.wait_for_runs(1);
  callers.call(version, {2, 3});
  callers.call(version, {4});
  callers.call(version, {5});
  while (counters.text("m", "1").find("queued_requests 3") == std::string::npos) std::this_thread::yield();
  doubler.open();
  EXPECT_EQ(callers.values(0), std::vector<float>{2});
  EXPECT_EQ(callers.values(1), (std::vector<float>{4, 6}));
  EXPECT_EQ(callers.values(2), std::vector<float>{8});
  EXPECT_EQ(callers.values(3), std::vector<float>{10});
  EXPECT_EQ(doubler.sizes(), (std::vector<int64_t>{1, 4}));
}

struct Queued {
  Doubler doubler;
  ServeCounters counters;
  Batcher batcher;
  Callers callers{batcher};
  explicit Queued(const BatcherOptions& options) : batcher(options, counters) {}
  // Starts a run that blocks, then puts these into the queue.
  void queue(const std::vector<std::pair<std::shared_ptr<ServedVersion>, std::vector<float>>>& requests) {
    callers.call(doubler.version(), {0});
    doubler.wait_for_runs(1);
    int queued = 0;
    for (const auto& [version, x] : requests) {
      callers.call(version, x);
      const std::string wanted = fmt::format("queued_requests {}\n", ++queued);
      while (counters.text("m", "1").find(wanted) == std::string::npos) std::this_thread::yield();
    }
    doubler.open();
  }
};

TEST(Batcher, ABatchHasAtMostMaxBatchSamples) {
  Queued test({.threads = 1, .max_batch = 3});
  const auto version = test.doubler.version();
  test.queue({{version, {1, 2}}, {version, {3, 4}}, {version, {5}}, {version, {1, 2, 3, 4, 5}}});
  EXPECT_EQ(test.callers.values(4), (std::vector<float>{2, 4, 6, 8, 10}));
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(test.callers.status(i).ok());
  EXPECT_EQ(test.doubler.sizes(), (std::vector<int64_t>{1, 2, 3, 5}));
}

TEST(Batcher, VersionsAreNotMixed) {
  Queued test({.threads = 1});
  const auto old = test.doubler.version("1"), fresh = test.doubler.version("2");
  test.queue({{old, {1}}, {fresh, {2}}, {fresh, {3}}});
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(test.callers.status(i).ok());
  EXPECT_EQ(test.doubler.sizes(), (std::vector<int64_t>{1, 1, 2}));
}

// A request that the model refuses fails alone, however it was batched.
TEST(Batcher, ABadRequestDoesNotFailItsNeighbours) {
  Queued test({.threads = 1});
  const auto version = test.doubler.version();
  test.queue({{version, {1}}, {version, {-1}}, {version, {3}}});
  EXPECT_EQ(test.callers.values(1), std::vector<float>{2});
  EXPECT_EQ(test.callers.status(2).message(), "a negative number");
  EXPECT_EQ(test.callers.values(3), std::vector<float>{6});
}

TEST(Batcher, OutputsThatAreNotPerSampleAreComputedAlone) {
  Queued test({.threads = 1});
  test.doubler.give_whole();
  const auto version = test.doubler.version();
  test.queue({{version, {1}}, {version, {2, 3}}});
  EXPECT_EQ(test.callers.values(1), std::vector<float>{2});
  EXPECT_EQ(test.callers.values(2), (std::vector<float>{4, 6}));
}

TEST(Batcher, AFullQueueAndAPassedDeadlineAreErrorsWithNames) {
  Doubler doubler;
  ServeCounters counters;
  Batcher batcher({.threads = 1, .max_queue = 1}, counters);
  Callers callers(batcher);
  const auto version = doubler.version();
  callers.call(version, {1});
  doubler.wait_for_runs(1);
  const auto late = batcher.predict(version, request({2}), Deadline::after(1ms));
  EXPECT_EQ(late.status().code(), Code::deadline_exceeded);
  const auto full = batcher.predict(version, request({3}), Deadline::after(30s));
  EXPECT_EQ(full.status().code(), Code::resource_exhausted);
  EXPECT_NE(full.status().message().find("1 requests wait already (max_queue)"), std::string::npos);
  doubler.open();
  EXPECT_EQ(callers.values(0), std::vector<float>{2});
  batcher.stop();
  EXPECT_EQ(doubler.sizes(), std::vector<int64_t>{1});  // the late one was not run for nobody
  EXPECT_EQ(batcher.predict(version, request({4}), Deadline::after(1s)).status().code(), Code::unavailable);
}

TEST(Batcher, StoppingAnswersWhatIsQueued) {
  Doubler doubler;
  ServeCounters counters;
  auto batcher = std::make_unique<Batcher>(BatcherOptions{.threads = 1}, counters);
  Callers callers(*batcher);
  const auto version = doubler.version();
  callers.call(version, {1});
  doubler.wait_for_runs(1);
  callers.call(version, {2});
  while (counters.text("m", "1").find("queued_requests 1\n") == std::string::npos) std::this_thread::yield();
  doubler.open();
  batcher->stop();
  EXPECT_EQ(callers.values(0), std::vector<float>{2});
  EXPECT_EQ(callers.values(1), std::vector<float>{4});
}

}  // namespace
}  // namespace argosy::serve
