// Convolutions and pooling of volumes against plain loops over every window, with all that moves a window.
#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "argosy/engine/ops/apply_op_test.h"

namespace argosy::engine {
namespace {

using testing::HasSubstr;
using Three = std::array<int64_t, 3>;
using Numbers = std::vector<int32_t>;

struct Window {
  std::string name;
  Three kernel, stride = {1, 1, 1}, dilation = {1, 1, 1};
  std::array<int64_t, 6> edges = {};  // before and after each axis
};

Numbers numbers(auto values) { return Numbers(values.begin(), values.end()); }

// How many windows lie along an axis that is whole only if all of its entries are there.
int64_t positions(const Window& w, const at::Tensor& x, size_t axis, bool ceil_mode = false) {
  const int64_t room = x.size(static_cast<int64_t>(axis) + 2) + w.edges[2 * axis] + w.edges[2 * axis + 1] -
                       w.dilation[axis] * (w.kernel[axis] - 1) - 1;
  return (room + (ceil_mode ? w.stride[axis] - 1 : 0)) / w.stride[axis] + 1;
}

// Each entry of the window at `place` that is inside the volume, with its place in the window.
void each_entry(const Window& w, const at::Tensor& x, const Three& place, const std::function<void(Three, Three)>& body) {
  Three k;
  for (k[0] = 0; k[0] < w.kernel[0]; ++k[0]) {
    for (k[1] = 0; k[1] < w.kernel[1]; ++k[1]) {
      for (k[2] = 0; k[2] < w.kernel[2]; ++k[2]) {
        Three at;
        bool inside = true;
        for (size_t i = 0; i < 3; ++i) {
          at[i] = place[i] * w.stride[i] + k[i] * w.dilation[i] - w.edges[2 * i];
          inside = inside && at[i] >= 0 && at[i] < x.size(static_cast<int64_t>(i) + 2);
        }
        if (inside) body(at, k);
      }
    }
  }
}

double entry(const at::Tensor& x, int64_t sample, int64_t channel, const Three& at) {
  return x[sample][channel][at[0]][at[1]][at[2]].item<double>();
}

// `value` of each sample, channel and place of the window.
at::Tensor each_place(const Window& w, const at::Tensor& x, int64_t channels, bool ceil_mode,
                      const std::function<double(int64_t, int64_t, Three)>& value) {
  const Three size = {positions(w, x, 0, ceil_mode), positions(w, x, 1, ceil_mode), positions(w, x, 2, ceil_mode)};
  at::Tensor out = at::zeros({x.size(0), channels, size[0], size[1], size[2]}, at::kDouble);
  for (int64_t i = 0; i < out.numel(); ++i) {
    int64_t rest = i;
    const auto next = [&rest](int64_t count) {
      const int64_t part = rest % count;
      rest /= count;
      return part;
    };
    const int64_t c = next(size[2]), b = next(size[1]), a = next(size[0]), channel = next(channels);
    out.view(-1)[i] = value(rest, channel, {a, b, c});
  }
  return out;
}

at::Tensor convolved(const Window& w, const at::Tensor& x, const at::Tensor& filter, int64_t groups) {
  const int64_t in = filter.size(1), out = filter.size(0) / groups;
  return each_place(w, x, filter.size(0), false, [&](int64_t sample, int64_t channel, Three place) {
    double sum = 0;
    each_entry(w, x, place, [&](Three at, Three k) {
      for (int64_t i = 0; i < in; ++i) sum += entry(x, sample, channel / out * in + i, at) * entry(filter, channel, i, k);
    });
    return sum;
  });
}

at::Tensor pooled(const Window& w, const at::Tensor& x, bool maximum, bool exclusive, bool ceil_mode) {
  const auto whole = static_cast<double>(w.kernel[0] * w.kernel[1] * w.kernel[2]);
  return each_place(w, x, x.size(1), ceil_mode, [&](int64_t sample, int64_t channel, Three place) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0, count = 0;
    each_entry(w, x, place, [&](Three at, Three) {
      largest = std::max(largest, entry(x, sample, channel, at));
      sum += entry(x, sample, channel, at);
      ++count;
    });
    return maximum ? largest : sum / (exclusive ? count : whole);
  });
}

const Window kWindows[] = {
    {.name = "plain", .kernel = {2, 3, 2}},
    {.name = "steps", .kernel = {2, 2, 2}, .stride = {1, 2, 3}},
    {.name = "same_edges", .kernel = {3, 2, 3}, .stride = {2, 1, 1}, .edges = {1, 1, 1, 1, 0, 0}},
    {.name = "other_edges", .kernel = {2, 3, 2}, .stride = {1, 2, 1}, .edges = {0, 1, 2, 1, 1, 0}},
};

class Volumes : public OpTest {
 protected:
  const at::Tensor volume_ = at::randn({2, 4, 4, 5, 4}, at::kDouble);
  static graph::AttributeMap moves(const Window& w) { return {{"strides", numbers(w.stride)}, {"paddings", numbers(w.edges)}}; }
};

TEST_F(Volumes, AConvolutionIsTheSumUnderEachWindow) {
  for (Window w : kWindows) {
    for (const int32_t groups : {1, 2}) {
      for (const int64_t distance : {1, 2}) {
        w.dilation = {1, distance, 1};
        const BuiltHere here(*main_);
        const Variable x = data("x", {-1, 4, 4, 5, 4}),
                       filter = data("filter", {6, 4 / groups, w.kernel[0], w.kernel[1], w.kernel[2]});
        graph::AttributeMap attributes = moves(w);
        attributes.insert({{"groups", groups}, {"dilations", numbers(w.dilation)}});
        const Variable out =
            apply_op("conv3d", {{"Input", {x.name()}}, {"Filter", {filter.name()}}}, attributes, {{"Output", DType::float64}})[0];
        const at::Tensor weights = at::randn(filter.shape(), at::kDouble);
        const at::Tensor found = run({{"x", {.tensor = volume_}}, {"filter", {.tensor = weights}}}, out);
        check_declared(out, found);
        const at::Tensor expected = convolved(w, volume_, weights, groups);
        ASSERT_EQ(found.sizes(), expected.sizes()) << w.name;
        EXPECT_TRUE(at::allclose(found, expected)) << w.name << ", groups " << groups << ", dilation " << distance;
      }
    }
  }
}

// The transposed convolution is the adjoint one: <conv(x), y> = <x, transposed(y)>, with the sizes that x had.
TEST_F(Volumes, ATransposedConvolutionIsTheAdjointOfOne) {
  for (const Window& w : kWindows) {
    const BuiltHere here(*main_);
    const at::Tensor weights = at::randn({3, 4, w.kernel[0], w.kernel[1], w.kernel[2]}, at::kDouble);
    const at::Tensor forward = convolved(w, volume_, weights, 1), y = at::randn_like(forward);
    const Variable in = data("y", y.sizes().vec()), filter = data("filter", weights.sizes().vec());
    graph::AttributeMap attributes = moves(w);
    attributes["output_size"] = Numbers{4, 5, 4};
    const Variable out = apply_op("conv3d_transpose", {{"Input", {in.name()}}, {"Filter", {filter.name()}}}, attributes,
                                  {{"Output", DType::float64}})[0];
    const at::Tensor back = run({{"y", {.tensor = y}}, {"filter", {.tensor = weights}}}, out);
    check_declared(out, back);
    ASSERT_EQ(back.sizes(), volume_.sizes()) << w.name;
    EXPECT_NEAR((forward * y).sum().item<double>(), (volume_ * back).sum().item<double>(), 1e-8) << w.name;
  }
}

TEST_F(Volumes, PoolingTakesTheLargestOrTheMean) {
  for (const Window& w : kWindows) {
    for (const bool ceil_mode : {false, true}) {
      for (const bool exclusive : {false, true}) {
        for (const bool maximum : {false, true}) {
          const Variable x = data("x", {-1, 4, 4, 5, 4});
          graph::AttributeMap attributes = moves(w);
          attributes.insert({{"ksize", numbers(w.kernel)},
                             {"ceil_mode", ceil_mode},
                             {"exclusive", exclusive},
                             {"pooling_type", std::string(maximum ? "max" : "avg")}});
          const Variable out = apply_op("pool3d", {{"X", {x.name()}}}, attributes)[0];
          const at::Tensor found = run({{"x", {.tensor = volume_}}}, out);
          check_declared(out, found);
          const at::Tensor expected = pooled(w, volume_, maximum, exclusive, ceil_mode);
          ASSERT_EQ(found.sizes(), expected.sizes()) << w.name;
          EXPECT_TRUE(at::allclose(found, expected))
              << w.name << ", maximum " << maximum << ", exclusive " << exclusive << ", ceil " << ceil_mode;
        }
      }
    }
  }
}

// Channels last is the same work on the same numbers.
TEST_F(Volumes, ChannelsMayComeLast) {
  const Window& w = kWindows[3];
  const Variable x = data("x", {-1, 4, 5, 4, 4});
  graph::AttributeMap attributes = moves(w);
  attributes.insert({{"ksize", numbers(w.kernel)}, {"data_format", std::string("NDHWC")}});
  const Variable out = apply_op("pool3d", {{"X", {x.name()}}}, attributes)[0];
  const at::Tensor found = run({{"x", {.tensor = volume_.movedim(1, -1).contiguous()}}}, out);
  check_declared(out, found);
  EXPECT_TRUE(at::allclose(found, pooled(w, volume_, true, true, false).movedim(1, -1)));
}

// The Mask says where in its volume each maximum was.
TEST_F(Volumes, AMaximumIsFoundAgainByItsIndex) {
  const Window& w = kWindows[1];
  const Variable x = data("x", {-1, 4, 4, 5, 4});
  graph::AttributeMap attributes = moves(w);
  attributes["ksize"] = numbers(w.kernel);
  const auto found = run({{"x", {.tensor = volume_}}}, apply_op("max_pool3d_with_index", {{"X", {x.name()}}}, attributes,
                                                                {{"Out", DType::float64}, {"Mask", DType::int32}}));
  EXPECT_EQ(found[1].tensor.scalar_type(), at::kInt);
  EXPECT_TRUE(at::allclose(found[0].tensor, pooled(w, volume_, true, true, false)));
  EXPECT_TRUE(at::equal(volume_.flatten(2).gather(2, found[1].tensor.flatten(2).to(at::kLong)), found[0].tensor.flatten(2)));
}

TEST_F(Volumes, WhatDoesNotFitIsNamedWhileBuilding) {
  const Variable x = data("x", {-1, 4, 4, 5, 4}), image = data("image", {-1, 4, 5, 4}), filter = data("filter", {6, 3, 2, 2, 2});
  const auto pool = [&](const Variable& in, graph::AttributeMap attributes) {
    return refusal_of([&] { apply_op("pool3d", {{"X", {in.name()}}}, std::move(attributes)); });
  };
  EXPECT_THAT(pool(image, {}), HasSubstr("'image' has shape [-1, 4, 5, 4], expected volumes of 5 dimensions"));
  EXPECT_THAT(pool(x, {{"ksize", Numbers{2, 2}}}), HasSubstr("ksize has 2 values, expected 3"));
  EXPECT_THAT(pool(x, {{"strides", Numbers{1, 0, 1}}}), HasSubstr("strides is [1, 0, 1], expected 1 or more"));
  EXPECT_THAT(pool(x, {{"paddings", Numbers{1, 1}}}), HasSubstr("paddings has 2 values, expected 3 or 6"));
  EXPECT_THAT(refusal_of([&] {
                apply_op("conv3d", {{"Input", {x.name()}}, {"Filter", {filter.name()}}}, {}, {{"Output", DType::float64}});
              }),
              HasSubstr("'x' has 4 channels, which filter 'filter' [6, 3, 2, 2, 2] does not take in 1 groups"));
  const Variable wide = data("wide", {4, 2, 2, 2, 2});
  EXPECT_THAT(refusal_of([&] {
                apply_op("conv3d_transpose", {{"Input", {x.name()}}, {"Filter", {wide.name()}}},
                         {{"output_size", Numbers{9, 6, 5}}}, {{"Output", DType::float64}});
              }),
              HasSubstr("size 9 of axis 0 cannot be reached: expected 5 to 5"));
}

}  // namespace
}  // namespace argosy::engine
