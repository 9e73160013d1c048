#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "argosy/base/error.h"
#include "argosy/base/file.h"
#include "argosy/base/mutex.h"
#include "argosy/base/random.h"
#include "argosy/capture/recording.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/engine/program/device.h"
#include "argosy/engine/program/device_test.h"
#include "argosy/engine/program/model_io.h"
#include "argosy/engine/remote/context.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/engine/train/column_value.h"
#include "argosy/engine/train/runner.h"
#include "argosy/engine/train/trainer.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/minimize.h"

namespace argosy::engine {
namespace {

namespace L = argosy::layers;

// Servers in this process, with SGD and rate 1: a row "table" of width 2 whose new rows hold their key, and a dense "bias".
class FakeServers : public RemoteParameters {
 public:
  const RemoteVariable* find(std::string_view name) const override {
    const auto found = variables_.find(name);
    return found == variables_.end() ? nullptr : &found->second;
  }
  Status attach(Scope& scope) override {
    bias_ = scope.find("bias")->tensor;
    return {};
  }
  Result<bool> begin_round(int threads) override {
    ++rounds_begun;
    lost = false;
    return round_threads = threads, !skip_round;
  }
  Status thread_done() override { return ++threads_done, Status(); }
  void thread_failed(const Status& why) override {
    MutexLock lock(mutex);
    thread_errors.push_back(why);
  }
  Status end_round(const ReadCounters& counters) override {
    read = counters;
    if (losses > 0) return --losses, lost = true, Status::data_loss("server 1 lacks batches 1 and 2");
    return ++rounds_ended, Status();
  }
  void abandon_round(const Status& why) override {
    ++rounds_abandoned;
    abandoned_why = why;
  }
  bool lost_batches() const override { return lost; }
  void drop_batch(BatchId batch) override { dropped.push_back(batch); }
  Status begin_parallel(int threads) override { return parallel_threads = threads, Status(); }
  Status end_parallel() override { return {}; }
  BatchId begin_batch() override { return next_batch++; }
  BatchId begin_batch(uint32_t number, uint32_t samples, std::span<const FileLineRange>) override {
    MutexLock lock(mutex);
    samples_read += samples;
    return number;
  }
  bool wants(BatchId batch) const override { return batch >= first_wanted; }
  bool may_prefetch() const override { return ahead; }
  Status pull(std::span<const RowRequest> pulls) override {
    MutexLock lock(mutex);
    if (calls == pulls_before_error) return Status::unavailable("server 0 is away");
    ++messages;
    for (const RowRequest& pull : pulls) {
      keys_asked += pull.keys.size();
      for (size_t i = 0; i < pull.keys.size(); ++i) {
        const auto known = rows.find(pull.keys[i]);
        const float value = known == rows.end() ? static_cast<float>(pull.keys[i]) : known->second;
        if (pull.create) rows.emplace(pull.keys[i], value);
        pull.rows[2 * i] = pull.rows[2 * i + 1] = value;
      }
      ++calls;
    }
    return {};
  }
  Status step(const StepGradients& gradients) override {
    MutexLock lock(mutex);
    batches.push_back(gradients.batch_id);
    for (const RowGradients& sent : gradients.rows) {
      for (const uint64_t key : sent.keys) batch_of[key] = gradients.batch_id;
    }
    for (const DenseGradient& dense : gradients.dense) bias_.data_ptr<float>()[0] -= dense.values[0];
    for (const RowGradients& sent : gradients.rows) {
      for (size_t i = 0; i < sent.keys.size(); ++i) rows.at(sent.keys[i]) -= sent.values[2 * i];
    }
    return {};
  }
  Status refresh() override { return ++refreshes, Status(); }
  Status fetch(std::string_view, std::span<float> values) override {
    for (size_t i = 0; i < values.size(); ++i) values[i] = rows.contains(i / 2) ? rows.at(i / 2) : static_cast<float>(i / 2);
    return {};
  }
  Status store(std::string_view name, std::span<const float> values) override {
    if (name != "table") return {};
    for (size_t i = 0; i < values.size(); i += 2) rows[i / 2] = values[i];
    return {};
  }
  Result<Outcome> once(const std::string& kind, const std::string& target, const OperationBody& body) override {
    if (const auto known = done.find({kind, target}); known != done.end())
      return Outcome{.before = true, .answer = known->second};
    ASSIGN_OR_RETURN(std::string answer, body(mix64(target, mix64(kind))));
    done[{kind, target}] = answer;
    return Outcome{.answer = std::move(answer)};
  }
  Status close() override { return {}; }

