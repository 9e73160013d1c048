#include "argosy/fleet/job.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <numeric>

#include "argosy/base/error.h"
#include "argosy/base/file.h"
#include "argosy/engine/program/device.h"
#include "argosy/fleet/model.h"
#include "argosy/fleet/small_job_test.h"

namespace argosy::fleet {
namespace {

namespace fs = std::filesystem;

class JobTest : public ::testing::TestWithParam<Mode> {
 protected:
  Strategy strategy(Mode mode) {
    return {
        .mode = mode,
        .geo_k_steps = 2,
        .settings = {{"job", fmt::format("job_test_{}", ::getpid())}, {"snapshot_roots", fs::temp_directory_path().string()}}};
  }

  // A worker's run against `servers` servers: its losses and, in `fetched`, the table in the end.
  std::vector<float> distributed(const optim::Optimizer& optimizer, const Strategy& strategy, int servers, int steps,
                                 at::Tensor* table = nullptr) {
    const auto endpoints = free_endpoints(servers);
    Servers running(optimizer, strategy, endpoints);
    Network network(optimizer);
    const auto job = value_or_throw(Job::create(*network.main, *network.startup, strategy, endpoints, 1, context_));
    throw_if_error(job->become_worker(0, *network.main, *network.startup));
    Scope scope;
    const auto losses = train(network, scope, steps, context_);
    if (table != nullptr) {
      throw_if_error(job->worker()->refresh());
      *table = at::empty({50, 4});
      throw_if_error(job->worker()->fetch("emb", {table->data_ptr<float>(), 200}));
    }
    throw_if_error(job->worker()->close());
    return losses;
  }

  static void expect_learning(const std::vector<float>& losses) {
    const auto mean = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      return std::accumulate(losses.begin() + begin, losses.begin() + end, 0.0) / static_cast<double>(end - begin);
    };
    EXPECT_LT(mean(200, 300), 0.8 * mean(0, 5));  // 0.63 is as far as one process comes: the rest is noise of the data
  }

  const std::shared_ptr<engine::Context> context_ = make_context();  // of the workers
};

// One worker in step with its servers computes what one process computes; but for weight decay of a sparse table, which servers
// apply to the rows of a batch alone, and say so.
TEST_F(JobTest, SyncTrainingEqualsTrainingHere) {
  const optim::Optimizer optimizers[] = {
      optim::SGD{.learning_rate = 0.1},
      optim::Momentum{.learning_rate = 0.05, .momentum = 0.9},
      optim::Adagrad{.learning_rate = 0.1},
      optim::Adam{.learning_rate = optim::exponential_decay(0.05, 10, 0.5), .lazy_mode = true},
      optim::SGD{.learning_rate = 0.3, .grad_clip = optim::GradientClipByGlobalNorm{.clip_norm = 0.2}},
  };
  for (const optim::Optimizer& optimizer : optimizers) {
    SCOPED_TRACE(optimizer.rule);
    Network local(optimizer);
    Scope scope;
    const auto expected = train(local, scope, 30, context_);
    at::Tensor table;
    const auto found = distributed(optimizer, strategy(Mode::sync), 2, 30, &table);
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-5) << "step " << i;
    EXPECT_TRUE(at::allclose(table, scope.find("emb")->tensor, 1e-5, 1e-5));
  }
}

// A worker on a device of its own: dense parameters and rows come to it, and gradients go back, as copies.
TEST_F(JobTest, SyncTrainingOnAnotherDeviceEqualsTrainingHere) {
  const optim::Optimizer optimizer = optim::Adam{.learning_rate = 0.05, .lazy_mode = true};
  Network local(optimizer);
  Scope scope;
  const auto expected = train(local, scope, 30, context_);
  const engine::NoMemoryWalks apart;
  at::Tensor table;
  const auto found = distributed(optimizer, strategy(Mode::sync), 2, 30, &table);
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-5) << "step " << i;
  EXPECT_TRUE(at::allclose(table, scope.find("emb")->tensor, 1e-5, 1e-5));
}

TEST_P(JobTest, EveryModeLearnsOnAnotherDevice) {
  const engine::NoMemoryWalks apart;
  expect_learning(distributed(optim::SGD{.learning_rate = 0.1}, strategy(GetParam()), 2, 300));
}

// An async worker runs ahead of its gradients by as much as its queue holds, however the threads are scheduled: the end is far
// enough from the beginning.
TEST_P(JobTest, EveryModeLearns) { expect_learning(distributed(optim::SGD{.learning_rate = 0.1}, strategy(GetParam()), 2, 300)); }
INSTANTIATE_TEST_SUITE_P(All, JobTest, ::testing::Values(Mode::sync, Mode::half_async, Mode::async, Mode::geo),
                         [](const auto& info) { return std::string(ps::mode_name(info.param)); });

