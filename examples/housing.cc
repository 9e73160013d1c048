// Linear regression on parameter servers, each process started by hand: 13 facts about a house, its price, and a known relation.
// The twin of housing.py. Two servers and two workers on one machine, each in a shell of its own:
//
//   export PADDLE_PSERVERS_IP_PORT_LIST=127.0.0.1:6174,127.0.0.1:6175 PADDLE_TRAINERS_NUM=2
//   TRAINING_ROLE=PSERVER POD_IP=127.0.0.1 PADDLE_PORT=6174 housing
//   TRAINING_ROLE=PSERVER POD_IP=127.0.0.1 PADDLE_PORT=6175 housing
//   TRAINING_ROLE=TRAINER PADDLE_TRAINER_ID=0 housing
//   TRAINING_ROLE=TRAINER PADDLE_TRAINER_ID=1 housing
#include <ATen/ATen.h>
#include <argosy/argosy.h>

#include <cstdio>

using namespace argosy;
namespace L = argosy::layers;

constexpr int64_t kFacts = 13, kBatch = 32, kSteps = 200;

// The price is 22.5, and a slope between -3 and 3 times each fact; facts lie around 0.
Feed houses(int64_t count) {
  const at::Tensor x = at::randn({count, kFacts});
  return {{"x", {.tensor = x}}, {"y", {.tensor = 22.5 + at::mm(x, at::linspace(-3, 3, kFacts).unsqueeze(1))}}};
}

int main() try {
  const Variable x = L::data("x", {kFacts});
  const Variable y = L::data("y", {1});
  const Variable error = L::mean(L::square_error_cost(L::fc(x, 1), y));
  const auto test = default_main_program()->clone(true);

  fleet::init();  // the role comes from the environment
  fleet::distributed_optimizer(optim::SGD{.learning_rate = 0.05}, {.mode = Mode::sync}).minimize(error);
  if (fleet::is_server()) return fleet::run_server();

  fleet::init_worker();
  Executor exe;
  exe.run(default_startup_program());
  at::manual_seed(1 + fleet::worker_index());  // every worker has houses of its own
  for (int step = 0; step < kSteps; ++step) {
    const auto fetched = exe.run(default_main_program(), houses(kBatch), {error});
    if (step % 50 == 49) std::printf("step %d squared error %.4f\n", step, fetched[0].tensor.item<float>());
  }
  const float learned = exe.run(test, houses(500), {error})[0].tensor.item<float>();
  fleet::stop_worker();
  std::printf("squared error of new houses %.5f\n", learned);
  if (learned > 0.01f) return std::fprintf(stderr, "the relation was not found: the squared error is above 0.01\n"), 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
