// CTR-DNN on parameter servers: ctr_dnn.cc, with the lines that make it a job of many processes. The twin of ctr_fleet.py.
//
//   fleetrun --no-python --server_num 2 --worker_num 2 ctr_fleet 'data/part-*' model
#include <argosy/argosy.h>

#include <cstdio>
#include <cstdlib>

using namespace argosy;
namespace L = argosy::layers;

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: fleetrun --no-python --server_num 2 --worker_num 2 %s 'FILES' MODEL_FOLDER [THREADS]\n",
                 argv[0]);
    return 2;
  }
  constexpr int64_t kRows = 100'001;
  const Variable dense = L::data("dense_input", {13});
  const Variable label = L::data("label", {1}, kInt64);
  std::vector<Variable> slots, pooled;
  for (int i = 1; i <= 26; ++i) {
    slots.push_back(L::data("C" + std::to_string(i), {1}, kInt64, {.lod_level = 1}));
    const Variable rows = L::embedding(slots.back(), {kRows, 10}, {.is_sparse = true, .param = "SparseFeatFactors"});
    pooled.push_back(L::sequence_pool(rows, "sum"));
  }
  Variable h = L::concat(inputs(pooled, dense), 1);
  for (int i = 0; i < 3; ++i) h = L::fc(h, 400, {.act = "relu"});
  const Variable predict = L::fc(h, 2, {.act = "softmax"});
  const Variable loss = L::mean(L::cross_entropy(predict, label));
  const auto auc = L::auc(predict, label);

  fleet::init();  // the role comes from the environment
  fleet::distributed_optimizer(optim::Adam{.learning_rate = 1e-3, .lazy_mode = true}, {.mode = Mode::async}).minimize(loss);
  if (fleet::is_server()) return fleet::run_server();

  fleet::init_worker();
  Executor exe;
  exe.run(default_startup_program());
  const auto dataset = make_dataset({.use = inputs(dense, slots, label),
                                     .files = fleet::util().get_file_shard(glob(argv[1])),
                                     .format = criteo(kRows),
                                     .batch_size = 500,
                                     .threads = argc > 3 ? std::atoi(argv[3]) : 1});
  exe.train_from_dataset(default_main_program(), *dataset, {.fetch = {{"loss", loss}, {"auc", auc.value}}, .print_period = 10});
  fleet::barrier_worker();  // everybody's gradients are in what is saved
  if (fleet::is_first_worker()) {
    fleet::save_inference_model(argv[2], inputs(dense, slots), {predict});
    std::printf("saved %s\n", argv[2]);
  }
  fleet::stop_worker();
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
