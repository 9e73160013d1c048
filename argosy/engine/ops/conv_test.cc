// Convolutions and poolings against loops over every pixel.
#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/nn.h"

namespace argosy::engine {
namespace {

using layers::Padding;

struct Shape {
  int64_t size[2], stride[2], dilation[2], edges[4];
};

at::Tensor naive_conv(const at::Tensor& x, const at::Tensor& w, const Shape& s, int64_t groups) {
  const at::Tensor image = at::constant_pad_nd(x, {s.edges[2], s.edges[3], s.edges[0], s.edges[1]}, 0);
  const auto count = [&](int i) { return (image.size(2 + i) - s.dilation[i] * (s.size[i] - 1) - 1) / s.stride[i] + 1; };
  const int64_t in = w.size(1), out_per_group = w.size(0) / groups;
  at::Tensor out = at::zeros({x.size(0), w.size(0), count(0), count(1)}, x.options());
  for (int64_t f = 0; f < w.size(0); ++f) {
    for (int64_t r = 0; r < count(0); ++r) {
      for (int64_t c = 0; c < count(1); ++c) {
        for (int64_t i = 0; i < s.size[0]; ++i) {
          for (int64_t j = 0; j < s.size[1]; ++j) {
            const at::Tensor pixels = image.narrow(1, f / out_per_group * in, in)
                                          .select(3, c * s.stride[1] + j * s.dilation[1])
                                          .select(2, r * s.stride[0] + i * s.dilation[0]);
            out.select(3, c).select(2, r).select(1, f) += (pixels * w[f].select(2, j).select(1, i)).sum(1);
          }
        }
      }
    }
  }
  return out;
}

using Conv = LayerTest;

TEST_F(Conv, MatchesTheDefinition) {
  const Variable x = data("x", {-1, 4, 6, 6});
  struct Case {
    layers::Extent size;
    layers::Conv2dOptions options;
    Shape shape;
  };
  const std::vector<Case> cases = {
      {3, {.bias = graph::ParamAttr::none()}, {{3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}}},
      {{3, 2},
       {.stride = {2, 1}, .padding = 1, .groups = 2, .bias = graph::ParamAttr::none()},
       {{3, 2}, {2, 1}, {1, 1}, {1, 1, 1, 1}}},
      {3, {.padding = {1, 2, 0, 1}, .bias = graph::ParamAttr::none()}, {{3, 3}, {1, 1}, {1, 1}, {1, 2, 0, 1}}},
      {2,
       {.stride = 2, .padding = "same", .dilation = 2, .bias = graph::ParamAttr::none()},
       {{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}}},
      {2, {.padding = "VALID", .dilation = 2, .bias = graph::ParamAttr::none()}, {{2, 2}, {1, 1}, {2, 2}, {0, 0, 0, 0}}},
      {3, {.groups = 4, .bias = graph::ParamAttr::none(), .use_cudnn = false}, {{3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}}},
  };
  const at::Tensor value = at::randn({2, 4, 6, 6}, at::kDouble);
  std::vector<Variable> outs;
  for (const Case& each : cases) outs.push_back(layers::conv2d(x, 4, each.size, each.options));
  start();
  const auto got = run({{"x", {.tensor = value}}}, outs);
  for (size_t i = 0; i < cases.size(); ++i) {
    const at::Tensor filter = stored(main_->parameters()[i]->name);
    const at::Tensor expected = naive_conv(value, filter, cases[i].shape, cases[i].options.groups);
    EXPECT_TRUE(at::allclose(got[i].tensor, expected)) << "case " << i;
    const auto static_shape = outs[i].shape();
    EXPECT_EQ(std::vector<int64_t>(static_shape.begin() + 1, static_shape.end()), expected.sizes().slice(1).vec())
        << "case " << i;
  }
  EXPECT_EQ(outs.back().name(), "depthwise_conv2d_0.tmp_0");
}

TEST_F(Conv, GradientsAndBias) {
  const Variable x = data("x", {-1, 2, 4, 4});
  const Variable out = layers::conv2d(x, 2, 3, {.padding = {1, 0, 0, 1}});
  EXPECT_EQ(out.name(), "conv2d_0.tmp_1");
  start();
  stored("conv2d_0.b_0").uniform_();
  const auto& block = main_->global_block();
  const auto parameter = [&](const char* name) { return Variable(main_, main_->global_block(), *block.find_var(name)); };
  check_gradients(out, {{"x", {.tensor = at::randn({1, 2, 4, 4}, at::kDouble)}}},
                  {x, parameter("conv2d_0.w_0"), parameter("conv2d_0.b_0")});
}

TEST_F(Conv, ChannelsLastIsTheSameConvolution) {
  const Variable x = data("x", {-1, 5, 5, 3}), y = data("y", {-1, 3, 5, 5});
  const Variable last = layers::conv2d(x, 4, 3, {.param = "w", .bias = "b", .data_format = "NHWC"});
  const Variable first = layers::conv2d(y, 4, 3, {.param = "w", .bias = "b"});
  EXPECT_EQ(last.shape(), (std::vector<int64_t>{-1, 3, 3, 4}));
  start();
  const at::Tensor value = at::randn({2, 5, 5, 3}, at::kDouble);
  const auto got = run({{"x", {.tensor = value}}, {"y", {.tensor = value.permute({0, 3, 1, 2})}}}, {last, first});
  EXPECT_TRUE(at::allclose(got[0].tensor.permute({0, 3, 1, 2}), got[1].tensor));
}

// <conv(y), x> = <y, transpose(x)> for equal filters: that is what "transpose" means.
TEST_F(Conv, TheTransposeIsTheAdjoint) {
  for (const Padding& padding : {Padding(0), Padding(1), Padding({0, 1, 1, 0}), Padding("SAME")}) {
    const Variable small = data("small", {-1, 3, 4, 4});
    const Variable out =
        layers::conv2d_transpose(small, 2, {.filter_size = 3, .padding = padding, .stride = 2, .bias = graph::ParamAttr::none()});
    const Variable large = data("large", {-1, 2, out.shape()[2], out.shape()[3]});
    const Variable back = layers::conv2d(
        large, 3, 3,
        {.stride = 2, .padding = padding, .param = main_->parameters().back()->name, .bias = graph::ParamAttr::none()});
    start();
    const at::Tensor x = at::randn({1, 3, 4, 4}, at::kDouble), y = at::randn({1, 2, out.shape()[2], out.shape()[3]}, at::kDouble);
    const auto got = run({{"small", {.tensor = x}}, {"large", {.tensor = y}}}, {out, back});
    EXPECT_NEAR((got[0].tensor * y).sum().item<double>(), (got[1].tensor * x).sum().item<double>(), 1e-9) << padding.algorithm;
  }
}

TEST_F(Conv, TheTransposeReachesTheOutputSize) {
  const Variable x = data("x", {-1, 3, 8, 8});
  EXPECT_EQ(layers::conv2d_transpose(x, 4, {.output_size = 17, .stride = 2}).shape(), (std::vector<int64_t>{-1, 4, 17, 17}));
  EXPECT_EQ(main_->parameters()[0]->shape, (std::vector<int64_t>{3, 4, 3, 3}));
  const Variable out = layers::conv2d_transpose(x, 4, {.output_size = 18, .filter_size = 3, .stride = 2});
  start();
  EXPECT_EQ(run({{"x", {.tensor = at::zeros({1, 3, 8, 8}, at::kDouble)}}}, out).sizes(), (at::IntArrayRef{1, 4, 18, 18}));
  EXPECT_THROW(layers::conv2d_transpose(x, 4, {.output_size = 30, .filter_size = 3, .stride = 2}), Error);
  EXPECT_THROW(layers::conv2d_transpose(x, 4, {}), Error);
}

TEST_F(Conv, RefusesWhatDoesNotFit) {
  EXPECT_THROW(layers::conv2d(data("a", {-1, 4}), 4, 3), Error);
  EXPECT_THROW(layers::conv2d(data("b", {-1, 4, 8, 8}), 4, 3, {.groups = 3}), Error);
  EXPECT_THROW(Padding({1, 2, 3}), Error);
  EXPECT_THROW(Padding("HALF"), Error);
}

using Pool = LayerTest;

// Every window looked at pixel by pixel; pixels outside the image do not count unless `all` says so.
at::Tensor naive_pool(const at::Tensor& x, const Shape& s, const std::vector<int64_t>& out_size, bool maximum, bool all) {
  at::Tensor out = at::zeros({x.size(0), x.size(1), out_size[0], out_size[1]}, x.options());
  for (int64_t r = 0; r < out_size[0]; ++r) {
    for (int64_t c = 0; c < out_size[1]; ++c) {
      const int64_t top = r * s.stride[0] - s.edges[0], left = c * s.stride[1] - s.edges[2];
      const int64_t i = std::max<int64_t>(top, 0), j = std::max<int64_t>(left, 0);
      const at::Tensor seen =
          x.slice(2, i, std::min(top + s.size[0], x.size(2))).slice(3, j, std::min(left + s.size[1], x.size(3)));
      const double count = all ? static_cast<double>(s.size[0] * s.size[1]) : static_cast<double>(seen.size(2) * seen.size(3));
      out.select(3, c).select(2, r).copy_(maximum ? seen.amax({2, 3}) : seen.sum({2, 3}) / count);
    }
  }
  return out;
}

TEST_F(Pool, MatchesTheDefinition) {
  const Variable x = data("x", {-1, 2, 7, 7});
  struct Case {
    layers::Pool2dOptions options;
    Shape shape;
  };
  const std::vector<Case> cases = {
      {{.pool_size = 2, .pool_stride = 2}, {{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}}},
      {{.pool_size = 3, .pool_type = "avg", .pool_stride = 2, .pool_padding = 1}, {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}},
      {{.pool_size = 3, .pool_type = "avg", .pool_stride = 2, .pool_padding = 1, .exclusive = false},
       {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}},
      {{.pool_size = 2, .pool_stride = 2, .ceil_mode = true}, {{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}}},
      {{.pool_size = 2, .pool_type = "avg", .pool_stride = 2, .ceil_mode = true}, {{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}}},
      {{.pool_size = 3, .pool_type = "avg", .pool_padding = {1, 2, 0, 1}}, {{3, 3}, {1, 1}, {1, 1}, {1, 2, 0, 1}}},
      {{.pool_size = {3, 2}, .pool_padding = "SAME"}, {{3, 2}, {1, 1}, {1, 1}, {1, 1, 0, 1}}},
      {{.pool_type = "avg", .global_pooling = true}, {{7, 7}, {1, 1}, {1, 1}, {0, 0, 0, 0}}},
  };
  std::vector<Variable> outs;
  for (const Case& each : cases) outs.push_back(layers::pool2d(x, each.options));
  const at::Tensor value = at::randn({2, 2, 7, 7}, at::kDouble);
  const auto got = run({{"x", {.tensor = value}}}, outs);
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::vector<int64_t> size(outs[i].shape().begin() + 2, outs[i].shape().end());
    ASSERT_EQ(got[i].tensor.sizes().slice(2).vec(), size) << "case " << i;
    const at::Tensor expected =
        naive_pool(value, cases[i].shape, size, cases[i].options.pool_type == "max", !cases[i].options.exclusive);
    EXPECT_TRUE(at::allclose(got[i].tensor, expected)) << "case " << i;
  }
}

TEST_F(Pool, Gradients) {
  const Variable x = data("x", {-1, 1, 5, 5});
  const Feed feed = {{"x", {.tensor = at::randn({1, 1, 5, 5}, at::kDouble)}}};
  check_gradients(layers::pool2d(x, {.pool_size = 2, .pool_stride = 2, .ceil_mode = true}), feed, {x});
  check_gradients(layers::pool2d(x, {.pool_size = 3, .pool_type = "avg", .pool_padding = {1, 0, 0, 1}}), feed, {x});
  check_gradients(layers::adaptive_pool2d(x, 2, "avg").out, feed, {x});
}

TEST_F(Pool, AdaptiveGivesTheSizeThatIsAskedFor) {
  const Variable x = data("x", {-1, 2, 7, 7});
  const auto top = layers::adaptive_pool2d(x, {2, 3}, "max");
  const auto mean = layers::adaptive_pool2d(x, {7, 7}, "avg");
  EXPECT_EQ(top.out.name(), "max_pool2d_with_index_0.tmp_0");
  const at::Tensor value = at::randn({1, 2, 7, 7}, at::kDouble);
  const auto got = run({{"x", {.tensor = value}}}, {top.out, top.index, mean.out});
  EXPECT_EQ(got[0].tensor.sizes(), (at::IntArrayRef{1, 2, 2, 3}));
  EXPECT_TRUE(at::equal(got[0].tensor.flatten(),
                        value.reshape({2, 49}).gather(1, got[1].tensor.reshape({2, 6}).to(at::kLong)).flatten()));
  EXPECT_TRUE(at::equal(got[2].tensor, value));
  EXPECT_THROW(layers::adaptive_pool2d(x, 2, "sum"), Error);
  EXPECT_THROW(layers::pool2d(x, {.pool_type = "avg"}), Error);
}

}  // namespace
}  // namespace argosy::engine
