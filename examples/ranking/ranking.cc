#include "ranking.h"

#include <ATen/ATen.h>

#include <cstdio>
#include <cstdlib>
#include <map>

using namespace argosy;

namespace ranking {

Variable embed(const Variable& slot, int64_t width, const std::string& table) {
  const std::string name = slot.name() == "history" ? "item" : slot.name();
  const int64_t rows = name == "user" ? 40 : name == "item" ? 60 : 6;
  return L::embedding(slot, {rows, width}, {.is_sparse = true, .param = table + "_" + name});
}

Variable perceptron(Variable x, const std::vector<int64_t>& sizes) {
  for (const int64_t size : sizes) x = L::fc(x, size, {.act = "relu"});
  return x;
}

Variable alone(const Clicks& clicks) {
  std::vector<Variable> parts;
  for (const Variable& slot : {clicks.user, clicks.item, clicks.category}) parts.push_back(embed(slot, 1, "weight"));
  parts.push_back(L::fc(clicks.numbers, 1));
  return L::sums(parts);
}

std::vector<Variable> fields(const Clicks& clicks) {
  std::vector<Variable> found;
  for (const Variable& slot : {clicks.user, clicks.item, clicks.category}) found.push_back(embed(slot));
  found.push_back(L::sequence_pool(embed(clicks.history), "average"));
  return found;
}

static Clicks make_inputs() {
  const auto slot = [](const char* name, int32_t level = 0) { return L::data(name, {1}, kInt64, {.lod_level = level}); };
  return {slot("user"),  slot("item"), slot("category"), slot("history", 1), L::data("numbers", {4}),
          slot("click"), slot("order")};
}

static void train(Odds (*model)(const Clicks&), const std::string& folder) {
  default_startup_program()->random_seed = 1;
  const Clicks clicks = make_inputs();
  const Odds odds = model(clicks);
  std::vector<Variable> losses;
  for (size_t i = 0; i < odds.size(); ++i) {
    const Variable label = L::cast(i == 0 ? clicks.click : clicks.order, kFloat32);
    losses.push_back(L::mean(L::sigmoid_cross_entropy_with_logits(odds[i], label)));
  }
  const Variable probability = L::sigmoid(odds[0]), opposite = 1 - probability;
  const auto auc = L::auc(L::concat({opposite, probability}, 1), clicks.click);
  const optim::Adam rule{.learning_rate = 0.01, .lazy_mode = true, .corrected_epsilon = true};

  const bool on_servers = std::getenv("TRAINING_ROLE") != nullptr;  // a launcher says so
  if (on_servers) {
    fleet::init();
    fleet::distributed_optimizer(rule, {.mode = Mode::async}).minimize(L::sums(losses));
    if (fleet::is_server()) return static_cast<void>(fleet::run_server());
    fleet::init_worker();
  } else {
    minimize(rule, L::sums(losses));
  }
  Executor exe;
  exe.run(default_startup_program());
  const auto dataset = [&](const std::string& pattern) {
    const auto files = glob(folder + pattern);
    return make_dataset(
        {.use = inputs(clicks.user, clicks.item, clicks.category, clicks.history, clicks.numbers, clicks.click, clicks.order),
         .files = on_servers ? fleet::util().get_file_shard(files) : files,
         .batch_size = 100});
  };
  for (int pass = 0; pass < 4; ++pass) exe.train_from_dataset(default_main_program(), *dataset("/train-*"));
  if (on_servers) fleet::barrier_worker();  // everybody's gradients are in the model
  for (const Variable& state : auc.states) global_scope().find(state.name())->tensor.zero_();  // forgets the training's counts
  const auto report = exe.infer_from_dataset(default_main_program(), *dataset("/test-*"), {.fetch = {{"auc", auc.value}}});
  const double found = on_servers ? fleet::global_auc(fleet::fleet(), global_scope(), auc.states[2].name(), auc.states[3].name())
                                  : report.last_fetches[0].tensor.item<double>();
  std::printf("test auc %.4f\n", found);
  if (on_servers) fleet::stop_worker();
}

}  // namespace ranking

int main(int argc, char** argv) try {
  using namespace ranking;
  const std::map<std::string, Odds (*)(const Clicks&)> models = {{"logistic_regression", logistic_regression},
                                                                 {"wide_deep", wide_deep},
                                                                 {"deepfm", deepfm},
                                                                 {"dcn_v2", dcn_v2},
                                                                 {"xdeepfm", xdeepfm},
                                                                 {"din", din},
                                                                 {"mmoe", mmoe},
                                                                 {"dssm", dssm},
                                                                 {"gru4rec", gru4rec}};
  if (argc < 3 || !models.contains(argv[1])) {
    std::fprintf(stderr, "usage: %s MODEL FOLDER\nmodels:", argv[0]);
    for (const auto& [name, model] : models) std::fprintf(stderr, " %s", name.c_str());
    return std::fprintf(stderr, "\n"), 2;
  }
  train(models.at(argv[1]), argv[2]);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
