// A fused program must train exactly as the program that was written.
#include "argosy/engine/program/passes.h"

#include <gmock/gmock.h>

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/prepared.h"
#include "argosy/graph/layer_helper.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/minimize.h"

namespace argosy::engine {
namespace {

struct Slots {
  std::string pooling = "sum";
  std::vector<std::string> tables = {"t", "t", "t"};  // of each slot
  std::optional<int64_t> padding_idx;
  bool is_sparse = true;
  bool dense_first = true;
};

struct Outcome {
  std::vector<at::Tensor> losses;
  std::map<std::string, at::Tensor> parameters, gradients;
  std::set<std::string> operators;
};

class Passes : public LayerTest {
 protected:
  static constexpr int64_t kRows = 30, kWidth = 4, kSamples = 7;

  // Ragged ids, some samples without any.
  Feed make_feed(size_t slots) {
    Feed feed = {{"dense", {.tensor = at::randn({kSamples, 3})}},
                 {"label", {.tensor = at::randint(0, 2, {kSamples, 1}, at::kLong)}}};
    for (size_t i = 0; i < slots; ++i) {
      std::vector<int64_t> offsets = {0};
      for (int64_t k = 0; k < kSamples; ++k)
        offsets.push_back(offsets.back() + at::randint(0, 4, {1}, at::kLong).item<int64_t>());
      feed["ids" + std::to_string(i)] = {.tensor = at::randint(0, kRows, {offsets.back(), 1}, at::kLong), .lod = lod({offsets})};
    }
    return feed;
  }

  Variable build(const Slots& slots) {
    std::vector<Variable> parts;
    const Variable dense = data("dense", {-1, 3}, DType::float32), label = data("label", {-1, 1}, DType::int64);
    dense.desc().stop_gradient = true;
    if (slots.dense_first) parts.push_back(dense);
    for (size_t i = 0; i < slots.tables.size(); ++i) {
      const Variable ids = data("ids" + std::to_string(i), {-1, 1}, DType::int64, 1);
      const Variable rows = layers::embedding(
          ids, {kRows, kWidth}, {.is_sparse = slots.is_sparse, .padding_idx = slots.padding_idx, .param = slots.tables[i]});
      parts.push_back(layers::sequence_pool(rows, slots.pooling));
    }
    if (!slots.dense_first) parts.push_back(dense);
    const Variable hidden = layers::fc(layers::fc(layers::concat(parts, 1), 8, {.act = "relu"}), 8, {.act = "tanh"});
    return layers::mean(layers::cross_entropy(layers::fc(hidden, 2, {.act = "softmax"}), label));
  }

  Outcome train(const std::function<Variable()>& model, const std::vector<Feed>& batches, bool fuse) {
    auto main = graph::Program::create(), startup = graph::Program::create();
    const graph::ProgramGuard guard(main, startup);
    const graph::UniqueNameGuard names;
    const Variable loss = model();
    const auto result = graph::minimize(optim::SGD{.learning_rate = 0.5f}, loss);
    startup->random_seed = 11;
    Runner runner({.fuse = fuse, .device = test_device()});
    Scope scope;
    value_or_throw(runner.run(*startup, {}, {}, scope));
    std::vector<std::string> fetches = {loss.name()};
    for (const auto& pair : result.params_grads) fetches.push_back(pair.grad.name());
    Outcome outcome;
    for (const Feed& batch : batches) {
      const auto got = value_or_throw(runner.run(*main, batch, fetches, scope));
      outcome.losses.push_back(got[0].tensor);
      for (size_t i = 1; i < got.size(); ++i)
        outcome.gradients[fetches[i]] = got[i].rows != nullptr ? got[i].rows->to_dense() : got[i].tensor;
    }
    for (const auto* variable : main->persistables())
      outcome.parameters[variable->name] = scope.find(variable->name)->tensor.clone();
    const auto frame = value_or_throw(runner.make_frame(*main, {}, fetches, scope));
    for (const Instruction& instruction : frame->program().instructions()) outcome.operators.insert(instruction.desc.type);
    return outcome;
  }

  void expect_same(const Slots& slots, bool fuses_embedding) {
    std::vector<Feed> batches;
    for (int i = 0; i < 3; ++i) batches.push_back(make_feed(slots.tables.size()));
    const Outcome fused = expect_same([&] { return build(slots); }, batches);
    EXPECT_EQ(fused.operators.contains("fused_embedding_concat"), fuses_embedding);
  }

