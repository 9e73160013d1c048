// CTR-DNN on Criteo-format text: 13 numbers and 26 categories through one sparse table, then three hidden layers. The twin
// of ctr_dnn.py.
//
//   ctr_dnn 'data/part-*' model            one thread, and with the seed below the same losses as the twin
//   ctr_dnn 'data/part-*' model 2          two threads
#include <argosy/argosy.h>

#include <cstdio>
#include <cstdlib>

using namespace argosy;
namespace L = argosy::layers;

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s 'FILES' MODEL_FOLDER [THREADS]\n", argv[0]);
    return 2;
  }
  constexpr int64_t kRows = 100'001;
  default_startup_program()->random_seed = 1;
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
  minimize(optim::Adam{.learning_rate = 1e-3, .lazy_mode = true}, loss);

  Executor exe;
  exe.run(default_startup_program());
  const auto dataset = make_dataset({.use = inputs(dense, slots, label),
                                     .files = glob(argv[1]),
                                     .format = criteo(kRows),
                                     .batch_size = 500,
                                     .threads = argc > 3 ? std::atoi(argv[3]) : 1});
  exe.train_from_dataset(default_main_program(), *dataset, {.fetch = {{"loss", loss}, {"auc", auc.value}}, .print_period = 10});
  save_inference_model(argv[2], inputs(dense, slots), {predict});
  std::printf("saved %s\n", argv[2]);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
