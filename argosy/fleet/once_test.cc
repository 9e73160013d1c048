#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "argosy/base/error.h"
#include "argosy/base/file.h"
#include "argosy/base/socket.h"
#include "argosy/base/thread.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/fleet/fleet.h"
#include "argosy/fleet/job.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layers.h"

// A worker that is started again runs its script from the beginning: what it had saved, loaded or set is not repeated.
namespace argosy::fleet {
namespace {

namespace L = argosy::layers;
namespace fs = std::filesystem;

// Row k of "emb" counts the batches with id k, and "w" all of them.
struct CountingNetwork {
  CountingNetwork() : main(Program::create()), startup(Program::create()) {
    const graph::ProgramGuard programs(main, startup);
    const graph::UniqueNameGuard names;
    ParamAttr table("emb");
    table.initializer = graph::constant_initializer(0);
    const Variable row = L::embedding(L::data("id", {1}, kInt64), {20, 2}, {.is_sparse = true, .param = table});
    const Variable w = L::create_parameter({3}, kFloat32, {.name = "w", .default_initializer = graph::constant_initializer(0)});
    out = L::elementwise_add(L::reduce_sum(row), L::reduce_sum(w));
    loss = L::scale(out, -1.0f);
    graph::minimize(optim::SGD{.learning_rate = 1.0}, loss);
  }

  std::shared_ptr<Program> main, startup;
  Variable out, loss;
};

std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path().string()] = value_or_throw(read_file(entry.path()));
  }
  return files;
}

class OnceTest : public ::testing::TestWithParam<Mode> {
 protected:
  OnceTest() {
    for (const int port : value_or_throw(free_ports("127.0.0.1", 2))) endpoints_.push_back(fmt::format("127.0.0.1:{}", port));
    strategy_.mode = GetParam();
    strategy_.geo_k_steps = 1;
    strategy_.settings = {{"job", fmt::format("once_test_{}", ::getpid())},
                          {"snapshot_roots", fs::temp_directory_path().string()}};
    for (size_t i = 0; i < endpoints_.size(); ++i) {
      const CountingNetwork network;
      jobs_.push_back(value_or_throw(Job::create(*network.main, *network.startup, strategy_, endpoints_, 1, make_context())));
      value_or_throw(jobs_.back()->become_server(static_cast<int>(i), {}, Scope()));
    }
    for (auto& job : jobs_) servers_.emplace_back("server", [&job] { throw_if_error(job->serve()); });
    fs::create_directories(folder_);
    save_first_model();
  }
  ~OnceTest() override { fs::remove_all(folder_); }

  // Values of 10, of a single machine.
  void save_first_model() {
    const CountingNetwork network;
    Scope scope;
    Executor().run(network.startup, {}, {}, &scope);
    scope.find("emb")->tensor.fill_(10);
    scope.find("w")->tensor.fill_(10);
    const auto all = network.main->persistables();
    throw_if_error(engine::save_vars(scope, {all.begin(), all.end()}, folder_ / "first"));
  }

  // One life of the worker; it is killed in the end.
  struct Life {
    std::vector<float> emb, w;
    std::vector<std::string> loaded;
    uint64_t dropped = 0;
    float rate = 0;
    ps::JobLedger ledger;
  };
  Life live() {
    CountingNetwork network;
    Scope scope;
    Fleet fleet({.scope = &scope});
    fleet.init({.role = Role::worker, .index = 0, .worker_count = 1, .server_endpoints = endpoints_});
    fleet.distribute(network.main, network.startup, strategy_);
    Executor exe({}, fleet.context());
    exe.run(network.startup, {}, {}, &scope);
    const auto train = [&](int64_t id) {
      exe.run(network.main, {{"id", {.tensor = at::tensor(std::vector<int64_t>{id}).reshape({1, 1})}}}, {}, &scope);
    };
    Life life;
    life.loaded = fleet.load_persistables((folder_ / "first").string(), *network.main).loaded;
    for (const int64_t id : {1, 2, 19}) train(id);
    fleet.save_persistables((folder_ / "a").string(), *network.main);
    throw_if_error(fleet.worker()->refresh());  // what is queued would be applied at the next rate
    fleet.set_learning_rate(2);
    train(1);
    throw_if_error(fleet.worker()->refresh());
    fleet.set_learning_rate(1);
    fleet.save_snapshot((folder_ / "base").string(), "base");
    train(2);
    fleet.save_persistables((folder_ / "a").string(), *network.main);
    life.dropped = fleet.shrink({}, 1);
    train(1);
    fleet.save_snapshot((folder_ / "delta").string(), "delta");
    fleet.save_inference_model((folder_ / "model").string(), {"id"}, {network.out});
    RemoteWorker& worker = *fleet.worker();
    throw_if_error(worker.refresh());
    life.emb.resize(40);
    throw_if_error(worker.fetch("emb", life.emb));
    life.w.resize(3);
    throw_if_error(worker.fetch("w", life.w));
    life.rate = worker.client().stats().value()[0].tables[0].rate;
    life.ledger = fleet.ledger();
    worker.fail("was killed by the test");
    return life;
  }

  void leave() {
    CountingNetwork network;
    Scope scope;
    const auto job = value_or_throw(Job::create(*network.main, *network.startup, strategy_, endpoints_, 1, make_context()));
    throw_if_error(job->become_worker(0, *network.main, *network.startup));
    throw_if_error(job->worker()->connect());
    throw_if_error(job->worker()->close());
  }

  const fs::path folder_ = fs::temp_directory_path() / fmt::format("argosy-once-{}", ::getpid());
  std::vector<std::string> endpoints_;
  Strategy strategy_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<Thread> servers_;  // last: use the jobs
};

TEST_P(OnceTest, AWorkerThatIsStartedAgainRepeatsNothing) {
  const Life first = live();
  const auto files = files_of(folder_);
  EXPECT_GT(first.dropped, 0u);
  const Life second = live();
  EXPECT_EQ(second.emb, first.emb);
  EXPECT_EQ(second.w, first.w);
  EXPECT_EQ(second.loaded, first.loaded);
  EXPECT_EQ(second.dropped, first.dropped);
  EXPECT_EQ(second.rate, first.rate);
  EXPECT_EQ(files_of(folder_), files) << "a finished save was changed";
  for (const Life& life : {first, second}) {
    ASSERT_EQ(life.ledger.open.size(), 1u) << life.ledger.to_json();
    EXPECT_EQ(life.ledger.open[0].batches, 6u) << "runs, of which none counts twice";
  }
  EXPECT_THAT(value_or_throw(read_file(folder_ / "a" / "__ledger__")), ::testing::HasSubstr("\"batches\": 5,"));
  if (GetParam() != Mode::geo) {
    EXPECT_THAT(first.w, ::testing::Each(17)) << "10, six batches, one of them at rate 2";
    EXPECT_EQ(first.emb[2], 14) << "10, two batches at rate 1 and one at rate 2";
  }
  leave();
}
INSTANTIATE_TEST_SUITE_P(All, OnceTest, ::testing::Values(Mode::sync, Mode::half_async, Mode::async, Mode::geo),
                         [](const auto& info) { return std::string(ps::mode_name(info.param)); });

}  // namespace
}  // namespace argosy::fleet
