// Distributed evaluation: two workers train a click model, each tests it on its own files, and the AUC is that over all of them.
// The twin of evaluation.py.
//
//   fleetrun --no-python --server_num 2 --worker_num 2 evaluation 'data/train/part-*' 'data/test/part-*'
#include <ATen/ATen.h>
#include <argosy/argosy.h>

#include <cstdio>

using namespace argosy;
namespace L = argosy::layers;

constexpr int64_t kRows = 100'001;
constexpr int kPasses = 3;

auto dataset(const std::vector<Variable>& variables, const char* pattern) {
  return make_dataset(
      {.use = variables, .files = fleet::util().get_file_shard(glob(pattern)), .format = criteo(kRows), .batch_size = 100});
}

int main(int argc, char** argv) try {
  if (argc < 3) return std::fprintf(stderr, "usage: fleetrun --no-python … %s 'TRAIN_FILES' 'TEST_FILES'\n", argv[0]), 2;
  const Variable dense = L::data("dense_input", {13});
  const Variable label = L::data("label", {1}, kInt64);
  std::vector<Variable> slots, weights;
  for (int i = 1; i <= 26; ++i) {
    slots.push_back(L::data("C" + std::to_string(i), {1}, kInt64, {.lod_level = 1}));
    weights.push_back(L::sequence_pool(L::embedding(slots.back(), {kRows, 2}, {.is_sparse = true, .param = "weights"}), "sum"));
  }
  const Variable predict = L::softmax(L::sums(inputs(weights, L::fc(dense, 2))));
  const Variable loss = L::mean(L::cross_entropy(predict, label));
  const auto auc = L::auc(predict, label);

  fleet::init();
  fleet::distributed_optimizer(optim::Adam{.learning_rate = 0.01, .lazy_mode = true}, {.mode = Mode::async}).minimize(loss);
  if (fleet::is_server()) return fleet::run_server();

  fleet::init_worker();
  const auto program = default_main_program();
  const std::vector<Variable> variables = inputs(dense, slots, label);
  Executor exe;
  exe.run(default_startup_program());
  for (int pass = 0; pass < kPasses; ++pass) exe.train_from_dataset(program, *dataset(variables, argv[1]));
  fleet::barrier_worker();  // everybody's gradients are in the model
  for (const Variable& state : auc.states) global_scope().find(state.name())->tensor.zero_();  // forgets the training's counts
  exe.infer_from_dataset(program, *dataset(variables, argv[2]), {.fetch = {{"auc of this worker", auc.value}}});
  const double of_all = fleet::global_auc(fleet::fleet(), global_scope(), auc.states[2].name(), auc.states[3].name());
  fleet::stop_worker();
  std::printf("test auc of all workers %.6f\n", of_all);
  if (of_all < 0.7) return std::fprintf(stderr, "the model has not learned: its AUC is below 0.7\n"), 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
