// Jobs are objects: two of them live in one process, and neither knows of the other.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "argosy/fleet/fleet.h"
#include "argosy/fleet/small_job_test.h"

namespace argosy::fleet {
namespace {

namespace fs = std::filesystem;

// A worker with servers, programs and variables of its own. The job, its tables and its programs have the same names in all of
// them.
class OneJob {
 public:
  OneJob(const optim::Optimizer& optimizer, int servers)
      : endpoints_(free_endpoints(servers)),
        strategy_{.settings = {{"job", "job"}}},
        servers_(optimizer, strategy_, endpoints_),
        network_(optimizer),
        fleet_({.scope = &scope_}),
        executor_({}, fleet_.context()) {
    fleet_.init({.role = Role::worker, .index = 0, .worker_count = 1, .server_endpoints = endpoints_});
    fleet_.distribute(network_.main, network_.startup, strategy_);
  }

  void start() { executor_.run(network_.startup, {}, {}, &scope_); }
  float step() { return executor_.run(network_.main, small_batch(random_), {network_.loss}, &scope_)[0].tensor.item<float>(); }
  // As it is saved, from the servers.
  at::Tensor table(const fs::path& folder) {
    fleet_.save_persistables(folder.string(), *network_.main);
    Scope loaded;
    Network single(optim::SGD{.learning_rate = 0.1});
    argosy::load_params(*single.main, folder.string(), &loaded);
    return loaded.find("emb")->tensor;
  }
  void stop() { fleet_.stop_worker(); }

 private:
  const std::vector<std::string> endpoints_;
  const Strategy strategy_;
  Servers servers_;
  Network network_;
  Scope scope_;
  Random random_{3};
  Fleet fleet_;
  Executor executor_;
};

TEST(TwoJobs, TrainInOneProcessAsEachWouldAlone) {
  const optim::Optimizer optimizers[] = {optim::SGD{.learning_rate = 0.1}, optim::Adagrad{.learning_rate = 0.05}};
  const fs::path folder = fs::temp_directory_path() / fmt::format("argosy-two-jobs-{}", ::getpid());
  std::vector<float> expected[2], found[2];
  Scope alone[2];
  for (size_t i = 0; i < 2; ++i) {
    Network network(optimizers[i]);
    expected[i] = train(network, alone[i], 20, make_context());
  }
  OneJob first(optimizers[0], 1), second(optimizers[1], 2);
  OneJob* const jobs[] = {&first, &second};
  for (OneJob* job : jobs) job->start();
  for (int step = 0; step < 20; ++step) {
    for (size_t i = 0; i < 2; ++i) found[i].push_back(jobs[i]->step());
  }
  for (size_t i = 0; i < 2; ++i) {
    SCOPED_TRACE(i);
    EXPECT_THAT(found[i], ::testing::Pointwise(::testing::FloatNear(1e-5f), expected[i]));
    EXPECT_TRUE(at::allclose(jobs[i]->table(folder / std::to_string(i)), alone[i].find("emb")->tensor, 1e-5, 1e-5));
    jobs[i]->stop();
  }
  EXPECT_NE(expected[0].back(), expected[1].back()) << "the two jobs are not the same one";
  fs::remove_all(folder);
}

// A program names its job; its caller says in which context.
TEST(TwoJobs, AProgramIsNotRunInTheContextOfAnother) {
  const optim::Optimizer sgd = optim::SGD{.learning_rate = 0.1};
  Network network(sgd);
  Fleet fleet;
  fleet.init({.role = Role::worker, .index = 0, .worker_count = 1, .server_endpoints = free_endpoints(1)});
  fleet.distribute(network.main, network.startup);
  Scope scope;
  Executor other({}, make_context());
  try {
    other.run(network.startup, {}, {}, &scope);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("of which this process is no worker"));
  }
}

}  // namespace
}  // namespace argosy::fleet
