#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/nn.h"

namespace argosy::engine {
namespace {

using Feature = LayerTest;
using CpuFeature = CpuLayerTest;

// The gradient of the two counts is not a gradient: it carries the sample's counts.
TEST_F(Feature, CvmTurnsCountsIntoLogsAndHandsThemBack) {
  const Variable x = data("x", {-1, 4}, DType::float64, 1), counts = data("counts", {-1, 2});
  counts.desc().stop_gradient = true;
  const Variable kept = layers::continuous_value_model(x, counts), dropped = layers::continuous_value_model(x, counts, false);
  EXPECT_EQ(kept.name(), "_generated_var_0");
  EXPECT_EQ(dropped.shape(), (std::vector<int64_t>{-1, 2}));
  const auto kept_grad = graph::gradients({kept}, {x})[0];
  const at::Tensor value = at::rand({3, 4}, at::kDouble) * 5,
                   shows = at::tensor({10.0, 2.0, 7.0, 1.0}, at::kDouble).reshape({2, 2});
  const auto got =
      run({{"x", {.tensor = value, .lod = lod({{0, 2, 3}})}}, {"counts", {.tensor = shows}}}, {kept, dropped, kept_grad});
  const at::Tensor logs = at::log(value.slice(1, 0, 2) + 1);
  EXPECT_TRUE(at::allclose(got[0].tensor.select(1, 0), logs.select(1, 0)));
  EXPECT_TRUE(at::allclose(got[0].tensor.select(1, 1), logs.select(1, 1) - logs.select(1, 0)));
  EXPECT_TRUE(at::equal(got[0].tensor.slice(1, 2, 4), value.slice(1, 2, 4)));
  EXPECT_TRUE(at::equal(got[1].tensor, value.slice(1, 2, 4)));
  EXPECT_TRUE(at::equal(got[2].tensor.slice(1, 0, 2), at::stack({shows[0], shows[0], shows[1]})));
  EXPECT_TRUE(at::equal(got[2].tensor.slice(1, 2, 4), at::ones({3, 2}, at::kDouble)));
}

// Values of PaddlePaddle 1.8.5.
TEST_F(CpuFeature, HashesAreThoseOfPaddle) {
  const Variable wide = data("wide", {-1, 2}, DType::int64), narrow = data("narrow", {-1, 1}, DType::int32);
  const Variable four = layers::hash(wide, 10000, 4), one = layers::hash(narrow, 1000);
  EXPECT_EQ(four.shape(), (std::vector<int64_t>{-1, 4, 1}));
  const auto got = run({{"wide", {.tensor = at::tensor({1, 2, 3, 4}, at::kLong).reshape({2, 2})}},
                        {"narrow", {.tensor = at::tensor({5, 6}, at::kInt).unsqueeze(1)}}},
                       {four, one});
  EXPECT_TRUE(at::equal(got[0].tensor.flatten(), at::tensor({6524, 3896, 1680, 4869, 3640, 7562, 750, 3044}, at::kLong)));
  EXPECT_TRUE(at::equal(got[1].tensor.flatten(), at::tensor({481, 310}, at::kInt)));
}

}  // namespace
}  // namespace argosy::engine
