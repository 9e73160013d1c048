#include "argosy/engine/ops/image_window.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace argosy::engine {
namespace {

using testing::HasSubstr;

WindowRule rule(const std::string& algorithm = "EXPLICIT") {
  return {.size = {3, 3}, .strides = {2}, .paddings = {1}, .dilations = {1}, .padding_algorithm = algorithm};
}

TEST(ImageWindow, OneNumberIsForBothDimensions) {
  const auto window = make_window(rule(), 8, 10);
  ASSERT_TRUE(window.ok());
  EXPECT_EQ(window->stride, (std::array<int64_t, 2>{2, 2}));
  EXPECT_EQ(window->edges, (Edges{1, 1, 1, 1}));
  EXPECT_TRUE(window->symmetric());
}

TEST(ImageWindow, TwoPaddingsAreHeightAndWidthAndFourAreEdges) {
  WindowRule two = rule(), four = rule();
  two.paddings = {1, 2};
  four.paddings = {0, 1, 2, 3};
  EXPECT_EQ(make_window(two, 8, 8)->edges, (Edges{1, 1, 2, 2}));
  EXPECT_EQ(make_window(four, 8, 8)->edges, (Edges{0, 1, 2, 3}));
  EXPECT_FALSE(make_window(four, 8, 8)->symmetric());
}

// As in PaddlePaddle: as many positions as image / stride, the odd pixel below and to the right, and no dilation.
TEST(ImageWindow, SameHasAPositionForEachStride) {
  WindowRule same = rule("SAME");
  same.dilations = {2};
  for (int64_t size = 1; size < 20; ++size) {
    const ImageWindow window = *make_window(same, size, size);
    EXPECT_EQ(window_positions(window, size, 0), (size + 1) / 2) << size;
    EXPECT_EQ(window.dilation[0], 1);
    EXPECT_LE(window.edges[1] - window.edges[0], 1);
    EXPECT_GE(window.edges[1], window.edges[0]);
  }
}

TEST(ImageWindow, ValidHasNoEdges) { EXPECT_EQ(make_window(rule("VALID"), 8, 8)->edges, (Edges{0, 0, 0, 0})); }

TEST(ImageWindow, PositionsAreThoseOfTorch) {
  for (const int64_t dilation : {1, 2}) {
    for (const int64_t stride : {1, 2, 3}) {
      const ImageWindow window{
          .size = {3, 2}, .stride = {stride, stride}, .dilation = {dilation, dilation}, .edges = {1, 1, 0, 0}};
      const at::Tensor out =
          at::conv2d(at::zeros({1, 1, 9, 11}), at::zeros({1, 1, 3, 2}), {}, stride, at::IntArrayRef({1, 0}), dilation);
      EXPECT_EQ(window_positions(window, 9, 0), out.size(2));
      EXPECT_EQ(window_positions(window, 11, 1), out.size(3));
    }
  }
}

TEST(ImageWindow, WhatCannotBeIsNamed) {
  WindowRule three = rule(), still = rule();
  three.strides = {1, 2, 3};
  still.strides = {0};
  EXPECT_THAT(make_window(three, 8, 8).status().message(), HasSubstr("strides has 3 values, expected 2"));
  EXPECT_THAT(make_window(still, 8, 8).status().message(), HasSubstr("stride 0 and dilation 1 must be at least 1"));
  EXPECT_THAT(make_window(rule("HALF"), 8, 8).status().message(),
              HasSubstr("padding 'HALF' is not known; expected numbers, SAME or VALID"));
}

TEST(ImageWindow, LayoutsAreEachOthersInverse) {
  EXPECT_TRUE(is_channels_last("NHWC"));
  EXPECT_FALSE(is_channels_last("NCHW"));
  const at::Tensor image = at::arange(24).view({1, 2, 3, 4});
  for (const bool last : {false, true}) {
    EXPECT_TRUE(at::equal(channels_as_before(channels_first(image, last), last), image));
    EXPECT_TRUE(channels_first(image, last).is_alias_of(image));
  }
  graph::VarDesc variable;
  variable.name = "image";
  variable.shape = {-1, 5, 6, 3};
  const auto shape = *image_shape(variable, true);
  EXPECT_EQ(shape, (std::array<int64_t, 4>{-1, 3, 5, 6}));
  EXPECT_EQ(image_shape_in_layout(shape, true), variable.shape);
  EXPECT_EQ(image_shape_in_layout(*image_shape(variable, false), false), variable.shape);
  variable.shape = {3, 4};
  EXPECT_THAT(image_shape(variable, false).status().message(),
              HasSubstr("'image' has shape [3, 4], expected an image batch of 4"));
}

}  // namespace
}  // namespace argosy::engine
