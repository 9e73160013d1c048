#pragma once

#include <array>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/engine/program/op.h"

// How a window moves over an image: what convolutions and poolings have in common.
namespace argosy::engine {

// Values outside the image, in pixels: {top, bottom, left, right}.
using Edges = std::array<int64_t, 4>;

struct ImageWindow {
  std::array<int64_t, 2> size, stride, dilation;
  Edges edges;

  bool symmetric() const { return edges[0] == edges[1] && edges[2] == edges[3]; }
};

struct WindowRule {
  std::array<int64_t, 2> size;
  std::vector<int32_t> strides, paddings, dilations;  // of one or two values; paddings of two ([h, w]) or four (edges)
  std::string padding_algorithm;                      // EXPLICIT | SAME | VALID
};

// The window for an image of `height` x `width`. SAME: as many positions as image / stride, and no dilation, as in Paddle.
Result<ImageWindow> make_window(const WindowRule& rule, int64_t height, int64_t width);

// How many positions the window has along dimension 0 (height) or 1 (width).
int64_t window_positions(const ImageWindow& window, int64_t image, size_t dimension);

bool is_channels_last(std::string_view data_format);            // NHWC
at::Tensor channels_first(const at::Tensor& x, bool last);      // a view
at::Tensor channels_as_before(const at::Tensor& x, bool last);  // the other way

// [batch, channels, height, width] of an image variable in either layout.
Result<std::array<int64_t, 4>> image_shape(const graph::VarDesc& variable, bool last);
std::vector<int64_t> image_shape_in_layout(const std::array<int64_t, 4>& shape, bool last);

}  // namespace argosy::engine
