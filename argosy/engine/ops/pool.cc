// Pooling of images.
#include <ATen/ATen.h>

#include <limits>

#include "argosy/engine/ops/image_window.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::OpDesc;
using graph::ShapeContext;

bool whole_image(const OpDesc& op) { return op.attribute_or<bool>("global_pooling", false); }
bool adaptive(const OpDesc& op) { return op.attribute_or<bool>("adaptive", false); }

Result<ImageWindow> pool_window(const OpDesc& op, int64_t height, int64_t width) {
  const auto size = op.attribute_or<std::vector<int32_t>>("ksize", {});
  if (size.size() != 2) return Status::invalid_argument("ksize has {} values, expected 2", size.size());
  if (whole_image(op)) return ImageWindow{.size = {height, width}, .stride = {1, 1}, .dilation = {1, 1}, .edges = {0, 0, 0, 0}};
  if (size[0] < 1 || size[1] < 1)
    return Status::invalid_argument("the pool's size is {} x {}, expected at least 1 x 1", size[0], size[1]);
  return make_window({.size = {size[0], size[1]},
                      .strides = op.attribute_or<std::vector<int32_t>>("strides", {}),
                      .paddings = op.attribute_or<std::vector<int32_t>>("paddings", {}),
                      .dilations = {1, 1},
                      .padding_algorithm = op.attribute_or<std::string>("padding_algorithm", "EXPLICIT")},
                     height, width);
}

// With ceil_mode a last window that hangs over the edge counts too.
int64_t positions(const ImageWindow& window, int64_t image, size_t dimension, bool ceil_mode) {
  if (!ceil_mode) return window_positions(window, image, dimension);
  const int64_t room = image + window.edges[2 * dimension] + window.edges[2 * dimension + 1] - window.size[dimension];
  return (room + window.stride[dimension] - 1) / window.stride[dimension] + 1;
}

// The image with its edges filled by `value`, as wide as the windows reach.
at::Tensor filled(const at::Tensor& image, const ImageWindow& window, bool ceil_mode, double value) {
  Edges reach = window.edges;
  for (size_t i : {0, 1}) {
    const int64_t size = image.size(static_cast<int64_t>(i) + 2);
    reach[2 * i + 1] =
        (positions(window, size, i, ceil_mode) - 1) * window.stride[i] + window.size[i] - size - window.edges[2 * i];
  }
  return at::constant_pad_nd(image, {reach[2], reach[3], reach[0], reach[1]}, value);
}

// libtorch's own padding is symmetric and at most half a window; anything else is filled in first.
bool is_plain(const ImageWindow& window, bool ceil_mode) {
  return !ceil_mode && window.symmetric() && 2 * window.edges[0] <= window.size[0] && 2 * window.edges[2] <= window.size[1];
}

at::Tensor pool_maximum(const at::Tensor& image, const ImageWindow& window, bool ceil_mode) {
  if (is_plain(window, ceil_mode)) return at::max_pool2d(image, window.size, window.stride, {window.edges[0], window.edges[2]});
  return at::max_pool2d(filled(image, window, ceil_mode, -std::numeric_limits<double>::infinity()), window.size, window.stride);
}

// `exclusive`: the mean is over pixels of the image only.
at::Tensor pool_average(const at::Tensor& image, const ImageWindow& window, bool ceil_mode, bool exclusive) {
  if (is_plain(window, ceil_mode)) {
    return at::avg_pool2d(image, window.size, window.stride, {window.edges[0], window.edges[2]}, false, !exclusive);
  }
  const at::Tensor mean = at::avg_pool2d(filled(image, window, ceil_mode, 0), window.size, window.stride);
  if (!exclusive) return mean;
  const at::Tensor inside = at::ones({1, 1, image.size(2), image.size(3)}, image.options().requires_grad(false));
  return mean / at::avg_pool2d(filled(inside, window, ceil_mode, 0), window.size, window.stride);
}

std::array<int64_t, 2> adaptive_size(const OpContext& op) {
  const auto& size = op.attr<std::vector<int32_t>>("ksize");
  if (size.size() != 2) op.fail("ksize has {} values, expected 2", size.size());
  return {size[0], size[1]};
}

