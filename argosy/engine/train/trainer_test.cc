#include "argosy/engine/train/trainer.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "argosy/base/error.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/engine/program/device.h"
#include "argosy/engine/program/device_test.h"
#include "argosy/engine/program/recorded_calls_test.h"
#include "argosy/engine/train/column_value.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/minimize.h"

namespace argosy::engine {
namespace {

namespace fs = std::filesystem;
namespace L = argosy::layers;

// One sparse table of 100 rows, learned from lines "1 <id> 1 <target>": with SGD and rate 1 on half the squared error summed
// over a batch, each row moves by (target - row) times how often its id occurs.
class TrainerTest : public testing::Test {
 protected:
  TrainerTest() : main_(graph::Program::create()), startup_(graph::Program::create()), programs_(main_, startup_) {
    folder_ = fs::temp_directory_path() /
              fmt::format("argosy-trainer-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    const Variable id = L::data("id", {1}, kInt64, {.lod_level = 1}), target = L::data("target", {1});
    ParamAttr zero("table");
    zero.initializer = graph::constant_initializer(0);
    const Variable rows = L::embedding(id, {100, 1}, {.is_sparse = true, .param = zero});
    loss_ = L::reduce_sum(L::elementwise_sub(L::sequence_pool(rows, "sum"), target));
    graph::minimize(optim::SGD{.learning_rate = 1.0}, loss_);
    value_or_throw(runner_.run(*startup_, {}, {}, scope_));
  }
  ~TrainerTest() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, int lines, const std::string& last = "") {
    std::ofstream out(folder_ / name);
    for (int i = 0; i < lines; ++i) out << "1 " << i % 100 << " 1 0.5\n";
    out << last;
    return (folder_ / name).string();
  }

  std::unique_ptr<data::QueueDataset> dataset(std::vector<std::string> files, int threads = 1) {
    return std::make_unique<data::QueueDataset>(data::DatasetOptions{.slots = value_or_throw(slots_of(*main_, {"id", "target"})),
                                                                     .batch_size = 10,
                                                                     .threads = threads,
                                                                     .files = std::move(files)});
  }

  TrainOptions options() {
    TrainOptions result{.fetch = {{"loss", loss_.name()}}};
    result.print = [this](std::string_view line) { lines_.emplace_back(line); };
    return result;
  }

  std::shared_ptr<graph::Program> main_, startup_;
  graph::ProgramGuard programs_;
  graph::UniqueNameGuard names_;
  Variable loss_;
  Scope scope_;
  Runner runner_{{.device = test_device()}};
  fs::path folder_;
  std::vector<std::string> lines_;
};

// The gradient of the loss is one for each id: with rate 1 a row is minus the number of times that it was seen.
TEST_F(TrainerTest, EverySampleCountsOnce) {
  auto source = dataset({file("a", 1000), file("b", 250)});
  const auto report = train(runner_, *main_, *source, options(), scope_);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->total.samples, 1250);
  EXPECT_EQ(report->total.batches, 125);
  const at::Tensor table = scope_.find("table")->tensor;
  EXPECT_EQ(table[0].item<float>(), -13.0f);
  EXPECT_EQ(table[99].item<float>(), -12.0f);
}

// Counts its replays.
class CountedCalls final : public capture::Recording {
 public:
  explicit CountedCalls(int& replays) : replays_(replays) {}
  Status rehearse(const Work& work) override { return calls_.rehearse(work); }
  Status record(const Work& work) override { return calls_.record(work); }
  Status replay() override { return ++replays_, calls_.replay(); }

 private:
  RecordedCalls calls_;
  int& replays_;
};

TEST_F(TrainerTest, ACapturedPassCountsEverySampleOnceAndIsOfOneThread) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "of the recording for tests on the CPU";
  const NoMemoryWalks walks;
  int replays = 0;
  const capture::OtherRecordings recordings(
      [&] { return std::unique_ptr<capture::Recording>(std::make_unique<CountedCalls>(replays)); });
  Runner runner({.capture = true, .device = test_device()});
  auto source = dataset({file("a", 1000), file("b", 250)});
  const auto report = train(runner, *main_, *source, options(), scope_);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(replays, 125 - 3);
  EXPECT_EQ(scope_.find("table")->tensor[0].item<float>(), -13.0f);
  EXPECT_EQ(scope_.find("table")->tensor[99].item<float>(), -12.0f);
  auto shared = dataset({file("a", 1000)}, 2);
  ASSERT_TRUE(train(runner, *main_, *shared, options(), scope_).ok());
  EXPECT_EQ(replays, 125 - 3) << "two threads run their steps as they are";
}

