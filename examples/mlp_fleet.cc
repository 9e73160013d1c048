// A perceptron on parameter servers, fed batch by batch: it learns whether its inputs add up to more than zero.
// The twin of mlp_fleet.py.
//
//   fleetrun --no-python --server_num 2 --worker_num 2 mlp_fleet
#include <ATen/ATen.h>
#include <argosy/argosy.h>

#include <cstdio>

using namespace argosy;
namespace L = argosy::layers;

constexpr int64_t kWidth = 32, kBatch = 64, kSteps = 300;

Feed batch(int64_t size) {
  const at::Tensor x = at::rand({size, kWidth}) - 0.5;
  return {{"x", {.tensor = x}}, {"y", {.tensor = x.sum(1, true).gt(0).to(at::kLong)}}};
}

int main() try {
  const Variable x = L::data("x", {kWidth});
  const Variable y = L::data("y", {1}, kInt64);
  const Variable h = L::fc(x, 64, {.act = "tanh"});
  const Variable predict = L::fc(h, 2, {.act = "softmax"});
  const Variable loss = L::mean(L::cross_entropy(predict, y));
  const Variable accuracy = L::accuracy(predict, y);
  const auto test = default_main_program()->clone(true);

  fleet::init();  // the role comes from the environment
  fleet::distributed_optimizer(optim::SGD{.learning_rate = 0.5}, {.mode = Mode::sync}).minimize(loss);
  if (fleet::is_server()) return fleet::run_server();

  fleet::init_worker();
  Executor exe;
  exe.run(default_startup_program());
  at::manual_seed(1 + fleet::worker_index());  // every worker has samples of its own
  for (int step = 0; step < kSteps; ++step) {
    const auto fetched = exe.run(default_main_program(), batch(kBatch), {loss});
    if (step % 50 == 49) std::printf("step %d loss %.4f\n", step, fetched[0].tensor.item<float>());
  }
  fleet::barrier_worker();
  const float learned = exe.run(test, batch(1000), {accuracy})[0].tensor.item<float>();
  fleet::stop_worker();
  std::printf("test accuracy %.3f\n", learned);
  if (learned < 0.9f) return std::fprintf(stderr, "the model has not learned: its accuracy is below 0.9\n"), 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