  Mutex mutex;
  std::map<std::pair<std::string, std::string>, std::string> done;  // operations, by kind and target
  std::map<uint64_t, float> rows;
  std::vector<uint64_t> batches;
  std::map<uint64_t, uint64_t> batch_of;  // by key: the last one that had it
  uint64_t next_batch = 0, first_wanted = 0;
  size_t keys_asked = 0;
  int calls = 0, messages = 0, parallel_threads = 0, round_threads = 0, threads_done = 0, rounds_ended = 0, refreshes = 0;
  int rounds_begun = 0, rounds_abandoned = 0, losses = 0;
  uint64_t samples_read = 0;
  ReadCounters read;
  Status abandoned_why;
  std::vector<Status> thread_errors;
  std::vector<uint64_t> dropped;
  bool skip_round = false, ahead = false, lost = false;
  int pulls_before_error = -1;

 private:
  std::map<std::string, RemoteVariable, std::less<>> variables_ = {{"table", {RemoteVariable::rows, 0, {100, 2}}},
                                                                   {"bias", {RemoteVariable::dense, 1, {1}}},
                                                                   {"other", {RemoteVariable::rows, 2, {100, 2}}}};
  at::Tensor bias_;
};

// Rehearses; nothing is recorded.
class PlainRecording final : public capture::Recording {
 public:
  Status rehearse(const Work& work) override { return work(); }
  Status record(const Work&) override { return Status::internal("nothing is recorded"); }
  Status replay() override { return Status::internal("nothing is recorded"); }
};

// sum(pool(table[a]) + pool(table[b])) * 1 + bias, trained by a `send`.
class RemoteTest : public testing::Test {
 protected:
  RemoteTest() : main_(graph::Program::create()), startup_(graph::Program::create()), programs_(main_, startup_) {
    a_ = L::data("a", {1}, kInt64, {.lod_level = 1});
    b_ = L::data("b", {1}, kInt64, {.lod_level = 1});
    const auto pooled = [&](const Variable& ids) {
      return L::sequence_pool(L::embedding(ids, {100, 2}, {.is_sparse = true, .param = ParamAttr("table")}), "sum");
    };
    const Variable both = L::concat({pooled(a_), pooled(b_)}, 1);
    const Variable bias =
        L::create_parameter({1}, kFloat32, {.name = "bias", .default_initializer = graph::constant_initializer(0)});
    loss_ = L::elementwise_add(L::reduce_sum(both), bias);
    test_ = main_->clone(true);
    send(graph::append_backward(loss_));
    remote_ = std::make_shared<FakeServers>();
    context_->add_remote("job", remote_);
    connect();
    value_or_throw(runner_.run(*startup_, {}, {}, scope_));
  }

  void send(const std::vector<graph::ParamGrad>& pairs) {
    add_send(*main_, pairs, {.type = "send", .attributes = {{"job", std::string("job")}}});
  }

  static void add_send(graph::Program& program, const std::vector<graph::ParamGrad>& pairs, graph::OpDesc op) {
    std::vector<std::string> names;
    for (const auto& pair : pairs) {
      op.inputs["X"].push_back(pair.grad.name());
      names.push_back(pair.param.name());
    }
    op.attributes["parameters"] = names;
    value_or_throw(program.global_block().append_op(std::move(op)));
  }

  void connect() {
    graph::Block& block = startup_->global_block();
    for (size_t i = block.ops().size(); i-- > 0;) {
      if (block.ops()[i]->outputs.find("Out")->front() == "table") block.remove_op(i);
    }
    value_or_throw(block.append_op({.type = "recv",
                                    .inputs = {{"X", {"bias"}}},
                                    .outputs = {{"Out", {"bias"}}},
                                    .attributes = {{"job", std::string("job")}}}));
  }

  static Value ids(std::vector<int64_t> values, std::vector<int64_t> offsets) {
    return {.tensor = at::tensor(values).reshape({-1, 1}), .lod = std::make_shared<Lod>(Lod{std::move(offsets)})};
  }
  float run(const graph::Program& program, Feed feed) {
    return value_or_throw(runner_.run(program, feed, {loss_.name()}, scope_))[0].tensor.item<float>();
  }