void run_pool(const OpContext& op) {
  const bool last = is_channels_last(op.attr<std::string>("data_format"));
  const at::Tensor image = channels_first(op.tensor("X"), last);
  const bool takes_maximum = op.attr<std::string>("pooling_type") == "max";
  at::Tensor out;
  if (adaptive(op.desc()) && !whole_image(op.desc())) {
    const auto size = adaptive_size(op);
    out = takes_maximum ? std::get<0>(at::adaptive_max_pool2d(image, size)) : at::adaptive_avg_pool2d(image, size);
  } else {
    const auto window = pool_window(op.desc(), image.size(2), image.size(3));
    if (!window.ok()) throw KernelError(window.status());
    const bool ceil_mode = op.attr<bool>("ceil_mode");
    out = takes_maximum ? pool_maximum(image, *window, ceil_mode)
                        : pool_average(image, *window, ceil_mode, op.attr<bool>("exclusive"));
  }
  op.set_output("Out", channels_as_before(out, last));
}

void run_with_index(const OpContext& op) {
  const at::Tensor& image = op.tensor("X");
  at::Tensor out, index;
  if (adaptive(op.desc())) {
    std::tie(out, index) = at::adaptive_max_pool2d(image, adaptive_size(op));
  } else {
    const auto window = pool_window(op.desc(), image.size(2), image.size(3));
    if (!window.ok()) throw KernelError(window.status());
    if (!is_plain(*window, false)) op.fail("paddings must be the same on both sides and at most half the window");
    std::tie(out, index) = at::max_pool2d_with_indices(image, window->size, window->stride, {window->edges[0], window->edges[2]});
  }
  op.set_output("Out", out);
  op.set_output("Mask", index.to(at::kInt));
}

Status infer_pool(ShapeContext& context) {
  const bool last = is_channels_last(context.attribute<std::string>("data_format"));
  const auto& x = context.input("X");
  const std::string kind = context.op().attribute_or<std::string>("pooling_type", "max");
  if (kind != "max" && kind != "avg") return Status::invalid_argument("pool type '{}' is not known; expected max or avg", kind);
  ASSIGN_OR_RETURN(auto shape, image_shape(x, last));
  ASSIGN_OR_RETURN(const ImageWindow window, pool_window(context.op(), shape[2], shape[3]));
  for (size_t i : {0, 1}) {
    if (whole_image(context.op()))
      shape[2 + i] = 1;
    else if (adaptive(context.op()))
      shape[2 + i] = window.size[i];
    else if (shape[2 + i] > 0)
      shape[2 + i] = positions(window, shape[2 + i], i, context.attribute<bool>("ceil_mode"));
  }
  context.set_output("Out", image_shape_in_layout(shape, last), x.dtype);
  context.set_output("Mask", image_shape_in_layout(shape, last), x.dtype);
  return {};
}

OpRegistration described_pool(OpRegistration op, const char* text) {
  return op.doc(text)
      .input("X", "images, [batch, channels, height, width] or channels last")
      .output("Out", "smaller images")
      .attr("ksize", std::vector<int32_t>{1, 1}, "the window, [height, width]; of the result where adaptive")
      .attr("strides", std::vector<int32_t>{1, 1}, "its step")
      .attr("paddings", std::vector<int32_t>{0, 0}, "around the image: [height, width] or [top, bottom, left, right]")
      .attr("global_pooling", false, "the window is the whole image")
      .attr("adaptive", false, "ksize is the size of the result")
      .infer_shape(infer_pool);
}

const OpRegistration kPool = described_pool({"pool2d", &run_pool}, "The maximum or the mean of the pixels under a moving window.")
                                 .attr("pooling_type", std::string("max"), "max | avg")
                                 .attr("ceil_mode", false, "a last window may hang over the edge")
                                 .attr("exclusive", true, "a mean counts pixels of the image only")
                                 .attr("padding_algorithm", std::string("EXPLICIT"), "EXPLICIT | SAME | VALID")
                                 .attr("data_format", std::string("NCHW"), "NCHW | NHWC")
                                 .attr("is_test", false, "no effect");
const OpRegistration kPoolWithIndex =
    described_pool({"max_pool2d_with_index", &run_with_index}, "The maximum under a moving window, and which pixel it was.")
        .output("Mask", "the pixel, as row * width + column");

}  // namespace
}  // namespace argosy::engine