  // Trains with and without the passes, and returns what came of it with them.
  Outcome expect_same(const std::function<Variable()>& model, const std::vector<Feed>& batches) {
    const Outcome plain = train(model, batches, false), fused = train(model, batches, true);
    EXPECT_FALSE(plain.operators.contains("fused_embedding_concat"));
    EXPECT_FALSE(plain.operators.contains("fused_fc"));
    EXPECT_TRUE(fused.operators.contains("fused_fc"));
    for (size_t i = 0; i < batches.size(); ++i)
      EXPECT_TRUE(at::allclose(plain.losses[i], fused.losses[i], 1e-5, 1e-6)) << "loss of step " << i;
    for (const auto& [name, value] : plain.gradients)
      EXPECT_TRUE(at::allclose(value, fused.gradients.at(name), 1e-4, 1e-6)) << name;
    for (const auto& [name, value] : plain.parameters)
      EXPECT_TRUE(at::allclose(value, fused.parameters.at(name), 1e-4, 1e-5)) << name;
    return fused;
  }

  // x @ w + b as nn.Linear builds it, by `product`, whose result is `rank`-dimensional.
  static Variable linear(const Variable& x, int64_t size, const std::string& product, graph::AttributeMap attributes = {}) {
    graph::LayerHelper helper("linear", "");
    const bool turned = attributes.contains("trans_y");
    const int64_t rows = x.shape().back();
    const Variable w = helper.create_parameter({}, turned ? std::vector{size, rows} : std::vector{rows, size}, DType::float32);
    const Variable b = helper.create_parameter({}, {size}, DType::float32, /*is_bias=*/true);
    const Variable made = helper.create_tmp();
    helper.append_op({.type = product,
                      .inputs = {{"X", {x.name()}}, {"Y", {w.name()}}},
                      .outputs = {{"Out", {made.name()}}},
                      .attributes = std::move(attributes)});
    return layers::elementwise_add(made, b);
  }
};

TEST_F(Passes, SumsOverOneTable) { expect_same({}, true); }
TEST_F(Passes, AveragesOverOneTable) { expect_same({.pooling = "average"}, true); }
TEST_F(Passes, DenseInputsMayComeLast) { expect_same({.dense_first = false}, true); }
TEST_F(Passes, SeveralTablesStayUnfused) { expect_same({.tables = {"a", "b", "a"}}, false); }
TEST_F(Passes, TheIdMinus1IsOutsideTheTableInAFusedLookupToo) {
  Feed feed = make_feed(3);
  feed["ids1"] = {.tensor = at::tensor({3, 2, 4, 1, -1, 5, 6}, at::kLong).unsqueeze(1), .lod = lod({{0, 1, 2, 3, 4, 5, 6, 7}})};
  for (const bool fuse : {false, true}) {
    EXPECT_THAT([&] { train([&] { return build({}); }, {feed}, fuse); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("variable 'ids1': id -1 at position 4 is outside the table")));
  }
}
TEST_F(Passes, PaddingStaysUnfused) { expect_same({.padding_idx = 3}, false); }
TEST_F(Passes, DenseGradientsStayUnfused) { expect_same({.is_sparse = false}, false); }
TEST_F(Passes, OtherPoolingsStayUnfused) { expect_same({.pooling = "max"}, false); }

// What nn.Linear builds is fused as fc layers are, of rows and of sequences of them; a turned matrix is not.
TEST_F(Passes, LinearLayersAreFusedToo) {
  const auto model = [] {
    const Variable x = data("x", {-1, 3, 4}, DType::float32), label = data("label", {-1, 1}, DType::int64);
    const Variable places = layers::relu(linear(x, 5, "matmul"));
    const Variable rows = layers::relu(linear(layers::reduce_sum(places, {.dim = {1}}), 6, "matmul_v2"));
    const Variable turned = linear(rows, 2, "matmul_v2", {{"trans_y", true}});
    return layers::mean(layers::cross_entropy(layers::softmax(turned), label));
  };
  std::vector<Feed> batches;
  for (int i = 0; i < 3; ++i)
    batches.push_back(
        {{"x", {.tensor = at::randn({kSamples, 3, 4})}}, {"label", {.tensor = at::randint(0, 2, {kSamples, 1}, at::kLong)}}});
  const Outcome fused = expect_same(model, batches);
  EXPECT_FALSE(fused.operators.contains("matmul"));
  EXPECT_FALSE(fused.operators.contains("relu"));
  EXPECT_TRUE(fused.operators.contains("matmul_v2"));
}

// A value that is fetched is not fused away.
TEST_F(Passes, WhatIsFetchedIsComputed) {
  const Variable loss = build({});
  start();
  const Feed feed = make_feed(3);
  const auto pooled =
      run(feed, {loss, Variable(main_, main_->global_block(), *main_->global_block().find_var("sequence_pool_1.tmp_0"))});
  EXPECT_EQ(pooled[1].tensor.sizes(), (at::IntArrayRef{kSamples, kWidth}));
}

}  // namespace
}  // namespace argosy::engine