// What one process saved, states included, is where servers go on; and what they hold is saved again as it was.
TEST_F(JobTest, ServersStartFromASavedModelAndSaveItAgain) {
  const optim::Optimizer adam = optim::Adam{.learning_rate = 0.05, .lazy_mode = true};
  const fs::path folder = fs::temp_directory_path() / fmt::format("argosy-job-{}", ::getpid());
  Network local(adam);
  Scope scope;
  train(local, scope, 10, context_);
  const auto all = local.main->persistables();
  throw_if_error(engine::save_vars(scope, {all.begin(), all.end()}, folder / "one"));
  const auto expected = train(local, scope, 5, context_, false);

  const auto endpoints = free_endpoints(2);
  const Strategy sync = strategy(Mode::sync);
  Servers servers(adam, sync, endpoints, {.folder = (folder / "one").string()});
  Network network(adam);
  const auto job = value_or_throw(Job::create(*network.main, *network.startup, sync, endpoints, 1, context_));
  throw_if_error(job->become_worker(0, *network.main, *network.startup));
  Scope worker;
  Executor exe({}, context_);
  exe.run(network.startup, {}, {}, &worker);
  const auto variables = network.main->persistables();
  throw_if_error(engine::save_vars(worker, {variables.begin(), variables.end()}, folder / "two"));
  for (const char* name : {"emb", "emb_moment1_0", "emb_beta1_pow_acc_0", "fc_0.w_0", "fc_0.w_0_moment2_0", "fc_1.b_0"}) {
    EXPECT_EQ(value_or_throw(read_file(folder / "one" / name)), value_or_throw(read_file(folder / "two" / name))) << name;
  }
  const auto found = train(network, worker, 5, context_, false);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << "step " << i;
  throw_if_error(job->worker()->close());
  fs::remove_all(folder);
}

// A model on disk, and servers that start from it.
class StartFromModel : public JobTest {
 protected:
  ~StartFromModel() override { fs::remove_all(folder_); }

  // A job that trains for a while and leaves what it learned in `how`'s form. Returns its table.
  at::Tensor train_and_save(const std::function<void(RemoteWorker&, Network&, Scope&)>& save) {
    const auto endpoints = free_endpoints(2);
    Servers running(adam_, strategy(Mode::sync), endpoints);
    return with_worker(endpoints, [&](RemoteWorker& worker, Network& network, Scope& scope) {
      train(network, scope, 5, context_, false);
      save(worker, network, scope);
    });
  }

  // The table and the report of `servers` servers that start from the model.
  at::Tensor start_from(const ServerModel& model, int servers, LoadReport& report) {
    const auto endpoints = free_endpoints(servers);
    Servers running(adam_, strategy(Mode::sync), endpoints, model);
    report = running.report(0);
    return with_worker(endpoints, [](RemoteWorker&, Network&, Scope&) {});
  }

  template <typename Work>
  at::Tensor with_worker(const std::vector<std::string>& endpoints, Work work) {
    Network network(adam_);
    const auto job = value_or_throw(Job::create(*network.main, *network.startup, strategy(Mode::sync), endpoints, 1, context_));
    throw_if_error(job->become_worker(0, *network.main, *network.startup));
    Scope scope;
    Executor({}, context_).run(network.startup, {}, {}, &scope);
    work(*job->worker(), network, scope);
    at::Tensor table = at::empty({201});  // and a number that the rule keeps beside a dense parameter
    throw_if_error(job->worker()->fetch("emb", {table.data_ptr<float>(), 200}));
    throw_if_error(job->worker()->fetch("fc_0.w_0_beta1_pow_acc_0", {table.data_ptr<float>() + 200, 1}));
    throw_if_error(job->worker()->close());
    return table;
  }

  const optim::Optimizer adam_ = optim::Adam{.learning_rate = 0.05, .lazy_mode = true};
  const fs::path folder_ = fs::temp_directory_path() / fmt::format("argosy-start-{}", ::getpid());
};

TEST_F(StartFromModel, WhatAJobSaved) {
  const auto table = train_and_save([&](RemoteWorker&, Network& network, Scope& scope) {
    const auto all = network.main->persistables();
    throw_if_error(engine::save_vars(scope, {all.begin(), all.end()}, folder_));
  });
  fs::remove(folder_ / "fc_1.b_0");
  throw_if_error(write_file_atomically(folder_ / "old_table", "of a layer that is gone"));
  LoadReport report;
  EXPECT_TRUE(at::equal(start_from({.folder = folder_.string()}, 1, report), table));
  EXPECT_THAT(report.loaded, ::testing::IsSupersetOf({"emb", "emb_moment1_0", "fc_0.w_0"}));
  EXPECT_THAT(report.missing, ::testing::ElementsAre("fc_1.b_0"));
  EXPECT_THAT(report.unused, ::testing::Contains("old_table"));
}

