#pragma once

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "argosy/base/error.h"
#include "argosy/base/random.h"
#include "argosy/base/socket.h"
#include "argosy/base/thread.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/fleet/executor.h"
#include "argosy/fleet/job.h"
#include "argosy/fleet/model.h"
#include "argosy/fleet/process_context.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/minimize.h"

// A small network, and a job that trains it in this process: for the tests of this room.
namespace argosy::fleet {

// A network with a sparse table, two dense layers and constant first values, in programs of its own.
struct Network {
  explicit Network(const optim::Optimizer& optimizer) : main(Program::create()), startup(Program::create()) {
    const graph::ProgramGuard programs(main, startup);
    const graph::UniqueNameGuard names;
    const Variable id = layers::data("id", {1}, kInt64), x = layers::data("x", {3}), y = layers::data("y", {1});
    ParamAttr table("emb");
    table.initializer = graph::constant_initializer(0.1f);
    const Variable row = layers::embedding(id, {50, 4}, {.is_sparse = true, .param = table});
    const Variable h = layers::fc(layers::concat({row, x}, 1), 5, {.act = "tanh"});
    loss = layers::mean(layers::square_error_cost(layers::fc(h, 1), y));
    startup->random_seed = 7;
    graph::minimize(optimizer, loss);
  }

  std::shared_ptr<Program> main, startup;
  Variable loss;
};

inline Feed small_batch(Random& random) {
  std::vector<int64_t> ids;
  std::vector<float> x, y;
  for (int i = 0; i < 8; ++i) {
    ids.push_back(static_cast<int64_t>(random.below(50)));
    for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(random.uniform()));
    y.push_back(static_cast<float>(random.uniform()));
  }
  return {{"id", {.tensor = at::tensor(ids).reshape({8, 1})}},
          {"x", {.tensor = at::tensor(x).reshape({8, 3})}},
          {"y", {.tensor = at::tensor(y).reshape({8, 1})}}};
}

// The losses of some steps, after the startup program where `start` is set.
inline std::vector<float> train(Network& network, Scope& scope, int steps, const std::shared_ptr<engine::Context>& context,
                                bool start = true) {
  Executor exe({}, context);
  if (start) exe.run(network.startup, {}, {}, &scope);
  Random random(3);
  std::vector<float> losses;
  for (int i = 0; i < steps; ++i)
    losses.push_back(exe.run(network.main, small_batch(random), {network.loss}, &scope)[0].tensor.item<float>());
  return losses;
}

// Where nobody listens; not among the ports that the system gives to callers that ask for any, before a server takes it.
inline std::vector<std::string> free_endpoints(int count) {
  std::vector<std::string> endpoints;
  for (const int port : value_or_throw(free_ports("127.0.0.1", count))) endpoints.push_back(fmt::format("127.0.0.1:{}", port));
  return endpoints;
}

// Servers of a job in this process, each on a thread, until the worker is done.
class Servers {
 public:
  Servers(const optim::Optimizer& optimizer, const Strategy& strategy, const std::vector<std::string>& endpoints,
          const ServerModel& model = {}) {
    for (size_t i = 0; i < endpoints.size(); ++i) {
      Network network(optimizer);
      jobs_.push_back(value_or_throw(Job::create(*network.main, *network.startup, strategy, endpoints, 1, make_context())));
      const Scope nothing;
      reports_.push_back(value_or_throw(jobs_.back()->become_server(static_cast<int>(i), model, nothing)));
    }
    for (auto& job : jobs_) threads_.emplace_back("server", [&job] { throw_if_error(job->serve()); });
  }

  const LoadReport& report(size_t server) const { return reports_[server]; }

 private:
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<LoadReport> reports_;
  std::vector<Thread> threads_;  // last: use the jobs
};

}  // namespace argosy::fleet