  std::shared_ptr<graph::Program> main_, startup_, test_;
  graph::ProgramGuard programs_;
  graph::UniqueNameGuard names_;
  Variable a_, b_, loss_;
  Scope scope_;
  const std::shared_ptr<Context> context_ = std::make_shared<Context>();
  Runner runner_{{.device = test_device()}, context_};
  std::shared_ptr<FakeServers> remote_;
};

TEST_F(RemoteTest, ABatchPullsEachKeyOnceAndSendsItsMergedGradient) {
  EXPECT_EQ(run(*main_, {{"a", ids({3, 5, 3}, {0, 2, 3})}, {"b", ids({5, 7}, {0, 1, 2})}}), 2 * (3 + 5 + 3 + 5 + 7));
  EXPECT_EQ(remote_->calls, 1) << "both slots of one table come with one pull";
  EXPECT_EQ(remote_->keys_asked, 3u);
  EXPECT_EQ(remote_->rows.at(3), 3 - 2.0f);
  EXPECT_EQ(remote_->rows.at(5), 5 - 2.0f);
  EXPECT_EQ(remote_->rows.at(7), 7 - 1.0f);
  EXPECT_EQ(scope_.find("bias")->tensor.item<float>(), -1.0f);
  EXPECT_EQ(scope_.find("table"), nullptr) << "a worker keeps no table";
}

// Where the program runs on another device than the CPU, what the servers write is in the CPU's memory, and each step sees it.
TEST_F(RemoteTest, EachStepOnAnotherDeviceSeesWhatTheServersHaveWritten) {
  const NoMemoryWalks apart;
  const Feed feed{{"a", ids({3}, {0, 1})}, {"b", ids({9}, {0, 1})}};
  EXPECT_EQ(run(*main_, feed), 2 * (3 + 9));
  EXPECT_EQ(run(*main_, feed), 2 * (2 + 8) - 1);
  scope_.find("bias")->tensor.fill_(100);
  EXPECT_TRUE(scope_.find("bias")->tensor.is_cpu());
  EXPECT_EQ(run(*test_, feed), 2 * (1 + 7) + 100);
  EXPECT_EQ(remote_->calls, 3);
}

TEST_F(RemoteTest, AStepWithServersIsNotCapturedAndSaysSo) {
  Runner runner({.capture = true, .device = test_device()}, context_);
  const capture::OtherRecordings any([] { return std::unique_ptr<capture::Recording>(std::make_unique<PlainRecording>()); });
  const Feed feed{{"a", ids({3}, {0, 1})}, {"b", ids({9}, {0, 1})}};
  for (int step = 0; step < 5; ++step) value_or_throw(runner.run(*main_, feed, {loss_.name()}, scope_));
  EXPECT_EQ(runner.capture_report(*main_).why_not, "operator 'pull_rows' pulls rows from parameter servers");
  EXPECT_EQ(remote_->rows.at(3), 3 - 5.0f);
}

TEST_F(RemoteTest, EveryKeyOf64BitsIsAKey) {
  const int64_t huge = -2;
  run(*main_, {{"a", ids({huge}, {0, 1})}, {"b", ids({int64_t{1} << 62}, {0, 1})}});
  EXPECT_TRUE(remote_->rows.contains(~uint64_t{1}));
  EXPECT_TRUE(remote_->rows.contains(uint64_t{1} << 62));
}

// Scripts write -1 where they mean none: it must not become a row that all such samples train.
TEST_F(RemoteTest, TheIdMinus1IsNoKey) {
  const auto result = runner_.run(*main_, {{"a", ids({3, -1}, {0, 2})}, {"b", ids({9}, {0, 1})}}, {loss_.name()}, scope_);
  EXPECT_EQ(result.status().code(), Code::invalid_argument);
  EXPECT_THAT(result.status().message(),
              testing::HasSubstr("variable 'a', table 'table': id -1 at position 1 is the key of no row"));
  EXPECT_TRUE(remote_->rows.empty());
}

// Such as an average of all parameters, which a script builds after its program was distributed.
TEST_F(RemoteTest, WhatReadsAWholeTableOfRowsIsNamed) {
  const graph::ProgramGuard guard(main_, startup_);
  L::reduce_sum(Variable(main_, main_->global_block(), *main_->global_block().find_var("table")));
  const auto result = runner_.run(*main_, {{"a", ids({3}, {0, 1})}, {"b", ids({9}, {0, 1})}}, {loss_.name()}, scope_);
  EXPECT_EQ(result.status().code(), Code::unimplemented);
  EXPECT_THAT(result.status().message(),
              testing::HasSubstr("operator 'reduce_sum' reads 'table', whose rows lie on the servers"));
  EXPECT_EQ(remote_->calls, 0);
}

TEST_F(RemoteTest, AProgramThatDoesNotTrainMakesNoRows) {
  EXPECT_EQ(run(*test_, {{"a", ids({3}, {0, 1})}, {"b", ids({9}, {0, 1})}}), 2 * (3 + 9));
  EXPECT_TRUE(remote_->rows.empty());
  EXPECT_TRUE(remote_->batches.empty());
}

TEST_F(RemoteTest, TrainingInAScopeWithoutServersIsAnErrorThatSaysWhatToDo) {
  Scope other;
  const auto result = runner_.run(*main_, {}, {}, other);
  EXPECT_EQ(result.status().code(), Code::failed_precondition);
  EXPECT_NE(result.status().message().find("run the startup program first"), std::string::npos);
}

TEST_F(RemoteTest, APaddingIdIsNeitherPulledNorSent) {
  auto main = graph::Program::create(), startup = graph::Program::create();
  const graph::ProgramGuard guard(main, startup);
  const Variable id = L::data("a", {1}, kInt64, {.lod_level = 1});
  const Variable rows = L::embedding(id, {100, 2}, {.is_sparse = true, .padding_idx = 4, .param = ParamAttr("table")});
  const Variable loss = L::reduce_sum(rows);
  const auto pairs = graph::append_backward(loss);
  value_or_throw(main->global_block().append_op({.type = "send",
                                                 .inputs = {{"X", {pairs[0].grad.name()}}},
                                                 .attributes = {{"parameters", std::vector<std::string>{"table"}}}}));
  EXPECT_EQ(value_or_throw(runner_.run(*main, {{"a", ids({4, 6}, {0, 2})}}, {loss.name()}, scope_))[0].tensor.item<float>(), 12);
  EXPECT_FALSE(remote_->rows.contains(4));
  EXPECT_EQ(remote_->rows.at(6), 5);
}

// A round trip to the servers is most of a small batch's time: one for all tables, also where ids are only reshaped on their way.
TEST_F(RemoteTest, RowsOfAllTablesComeInOneMessage) {
  auto main = graph::Program::create(), startup = graph::Program::create();
  const graph::ProgramGuard guard(main, startup);
  const auto look_up = [](const Variable& ids, const char* table) {
    return L::embedding(ids, {100, 2}, {.is_sparse = true, .param = ParamAttr(table)});
  };
  const Variable word = L::data("a", {1}, kInt64), drawn = L::data("b", {2}, kInt64);
  const Variable first = L::elementwise_add(look_up(word, "table"), look_up(word, "other"));
  const Variable flat = L::reshape(drawn, {-1, 1});
  const Variable second = L::elementwise_add(look_up(flat, "table"), look_up(flat, "other"));
  const Variable loss = L::elementwise_add(L::reduce_sum(first), L::reduce_sum(second));
  add_send(*main, graph::append_backward(loss), {.type = "send"});
  const auto numbers = [](std::vector<int64_t> values, int64_t width) { return at::tensor(values).reshape({-1, width}); };
  const Feed feed{{"a", {.tensor = numbers({5, 6}, 1)}}, {"b", {.tensor = numbers({7, 8, 9, 5}, 2)}}};
  EXPECT_EQ(value_or_throw(runner_.run(*main, feed, {loss.name()}, scope_))[0].tensor.item<float>(), 4 * (5 + 6 + 7 + 8 + 9 + 5));
  EXPECT_EQ(remote_->messages, 1);
  EXPECT_EQ(remote_->calls, 2) << "one request for each table";
  EXPECT_EQ(remote_->keys_asked, 10u) << "each key once";
  EXPECT_EQ(remote_->rows.at(7), 7 - 2.0f) << "one for each table";
  EXPECT_EQ(remote_->rows.at(5), 5 - 4.0f);
  EXPECT_EQ(value_or_throw(runner_.run(*main, feed, {loss.name()}, scope_))[0].tensor.item<float>(), 4 * (1 + 4 + 5 + 6 + 7 + 1));
}

// Ids that an operator makes after the first lookup of the table come with a pull of their own.
TEST_F(RemoteTest, LookupsOfComputedIdsPullWhenTheIdsAreThere) {
  auto main = graph::Program::create(), startup = graph::Program::create();
  const graph::ProgramGuard guard(main, startup);
  const auto look_up = [](const Variable& ids) {
    return L::embedding(ids, {100, 2}, {.is_sparse = true, .param = ParamAttr("table")});
  };
  const Variable id = L::data("a", {1}, kInt64);
  const Variable first = look_up(id);
  const Variable next = L::elementwise_add(id, L::fill_constant({1}, kInt64, 1));
  const Variable loss = L::reduce_sum(L::elementwise_add(first, look_up(next)));
  const auto pairs = graph::append_backward(loss);
  value_or_throw(main->global_block().append_op({.type = "send",
                                                 .inputs = {{"X", {pairs[0].grad.name()}}},
                                                 .attributes = {{"parameters", std::vector<std::string>{"table"}}}}));
  const Feed feed{{"a", {.tensor = at::tensor(std::vector<int64_t>{5, 6}).reshape({2, 1})}}};
  EXPECT_EQ(value_or_throw(runner_.run(*main, feed, {loss.name()}, scope_))[0].tensor.item<float>(), 2 * (5 + 6 + 6 + 7));
  EXPECT_EQ(remote_->calls, 2);
  EXPECT_EQ(remote_->keys_asked, 3u) << "a row that is there already is not asked for again";
  EXPECT_EQ(remote_->rows.at(6), 6 - 2.0f);
}

TEST_F(RemoteTest, ThreadsOfOneStepEachTakeAPartOfTheBatch) {
  const auto part = [](int64_t id) { return Feed{{"a", ids({id}, {0, 1})}, {"b", ids({9}, {0, 1})}}; };
  const auto fetched = runner_.run_parallel(*main_, {part(3), part(4)}, {loss_.name()}, scope_);
  ASSERT_TRUE(fetched.ok()) << fetched.status().message();
  EXPECT_EQ(remote_->parallel_threads, 2);
  EXPECT_EQ(remote_->batches.size(), 2u);
  EXPECT_EQ(remote_->rows.at(9), 9 - 2.0f);
  EXPECT_EQ(runner_.run_parallel(*test_, {part(3)}, {}, scope_).status().code(), Code::failed_precondition);
}

// Whichever thread runs first: a worker that is started again must give a batch the number that it had.
TEST_F(RemoteTest, PartsOfABatchAreNumberedInTheirOrder) {
  const auto part = [](int64_t id) { return Feed{{"a", ids({id}, {0, 1})}, {"b", ids({9}, {0, 1})}}; };
  for (uint64_t step = 0; step < 50; ++step) {
    ASSERT_TRUE(runner_.run_parallel(*main_, {part(3), part(4), part(5)}, {}, scope_).ok());
    EXPECT_EQ(remote_->batch_of.at(3), 3 * step);
    EXPECT_EQ(remote_->batch_of.at(4), 3 * step + 1);
    EXPECT_EQ(remote_->batch_of.at(5), 3 * step + 2);
  }
}

class RemoteDatasetTest : public RemoteTest {
 protected:
  RemoteDatasetTest() {
    path_ = std::filesystem::temp_directory_path() /
            fmt::format("argosy-remote-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
    std::ofstream out(path_);
    for (int i = 0; i < 40; ++i) out << "1 " << i % 10 << " 1 50\n";
  }
  ~RemoteDatasetTest() override { std::filesystem::remove_all(path_); }

  Result<TrainReport> train_on(const graph::Program& program, int threads) {
    data::QueueDataset source(
        {.slots = value_or_throw(slots_of(*main_, {"a", "b"})), .batch_size = 4, .files = {path_.string()}});
    return train(runner_, program, source, {.threads = threads, .print = [](std::string_view) {}}, scope_);
  }
  std::filesystem::path path_;
};

TEST_F(RemoteDatasetTest, APassIsARoundOfAllItsThreads) {
  ASSERT_TRUE(train_on(*main_, 2).ok());
  EXPECT_EQ(remote_->round_threads, 2);
  EXPECT_EQ(remote_->threads_done, 2);
  EXPECT_EQ(remote_->rounds_ended, 1);
  EXPECT_EQ(remote_->batches.size(), 10u);
  EXPECT_EQ(remote_->rows.at(50), 50 - 40.0f) << "each sample counts once";
}

TEST_F(RemoteDatasetTest, AWorkerThatWasStartedAgainSkipsWhatTheServersHave) {
  remote_->first_wanted = 7;
  ASSERT_TRUE(train_on(*main_, 1).ok());
  EXPECT_EQ(remote_->batches, (std::vector<uint64_t>{7, 8, 9}));
  remote_->skip_round = true;
  const auto report = train_on(*main_, 1);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->total.batches, 0);
}

// Which samples those are does not depend on which thread takes what.
TEST_F(RemoteDatasetTest, SeveralThreadsSkipTheSamplesThatCounted) {
  remote_->first_wanted = 7;
  ASSERT_TRUE(train_on(*main_, 3).ok());
  std::sort(remote_->batches.begin(), remote_->batches.end());
  EXPECT_EQ(remote_->batches, (std::vector<uint64_t>{7, 8, 9}));
  for (int key = 0; key < 10; ++key) {
    EXPECT_EQ(remote_->rows.at(static_cast<uint64_t>(key)), static_cast<float>(key) - (key < 8 ? 1 : 2)) << "key " << key;
  }
}

// Pulling ahead changes when rows are asked for, and nothing else: each batch asks once, and each sample counts once.
TEST_F(RemoteDatasetTest, RowsThatWerePulledAheadAreTheBatchsOwn) {
  remote_->ahead = true;
  for (const int threads : {1, 2}) {
    remote_->rows.clear();
    remote_->batches.clear();
    remote_->calls = 0;
    ASSERT_TRUE(train_on(*main_, threads).ok());
    EXPECT_EQ(remote_->batches.size(), 10u);
    EXPECT_EQ(remote_->calls, 10) << "the operator asks for nothing that is there already";
    EXPECT_EQ(remote_->rows.at(50), 50 - 40.0f);
    for (uint64_t key = 0; key < 10; ++key) EXPECT_EQ(remote_->rows.at(key), static_cast<float>(key) - 4);
  }
}

TEST_F(RemoteDatasetTest, AWorkerThatPullsAheadSkipsWhatTheServersHave) {
  remote_->ahead = true;
  remote_->first_wanted = 7;
  ASSERT_TRUE(train_on(*main_, 1).ok());
  EXPECT_EQ(remote_->batches, (std::vector<uint64_t>{7, 8, 9}));
  EXPECT_EQ(remote_->calls, 3) << "a batch that is skipped pulls nothing";
}

TEST_F(RemoteDatasetTest, AnErrorOfAPullAheadEndsThePass) {
  remote_->ahead = true;
  remote_->pulls_before_error = 3;
  const auto report = train_on(*main_, 2);
  EXPECT_EQ(report.status().code(), Code::unavailable);
  EXPECT_EQ(report.status().message(), "server 0 is away");
  EXPECT_EQ(remote_->rounds_ended, 0) << "the pass is not finished";
  EXPECT_EQ(remote_->rounds_abandoned, 1) << "the other workers must not wait for this one";
  EXPECT_EQ(remote_->abandoned_why, report.status());
}

TEST_F(RemoteDatasetTest, TheIdMinus1EndsThePassAlsoWhereItIsPulledAhead) {
  std::ofstream(path_, std::ios::app) << "1 -1 1 50\n";
  for (const bool ahead : {false, true}) {
    remote_->ahead = ahead;
    const auto report = train_on(*main_, 1);
    EXPECT_THAT(report.status().message(),
                testing::HasSubstr("variable 'a', table 'table': id -1 at position 0 is the key of no row"));
    EXPECT_FALSE(remote_->rows.contains(~uint64_t{0}));
  }
}

TEST_F(RemoteDatasetTest, ALineThatCannotBeReadAbandonsThePass) {
  std::ofstream(path_, std::ios::app) << "1 3 1 nothing\n";
  const auto report = train_on(*main_, 1);
  EXPECT_NE(report.status().message().find(":41:"), std::string::npos) << report.status().message();
  EXPECT_EQ(remote_->rounds_ended, 0);
  EXPECT_EQ(remote_->rounds_abandoned, 1);
  EXPECT_EQ(remote_->thread_errors, std::vector{report.status()});
  EXPECT_EQ(remote_->threads_done, 0) << "a thread that fails is not one whose data has ended";
}

TEST_F(RemoteDatasetTest, WhatWasReadIsSaidAtTheEnd) {
  ASSERT_TRUE(train_on(*main_, 2).ok());
  EXPECT_EQ(remote_->samples_read, 40u);
  EXPECT_EQ(remote_->read.lines, 40u);
  EXPECT_EQ(remote_->read.files, 1u);
}

// A server has lost batches that it had acknowledged: the data can be read again.
TEST_F(RemoteDatasetTest, APassIsReadAgainForServersThatLostBatches) {
  remote_->losses = 2;
  ASSERT_TRUE(train_on(*main_, 1).ok());
  EXPECT_EQ(remote_->rounds_begun, 3);
  EXPECT_EQ(remote_->rounds_abandoned, 2);
  EXPECT_EQ(remote_->rounds_ended, 1);
  remote_->losses = 100;
  EXPECT_EQ(train_on(*main_, 1).status().code(), Code::data_loss) << "not for ever";
}

// A run whose feed is wrong sends nothing, and its number is not waited for.
TEST_F(RemoteTest, ARunThatFailsIsDropped) {
  run(*main_, {{"a", ids({3}, {0, 1})}, {"b", ids({9}, {0, 1})}});
  EXPECT_FALSE(runner_.run(*main_, {{"a", ids({3}, {0, 1})}}, {loss_.name()}, scope_).ok());
  remote_->pulls_before_error = remote_->calls;
  EXPECT_FALSE(runner_.run(*main_, {{"a", ids({3}, {0, 1})}, {"b", ids({9}, {0, 1})}}, {loss_.name()}, scope_).ok());
  EXPECT_GE(remote_->dropped.size(), 1u);
  EXPECT_EQ(remote_->dropped.size(), remote_->next_batch - 1) << "all but the first";
}

// The threads of a step wait for each other: they are told of one that never comes to it.
TEST_F(RemoteTest, AParallelRunThatFailsIsSaid) {
  const Feed good = {{"a", ids({3}, {0, 1})}, {"b", ids({9}, {0, 1})}}, bad = {{"a", ids({3}, {0, 1})}};
  const auto fetched = runner_.run_parallel(*main_, {good, bad}, {loss_.name()}, scope_);
  EXPECT_THAT(fetched.status().message(), testing::HasSubstr("'b'"));
  EXPECT_EQ(remote_->thread_errors, std::vector{fetched.status()});
  EXPECT_EQ(remote_->dropped, std::vector<uint64_t>{1});
}

// A table whose first ids are in the batch and whose later ones are computed: one pull ahead, one by the operator.
TEST_F(RemoteDatasetTest, ComputedIdsArePulledInTheirPlace) {
  remote_->ahead = true;
  auto main = graph::Program::create(), startup = graph::Program::create();
  const graph::ProgramGuard guard(main, startup);
  const Variable a = L::data("a", {1}, kInt64, {.lod_level = 1});
  const auto look_up = [](const Variable& ids) {
    return L::embedding(ids, {100, 2}, {.is_sparse = true, .param = ParamAttr("table")});
  };
  const Variable next = L::elementwise_add(a, L::fill_constant({1}, kInt64, 60));
  const Variable first = look_up(a);
  const Variable second = look_up(L::elementwise_add(next, L::fill_constant({1}, kInt64, 0)));
  const Variable loss = L::reduce_sum(L::elementwise_add(first, second));
  const auto pairs = graph::append_backward(loss);
  value_or_throw(main->global_block().append_op({.type = "send",
                                                 .inputs = {{"X", {pairs[0].grad.name()}}},
                                                 .attributes = {{"parameters", std::vector<std::string>{"table"}}}}));
  ASSERT_TRUE(train_on(*main, 1).ok());
  EXPECT_EQ(remote_->rows.at(3), 3 - 4.0f);
  EXPECT_EQ(remote_->rows.at(63), 63 - 4.0f);
}

// Ids that are only reshaped on their way to a lookup are those of the batch: they are pulled ahead as well, all in one.
TEST_F(RemoteDatasetTest, ReshapedIdsArePulledAhead) {
  remote_->ahead = true;
  auto main = graph::Program::create(), startup = graph::Program::create();
  const graph::ProgramGuard guard(main, startup);
  const Variable a = L::data("a", {1}, kInt64, {.lod_level = 1});
  const auto look_up = [](const Variable& ids) {
    return L::embedding(ids, {100, 2}, {.is_sparse = true, .param = ParamAttr("table")});
  };
  const Variable first = look_up(a);
  const Variable second = L::embedding_v2(L::reshape(a, {-1}), {100, 2}, {.is_sparse = true, .param = ParamAttr("table")});
  const Variable loss = L::reduce_sum(L::elementwise_add(first, second));
  const auto pairs = graph::append_backward(loss);
  value_or_throw(main->global_block().append_op({.type = "send",
                                                 .inputs = {{"X", {pairs[0].grad.name()}}},
                                                 .attributes = {{"parameters", std::vector<std::string>{"table"}}}}));
  ASSERT_TRUE(train_on(*main, 1).ok());
  EXPECT_EQ(remote_->messages, 10) << "one for each batch";
  EXPECT_EQ(remote_->rows.at(3), 3 - 8.0f);
}

TEST_F(RemoteDatasetTest, EvaluationBeginsWithTheServersCurrentParameters) {
  ASSERT_TRUE(train_on(*test_, 1).ok());
  EXPECT_EQ(remote_->refreshes, 1);
  EXPECT_EQ(remote_->rounds_ended, 0);
}

TEST_F(RemoteTest, SavingFetchesATableAndLoadingStoresIt) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("argosy-remote-save-{}", ::getpid());
  run(*main_, {{"a", ids({3}, {0, 1})}, {"b", ids({9}, {0, 1})}});
  const std::vector<const graph::VarDesc*> variables = {main_->global_block().find_var("table")};
  ASSERT_TRUE(save_vars(scope_, variables, folder).ok());
  remote_->rows.clear();
  const auto report = load_vars(scope_, variables, folder);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(remote_->rows.at(3), 2.0f);
  EXPECT_EQ(remote_->rows.at(50), 50.0f) << "a row that nobody touched holds what a new one would";
  EXPECT_EQ(scope_.find("table"), nullptr);
  std::filesystem::remove_all(folder);
}

// A worker that is started again repeats its script: what it saved stays as it was, and what it loaded does not undo training.
// What the process alone has is loaded again.
TEST_F(RemoteTest, WhatWasSavedOrLoadedBeforeIsNotRepeated) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("argosy-remote-once-{}", ::getpid());
  const Variable own = L::create_parameter({2}, kFloat32, {.name = "own"});
  scope_.var("own").tensor = at::full({2}, 5.0f);
  const std::vector<const graph::VarDesc*> variables = {main_->global_block().find_var("table"), &own.desc()};
  ASSERT_TRUE(save_vars(scope_, variables, folder).ok());
  const auto saved = value_or_throw(read_file(folder / "table"));
  const auto report = load_vars(scope_, variables, folder);
  ASSERT_TRUE(report.ok()) << report.status().message();