TEST_F(StartFromModel, AFullSnapshotAndADeltaOnItsBase) {
  const auto table = train_and_save([&](RemoteWorker& worker, Network& network, Scope& scope) {
    value_or_throw(worker.client().save_snapshot((folder_ / "base").string(), ps::SnapshotKind::base));
    train(network, scope, 3, context_, false);
    value_or_throw(worker.client().save_snapshot((folder_ / "delta").string(), ps::SnapshotKind::delta));
    value_or_throw(worker.client().save_snapshot((folder_ / "full").string(), ps::SnapshotKind::full));
  });
  for (const char* name : {"full", "delta"}) {
    SCOPED_TRACE(name);
    LoadReport report;
    EXPECT_TRUE(at::equal(start_from({.folder = (folder_ / name).string()}, 3, report), table));
    EXPECT_THAT(report.loaded, ::testing::UnorderedElementsAre("emb", "fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"));
    EXPECT_THAT(report.missing, ::testing::IsEmpty());
  }
}

TEST_F(StartFromModel, OnlyTheVariablesThatAreNamed) {
  const auto table = train_and_save([&](RemoteWorker& worker, Network& network, Scope& scope) {
    const auto all = network.main->persistables();
    throw_if_error(engine::save_vars(scope, {all.begin(), all.end()}, folder_ / "files"));
    value_or_throw(worker.client().save_snapshot((folder_ / "snapshot").string(), ps::SnapshotKind::full));
  });
  const auto rows = [](const at::Tensor& all) { return all.narrow(0, 0, 200); };
  const at::Tensor fresh = at::full({200}, 0.1f);
  for (const char* name : {"files", "snapshot"}) {
    SCOPED_TRACE(name);
    const std::string folder = (folder_ / name).string();
    LoadReport report;
    EXPECT_TRUE(at::equal(rows(start_from({.folder = folder, .names = {"emb"}}, 2, report)), rows(table)));
    EXPECT_THAT(report.loaded, ::testing::ElementsAre("emb"));
    EXPECT_TRUE(at::equal(rows(start_from({.folder = folder, .names = {"fc_0.w_0", "fc_1.b_0"}}, 2, report)), fresh));
    EXPECT_THAT(report.loaded, ::testing::UnorderedElementsAre("fc_0.w_0", "fc_1.b_0"));
  }
}

TEST_F(StartFromModel, ANameThatIsNowhereIsToldAndNothingStarts) {
  const auto refusal = [&](const ServerModel& model) -> std::string {
    Network network(adam_);
    const auto job =
        value_or_throw(Job::create(*network.main, *network.startup, strategy(Mode::sync), free_endpoints(1), 1, context_));
    return job->become_server(0, model, Scope()).status().message();
  };
  train_and_save([&](RemoteWorker& worker, Network& network, Scope& scope) {
    const auto all = network.main->persistables();
    throw_if_error(engine::save_vars(scope, {all.begin(), all.end()}, folder_ / "files"));
    value_or_throw(worker.client().save_snapshot((folder_ / "snapshot").string(), ps::SnapshotKind::full));
  });
  fs::remove(folder_ / "files" / "emb");
  const std::string files = (folder_ / "files").string(), snapshot = (folder_ / "snapshot").string();
  EXPECT_THAT(refusal({.folder = files, .names = {"embb"}}), ::testing::HasSubstr("no variable 'embb'; they have emb, "));
  EXPECT_THAT(refusal({.folder = files, .names = {"emb"}}), ::testing::HasSubstr("it lacks emb"));
  EXPECT_THAT(refusal({.folder = files, .names = {"emb", "fc_0.w_0"}}), ::testing::HasSubstr("has no emb, which"));
  EXPECT_THAT(refusal({.folder = snapshot, .names = {"emb_moment1_0"}}), ::testing::HasSubstr("the parameter 'emb': name that"));
}

TEST_F(JobTest, AWorkerThatHasLeftSaysSo) {
  const optim::Optimizer sgd = optim::SGD{.learning_rate = 0.1};
  const auto endpoints = free_endpoints(1);
  Servers servers(sgd, strategy(Mode::sync), endpoints);
  Network network(sgd);
  const auto job = value_or_throw(Job::create(*network.main, *network.startup, strategy(Mode::sync), endpoints, 1, context_));
  throw_if_error(job->become_worker(0, *network.main, *network.startup));
  Scope scope;
  train(network, scope, 1, context_);
  throw_if_error(job->worker()->close());
  Executor exe({}, context_);
  EXPECT_THROW(exe.run(network.startup, {}, {}, &scope), Error);
}

}  // namespace
}  // namespace argosy::fleet
