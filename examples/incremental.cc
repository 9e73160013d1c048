// Incremental training: a job learns what one day shows, saves it, and the next day's job goes on from there on its servers.
// The twin of incremental.py; each goes on from what the other saved.
//
//   fleetrun --no-python --server_num 2 --worker_num 2 incremental 1 day1        learns the first half of 100 keys
//   fleetrun --no-python --server_num 2 --worker_num 2 incremental 2 day2 day1   sees only the second half, and knows both
#include <ATen/ATen.h>
#include <argosy/argosy.h>

#include <cstdio>
#include <cstdlib>

using namespace argosy;
namespace L = argosy::layers;

constexpr int64_t kKeys = 100, kSteps = 60;

// What is to be learned: each key's own number, its sine.
Feed batch(const at::Tensor& keys) {
  return {{"key", {.tensor = keys.unsqueeze(1)}}, {"number", {.tensor = keys.unsqueeze(1).to(at::kFloat).sin()}}};
}

int main(int argc, char** argv) try {
  if (argc < 3) return std::fprintf(stderr, "usage: fleetrun --no-python … %s DAY SAVE [LOAD]\n", argv[0]), 2;
  const int day = std::atoi(argv[1]);
  const Variable key = L::data("key", {1}, kInt64);
  const Variable number = L::data("number", {1});
  const Variable known = L::embedding(key, {kKeys, 1}, {.is_sparse = true, .param = "numbers"});
  const Variable loss = L::mean(L::square_error_cost(L::reshape(known, {-1, 1}), number));
  const auto test = default_main_program()->clone(true);

  fleet::init();
  fleet::distributed_optimizer(optim::SGD{.learning_rate = 5}, {.mode = Mode::sync}).minimize(loss);
  if (fleet::is_server()) {
    fleet::init_server(argc > 3 ? argv[3] : "");  // what the day before saved; nothing on the first day
    return fleet::run_server();
  }

  fleet::init_worker();
  Executor exe;
  exe.run(default_startup_program());
  const at::Tensor keys = at::arange(kKeys / 2 * (day - 1) + fleet::worker_index(), kKeys / 2 * day, fleet::worker_num());
  for (int step = 0; step < kSteps; ++step) exe.run(default_main_program(), batch(keys));
  fleet::barrier_worker();
  if (fleet::is_first_worker()) fleet::save_persistables(argv[2], *default_main_program());
  // This day's keys and those before.
  const float error = exe.run(test, batch(at::arange(kKeys / 2 * day)), {loss})[0].tensor.item<float>();
  fleet::stop_worker();
  std::printf("day %d: squared error of all keys so far %.6f\n", day, error);
  if (error > 0.001f)
    return std::fprintf(stderr, "the keys were not learned, or forgotten: the squared error is above 0.001\n"), 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