TEST_F(TrainerTest, TwoThreadsShareTheFilesAndTheTable) {
  auto source = dataset({file("a", 20000)}, 2);
  const auto report = train(runner_, *main_, *source, options(), scope_);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->total.samples, 20000);
  // Threads do not wait for each other, so a few of 20,000 updates may be lost between them; most arrive.
  EXPECT_LE(scope_.find("table")->tensor.sum().item<float>(), -0.5f * 20000);
}

TEST_F(TrainerTest, FetchesArePrintedAtTheFirstEveryPeriodAndTheLastBatch) {
  auto source = dataset({file("a", 250)});
  TrainOptions wanted = options();
  wanted.print_period = 10;
  const auto report = train(runner_, *main_, *source, wanted, scope_);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(lines_.size(), 5u);
  EXPECT_TRUE(lines_[0].starts_with("batch 1  loss: -5.000000  "));
  EXPECT_TRUE(lines_[1].starts_with("batch 10  loss: "));
  EXPECT_TRUE(lines_[2].starts_with("batch 20  loss: "));
  EXPECT_TRUE(lines_[3].starts_with("batch 25  loss: "));
  EXPECT_NE(lines_[4].find("250 samples in 25 batches"), std::string::npos);
  EXPECT_EQ(report->last_fetches.size(), 1u);
}

TEST_F(TrainerTest, ABadLineStopsTheRunAndIsNamed) {
  auto source = dataset({file("a", 100, "1 x 1 0.5\n")}, 2);
  const auto report = train(runner_, *main_, *source, options(), scope_);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("a:101:3"), std::string::npos) << report.status().message();
}

TEST_F(TrainerTest, AnErrorInAnOperatorStopsAllThreads) {
  auto source = dataset({file("a", 5000, "1 100 1 0.5\n")}, 2);
  const auto report = train(runner_, *main_, *source, options(), scope_);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("id 100"), std::string::npos) << report.status().message();
}

TEST_F(TrainerTest, TheTestFormLearnsNothing) {
  auto source = dataset({file("a", 100)});
  ASSERT_TRUE(train(runner_, *main_->clone(true), *source, options(), scope_).ok());
  EXPECT_EQ(scope_.find("table")->tensor.abs().sum().item<float>(), 0.0f);
}

TEST_F(TrainerTest, DebugSaysWhereTheTimeWent) {
  auto source = dataset({file("a", 100)});
  TrainOptions wanted = options();
  wanted.debug = true;
  ASSERT_TRUE(train(runner_, *main_, *source, wanted, scope_).ok());
  const std::string all = fmt::format("{}", fmt::join(lines_, "\n"));
  for (const char* word : {"read", "pull", "compute", "push", "backward", "sgd"})
    EXPECT_NE(all.find(word), std::string::npos) << word;
}

TEST(SlotsOf, AVariableThatADatasetCannotFeedIsNamed) {
  const auto program = graph::Program::create();
  program->global_block().put_var({.name = "x", .dtype = DType::float64, .shape = {-1, 1}});
  EXPECT_EQ(slots_of(*program, {"x"}).status().message(), "dataset: variable 'x' is float64; datasets carry float32 and int64");
  EXPECT_EQ(slots_of(*program, {"y"}).status().code(), Code::not_found);
}

TEST_F(TrainerTest, WatchedVariablesAreShownAsTimeGoesBy) {
  auto wanted = options();
  wanted.watch = {"table", loss_.name()};
  wanted.watch_seconds = 0;
  std::vector<std::vector<Value>> shown;
  wanted.on_watch = [&](const std::vector<Value>& values) { shown.push_back(values); };
  auto source = dataset({file("a", 30)});
  ASSERT_TRUE(train(runner_, *main_, *source, wanted, scope_).ok());
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0][0].tensor.sizes(), (std::vector<int64_t>{100, 1}));
  EXPECT_FALSE(shown[0][0].tensor.equal(shown[2][0].tensor)) << "a copy, not what the next batch changes";
  EXPECT_EQ(shown[0][1].tensor.numel(), 1);
  shown.clear();
  wanted.watch_seconds = 1000;
  ASSERT_TRUE(train(runner_, *main_, *source, wanted, scope_).ok());
  EXPECT_TRUE(shown.empty());
}

}  // namespace
}  // namespace argosy::engine
