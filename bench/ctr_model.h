#pragma once

#include <argosy/argosy.h>

#include <functional>
#include <string>
#include <vector>

namespace argosy::bench {

// CTR-DNN as every peer's script has it: 13 numbers and 26 ids through one shared table, 400-400-400-2, Adam.
struct CtrModel {
  std::shared_ptr<Program> main = Program::create(), startup = Program::create(), test;
  std::vector<Variable> inputs;
  Variable loss;
  layers::Auc auc;
};

inline constexpr int64_t kRows = 1'000'001, kWidth = 10, kBatch = 1000, kHidden = 400;
inline constexpr int kTestBatches = 20;  // auc.batch_value covers so many

// The numbers and ids that the peers' scripts make of the same lines.
inline DatasetFormat ctr_format() { return {data::CriteoOptions{.hash_dim = kRows, .scheme = data::CriteoScheme::log1p}}; }

inline optim::Adam ctr_optimizer() { return {.learning_rate = 1e-3, .lazy_mode = true}; }

// `optimise` completes the programs for a loss; on this machine alone where it is left out.
inline CtrModel make_ctr_model(const std::function<void(const Variable& loss)>& optimise = [](const Variable& loss) {
  minimize(ctr_optimizer(), loss);
}) {
  namespace L = layers;
  CtrModel model;
  const ProgramGuard programs(model.main, model.startup);
  const graph::UniqueNameGuard names;
  model.startup->random_seed = 1;
  const Variable dense = L::data("dense_input", {13}), label = L::data("label", {1}, kInt64);
  std::vector<Variable> slots, pooled;
  for (int i = 1; i <= 26; ++i) {
    slots.push_back(L::data(fmt::format("C{}", i), {1}, kInt64, {.lod_level = 1}));
    ParamAttr table("SparseFeatFactors");
    table.initializer = graph::uniform_initializer(-0.01f, 0.01f);
    pooled.push_back(L::sequence_pool(L::embedding(slots.back(), {kRows, kWidth}, {.is_sparse = true, .param = table}), "sum"));
  }
  Variable h = L::concat(argosy::inputs(pooled, dense), 1);
  for (int i = 0; i < 3; ++i) h = L::fc(h, kHidden, {.act = "relu"});
  const Variable predict = L::fc(h, 2, {.act = "softmax"});
  model.loss = L::mean(L::cross_entropy(predict, label));
  model.auc = L::auc(predict, label, {.num_thresholds = 4095, .slide_steps = kTestBatches});
  model.test = model.main->clone(true);
  optimise(model.loss);
  model.inputs = argosy::inputs(dense, slots, label);
  return model;
}

}  // namespace argosy::bench