  run(*main_, {{"a", ids({3}, {0, 1})}, {"b", ids({9}, {0, 1})}});
  scope_.var("own").tensor.zero_();
  ASSERT_TRUE(save_vars(scope_, variables, folder).ok());
  EXPECT_EQ(value_or_throw(read_file(folder / "table")), saved);
  const auto again = load_vars(scope_, variables, folder);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->loaded, report->loaded);
  EXPECT_EQ(again->unused, report->unused);
  EXPECT_EQ(remote_->rows.at(3), 2.0f) << "3, trained by one step";
  EXPECT_EQ(scope_.find("own")->tensor[0].item<float>(), 5.0f);

  remote_->done.clear();
  ASSERT_TRUE(folder_mark(folder).has_value()) << "the file system keeps no attributes";
  ASSERT_TRUE(save_vars(scope_, variables, folder).ok());
  EXPECT_EQ(value_or_throw(read_file(folder / "table")), saved) << "a worker was killed between the save and its record";

  std::filesystem::remove_all(folder);
  EXPECT_TRUE(save_vars(scope_, variables, folder).ok());
  EXPECT_FALSE(std::filesystem::exists(folder)) << "it was saved once";
  remote_->done[{"load_vars", folder.string()}] = std::string("ltable\0lown\0uother\0", 19);
  EXPECT_EQ(load_vars(scope_, variables, folder)->loaded, report->loaded);
  EXPECT_EQ(load_vars(scope_, variables, folder)->unused, std::vector<std::string>{"other"});
}

}  // namespace
}  // namespace argosy::engine
