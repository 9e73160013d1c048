#include <cmath>

#include "argosy/engine/ops/class_sampler.h"
#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/loss.h"
#include "argosy/graph/minimize.h"

namespace argosy::engine {
namespace {

using SampledLoss = CpuLayerTest;

// Draws come as often as `probability` says.
void check_frequencies(const ClassSampler& sampler, int64_t reachable, uint64_t seed) {
  Random random(seed);
  constexpr int kDraws = 40000;
  std::vector<int> counts(static_cast<size_t>(reachable));
  for (int i = 0; i < kDraws; ++i) ++counts.at(static_cast<size_t>(sampler.draw(random)));
  for (int64_t c = 0; c < reachable; ++c) {
    const double expected = sampler.probability(c) * kDraws;
    EXPECT_NEAR(counts[static_cast<size_t>(c)], expected, 6 * std::sqrt(expected + 1)) << "class " << c;
  }
}

TEST_F(SampledLoss, SamplersDrawAsOftenAsTheySay) {
  check_frequencies(ClassSampler::uniform(7), 7, seed_);
  check_frequencies(ClassSampler::log_uniform(20), 20, seed_);
  const std::vector<float> probs = {0.5f, 0.25f, 0.125f, 0.125f}, own = {1.0f, 1.0f, 0.5f, 0.5f};
  const std::vector<int32_t> alias = {-1, -1, 0, 0};
  check_frequencies(ClassSampler::table(probs, alias, own), 4, seed_);
}

// One class takes part in every draw, so that nothing is left to chance.
at::Tensor expected_cost(const at::Tensor& logit_true, const at::Tensor& logit_drawn, double probability_true,
                         double probability_drawn, int drawn) {
  const at::Tensor o = at::sigmoid(logit_true), n = at::sigmoid(logit_drawn);
  const double b = probability_true * drawn, d = probability_drawn * drawn;
  return (-at::log(o / (o + b)) - at::log(d / (n + d)) * drawn) / (drawn + 1);
}

TEST_F(SampledLoss, NceFollowsItsFormula) {
  const Variable x = data("x", {-1, 3}), label = data("label", {-1, 1}, DType::int64), weight = data("weight", {-1, 1});
  weight.desc().stop_gradient = true;
  std::vector<float> all_two(5, 0.0f);
  all_two[2] = 1.0f;
  const Variable cost = layers::nce(x, label, 5,
                                    {.sample_weight = weight,
                                     .param = "w",
                                     .bias = "b",
                                     .num_neg_samples = 4,
                                     .sampler = "custom_dist",
                                     .custom_dist = all_two});
  EXPECT_EQ(cost.name(), "tmp_0");
  start();
  stored("b").uniform_();
  const Feed feed = {{"x", {.tensor = at::randn({4, 3}, at::kDouble)}},
                     {"label", {.tensor = at::tensor({2, 2, 2, 2}, at::kLong).unsqueeze(1)}},
                     {"weight", {.tensor = at::rand({4, 1}, at::kDouble)}}};
  const at::Tensor logit = at::mm(feed.at("x").tensor, stored("w")[2].unsqueeze(1)) + stored("b")[2];
  EXPECT_TRUE(at::allclose(run(feed, cost), expected_cost(logit, logit, 1, 1, 4) * feed.at("weight").tensor, 1e-6, 1e-7));
  const auto& block = main_->global_block();
  check_gradients(cost, feed,
                  {x, Variable(main_, main_->global_block(), *block.find_var("w")),
                   Variable(main_, main_->global_block(), *block.find_var("b"))});
}

TEST_F(SampledLoss, NceTakesATrueClassThatIsNeverDrawn) {
  const Variable x = data("x", {-1, 3}), label = data("label", {-1, 1}, DType::int64);
  const Variable cost =
      layers::nce(x, label, 3, {.num_neg_samples = 2, .sampler = "custom_dist", .custom_dist = {0.0f, 1.0f, 0.0f}});
  start();
  const at::Tensor value =
      run({{"x", {.tensor = at::randn({2, 3}, at::kDouble)}}, {"label", {.tensor = at::zeros({2, 1}, at::kLong)}}}, cost);
  EXPECT_TRUE(at::isfinite(value).all().item<bool>());
}

// is_sparse moves the same rows to the same values; it only leaves the others alone.
TEST_F(SampledLoss, NceWithSparseGradientsTrainsTheSame) {
  const Variable x = data("x", {-1, 3}, DType::float32), label = data("label", {-1, 1}, DType::int64);
  std::vector<at::Tensor> trained;
  for (const bool sparse : {false, true}) {
    auto main = graph::Program::create(), startup = graph::Program::create();
    const graph::ProgramGuard guard(main, startup);
    const graph::UniqueNameGuard names;
    const Variable xs = data("x", {-1, 3}, DType::float32), labels = data("label", {-1, 1}, DType::int64);
    const Variable loss = layers::mean(
        layers::nce(xs, labels, 50,
                    {.param = "w", .bias = "b", .num_neg_samples = 5, .sampler = "log_uniform", .seed = 3, .is_sparse = sparse}));
    graph::minimize(optim::SGD{.learning_rate = 0.5f}, loss);
    EXPECT_EQ(main->global_block().find_var("w@GRAD")->kind, sparse ? graph::VarKind::selected_rows : graph::VarKind::lod_tensor);
    Scope scope;
    startup->random_seed = 5;
    value_or_throw(runner_.run(*startup, {}, {}, scope));
    const Feed feed = {{"x", {.tensor = at::arange(6, at::kFloat).reshape({2, 3}) / 3}},
                       {"label", {.tensor = at::tensor({7, 9}, at::kLong).unsqueeze(1)}}};
    for (int i = 0; i < 3; ++i) value_or_throw(runner_.run(*main, feed, {loss.name()}, scope));
    trained.push_back(at::cat({scope.find("w")->tensor.clone(), scope.find("b")->tensor.clone()}, 1));
  }
  EXPECT_TRUE(at::allclose(trained[0], trained[1], 1e-5, 1e-6));
}

TEST_F(SampledLoss, NceRefusesWhatItCannotDraw) {
  const Variable x = data("x", {-1, 3}), label = data("label", {-1, 1}, DType::int64);
  EXPECT_THROW(layers::nce(x, label, 5, {.sampler = "zipf"}), Error);
  EXPECT_THROW(layers::nce(x, label, 5, {.sampler = "custom_dist", .custom_dist = {1.0f}}), Error);
  const Variable cost = layers::nce(x, label, 5);
  start();
  const std::string message =
      error_of({{"x", {.tensor = at::zeros({1, 3}, at::kDouble)}}, {"label", {.tensor = at::full({1, 1}, 5, at::kLong)}}}, cost);
  EXPECT_NE(message.find("class 5 at position 0 is outside the 5 classes"), std::string::npos) << message;
}

TEST_F(SampledLoss, SampledSoftmaxOverGivenCandidates) {
  const Variable x = data("x", {-1, 6}), label = data("label", {-1, 1}, DType::int64);
  const Variable samples = data("samples", {-1, 4}, DType::int64), p = data("p", {-1, 4});
  p.desc().stop_gradient = true;
  const Variable loss =
      layers::sampled_softmax_with_cross_entropy(x, label, 3, {.customized_samples = samples, .customized_probabilities = p});
  const at::Tensor candidates = at::tensor({1, 0, 3, 5, 4, 0, 4, 2}, at::kLong).reshape({2, 4});  // row 1 has drawn its label
  const Feed feed = {{"x", {.tensor = at::randn({2, 6}, at::kDouble)}},
                     {"label", {.tensor = at::tensor({1, 4}, at::kLong).unsqueeze(1)}},
                     {"samples", {.tensor = candidates}},
                     {"p", {.tensor = at::rand({2, 4}, at::kDouble) + 0.1}}};
  at::Tensor logits = feed.at("x").tensor.gather(1, candidates) - at::log(feed.at("p").tensor);
  logits[1][2] = -std::numeric_limits<double>::infinity();
  EXPECT_TRUE(at::allclose(run(feed, loss), -at::log_softmax(logits, 1).narrow(1, 0, 1), 1e-6, 1e-7));
  check_gradients(loss, feed, {x});
}

// With as many draws as classes every class is drawn once: the loss is the full softmax with logits shifted by their chances.
TEST_F(SampledLoss, SampledSoftmaxDrawsDifferentClasses) {
  const Variable x = data("x", {-1, 6}, DType::float32), label = data("label", {-1, 1}, DType::int64);
  const Variable loss = layers::sampled_softmax_with_cross_entropy(x, label, 6);
  const graph::OpDesc& op = *main_->global_block().ops()[0];
  const auto got = value_or_throw(runner_.run(
      *main_, {{"x", {.tensor = at::zeros({2, 6})}}, {"label", {.tensor = at::tensor({0, 5}, at::kLong).unsqueeze(1)}}},
      {op.outputs.find("Samples")->front(), loss.name()}, scope_));
  const at::Tensor drawn = got[0].tensor.narrow(1, 1, 6);
  EXPECT_TRUE(at::equal(std::get<0>(drawn[0].sort()), at::arange(6)));
  EXPECT_TRUE(at::equal(drawn[0], drawn[1]));
  EXPECT_TRUE(at::isfinite(got[1].tensor).all().item<bool>());
  const Variable too_many = layers::sampled_softmax_with_cross_entropy(x, label, 7);
  EXPECT_NE(error_of({{"x", {.tensor = at::zeros({1, 6})}}, {"label", {.tensor = at::zeros({1, 1}, at::kLong)}}}, too_many)
                .find("there are 6 classes"),
            std::string::npos);
}

}  // namespace
}  // namespace argosy::engine
