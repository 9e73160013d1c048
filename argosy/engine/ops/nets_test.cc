#include "argosy/graph/layers/nets.h"

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/sequence.h"

namespace argosy::engine {
namespace {

using Nets = LayerTest;

TEST_F(Nets, AnImageBlockIsAConvolutionAndAPooling) {
  const Variable x = data("x", {-1, 3, 8, 8});
  const Variable block = nets::simple_img_conv_pool(x, 4, 3, 2, 2, {.param = "w", .bias = "b", .act = "relu"});
  EXPECT_EQ(block.name(), "pool2d_0.tmp_0");
  EXPECT_EQ(block.shape(), (std::vector<int64_t>{-1, 4, 3, 3}));
  const Variable conv = layers::conv2d(x, 4, 3, {.param = "w", .bias = "b", .act = "relu"});
  const Variable apart = layers::pool2d(conv, {.pool_size = 2, .pool_stride = 2});
  start();
  const auto got = run({{"x", {.tensor = at::randn({2, 3, 8, 8}, at::kDouble)}}}, {block, apart});
  EXPECT_TRUE(at::equal(got[0].tensor, got[1].tensor));
}

TEST_F(Nets, ASequenceBlockIsAConvolutionAndAPooling) {
  const Variable s = data("s", {-1, 4}, DType::float64, 1);
  const Variable block = nets::sequence_conv_pool(s, 3, 2, {.param = "w", .bias = "b"});
  EXPECT_EQ(block.name(), "sequence_pool_0.tmp_0");
  const Variable apart =
      layers::sequence_pool(layers::sequence_conv(s, 3, {.filter_size = 2, .bias = "b", .param = "w", .act = "sigmoid"}), "max");
  start();
  const auto got = run({{"s", {.tensor = at::randn({5, 4}, at::kDouble), .lod = lod({{0, 2, 5}})}}}, {block, apart});
  EXPECT_TRUE(at::equal(got[0].tensor, got[1].tensor));
}

}  // namespace
}  // namespace argosy::engine
