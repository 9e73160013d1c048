// Two-dimensional convolutions and their transpose.
#include <ATen/ATen.h>

#include "argosy/engine/ops/image_window.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;

template <typename Context>
WindowRule rule_of(const Context& op, int64_t height, int64_t width) {
  return {.size = {height, width},
          .strides = op.template attribute_or<std::vector<int32_t>>("strides", {}),
          .paddings = op.template attribute_or<std::vector<int32_t>>("paddings", {}),
          .dilations = op.template attribute_or<std::vector<int32_t>>("dilations", {}),
          .padding_algorithm = op.template attribute_or<std::string>("padding_algorithm", "EXPLICIT")};
}

ImageWindow conv_window(const OpContext& op, const at::Tensor& image, const at::Tensor& filter) {
  if (image.dim() != 4 || filter.dim() != 4) op.fail("expected an image and a filter of 4 dimensions");
  auto window = make_window(rule_of(op.desc(), filter.size(2), filter.size(3)), image.size(2), image.size(3));
  if (!window.ok()) throw KernelError(window.status());
  return *window;
}

at::Tensor bias_of(const OpContext& op) { return op.has_input("Bias") ? op.tensor("Bias").flatten() : at::Tensor(); }

void run_conv(const OpContext& op) {
  const bool last = is_channels_last(op.attr<std::string>("data_format"));
  at::Tensor image = channels_first(op.tensor("Input"), last);
  const at::Tensor& filter = op.tensor("Filter");
  const ImageWindow window = conv_window(op, image, filter);
  std::array<int64_t, 2> padding = {window.edges[0], window.edges[2]};
  if (!window.symmetric()) {
    image = at::constant_pad_nd(image, {window.edges[2], window.edges[3], window.edges[0], window.edges[1]}, 0);
    padding = {0, 0};
  }
  const at::Tensor out =
      at::conv2d(image, filter, bias_of(op), window.stride, padding, window.dilation, op.attr<int32_t>("groups"));
  op.set_output("Output", channels_as_before(out, last));
}

Status infer_conv(ShapeContext& context) {
  const bool last = is_channels_last(context.attribute<std::string>("data_format"));
  const auto &input = context.input("Input"), &filter = context.input("Filter");
  ASSIGN_OR_RETURN(auto shape, image_shape(input, last));
  if (filter.shape.size() != 4)
    return Status::invalid_argument("filter '{}' has shape {}, expected 4 dimensions", filter.name,
                                    graph::shape_to_string(filter.shape));
  const int64_t groups = context.attribute<int32_t>("groups");
  if (groups < 1 || shape[1] != filter.shape[1] * groups || filter.shape[0] % groups != 0) {
    return Status::invalid_argument("'{}' has {} channels, but filter '{}' {} with {} groups takes {}", input.name, shape[1],
                                    filter.name, graph::shape_to_string(filter.shape), groups, filter.shape[1] * groups);
  }
  ASSIGN_OR_RETURN(const ImageWindow window,
                   make_window(rule_of(context.op(), filter.shape[2], filter.shape[3]), shape[2], shape[3]));
  for (size_t i : {0, 1}) {
    if (shape[2 + i] > 0)
      shape[2 + i] = window_positions(window, shape[2 + i], i);
    else
      shape[2 + i] = -1;
  }
  shape[1] = filter.shape[0];
  context.set_output("Output", image_shape_in_layout(shape, last), input.dtype);
  return {};
}

// Pixels beyond the natural size of a transposed convolution that `output_size` asks for.
Result<std::array<int64_t, 2>> extra_pixels(const std::vector<int32_t>& output_size, const std::array<int64_t, 2>& natural,
                                            const ImageWindow& window) {
  std::array<int64_t, 2> extra = {0, 0};
  if (output_size.empty()) return extra;
  for (size_t i : {0, 1}) {
    const int64_t wanted = output_size.size() == 1 ? output_size[0] : output_size[i];
    extra[i] = wanted - natural[i];
    if (extra[i] < 0 || extra[i] >= window.stride[i]) {
      return Status::invalid_argument("output_size {} cannot be reached: expected {} to {}", wanted, natural[i],
                                      natural[i] + window.stride[i] - 1);
    }
  }
  return extra;
}

int64_t transposed_size(const ImageWindow& window, int64_t image, size_t dimension) {
  return (image - 1) * window.stride[dimension] - window.edges[2 * dimension] - window.edges[2 * dimension + 1] +
         window.dilation[dimension] * (window.size[dimension] - 1) + 1;
}

void run_transpose(const OpContext& op) {
  const bool last = is_channels_last(op.attr<std::string>("data_format"));
  const at::Tensor image = channels_first(op.tensor("Input"), last);
  const at::Tensor& filter = op.tensor("Filter");
  const ImageWindow window = conv_window(op, image, filter);
  const std::array<int64_t, 2> natural = {transposed_size(window, image.size(2), 0), transposed_size(window, image.size(3), 1)};
  const auto extra = extra_pixels(op.attr<std::vector<int32_t>>("output_size"), natural, window);
  if (!extra.ok()) throw KernelError(extra.status());
  const int64_t groups = op.attr<int32_t>("groups");
  at::Tensor out;
  if (window.symmetric()) {
    out = at::conv_transpose2d(image, filter, bias_of(op), window.stride, {window.edges[0], window.edges[2]}, *extra, groups,
                               window.dilation);
  } else {
    out = at::conv_transpose2d(image, filter, bias_of(op), window.stride, {0, 0}, *extra, groups, window.dilation);
    out = out.narrow(2, window.edges[0], natural[0] + (*extra)[0]).narrow(3, window.edges[2], natural[1] + (*extra)[1]);
  }
  op.set_output("Output", channels_as_before(out, last));
}

Status infer_conv_transpose(ShapeContext& context) {
  const bool last = is_channels_last(context.attribute<std::string>("data_format"));
  const auto &input = context.input("Input"), &filter = context.input("Filter");
  ASSIGN_OR_RETURN(auto shape, image_shape(input, last));
  if (filter.shape.size() != 4 || filter.shape[0] != shape[1]) {
    return Status::invalid_argument("filter '{}' {} does not take the {} channels of '{}'", filter.name,
                                    graph::shape_to_string(filter.shape), shape[1], input.name);
  }
  ASSIGN_OR_RETURN(const ImageWindow window,
                   make_window(rule_of(context.op(), filter.shape[2], filter.shape[3]), shape[2], shape[3]));
  if (shape[2] > 0 && shape[3] > 0) {
    const std::array<int64_t, 2> natural = {transposed_size(window, shape[2], 0), transposed_size(window, shape[3], 1)};
    ASSIGN_OR_RETURN(const auto extra, extra_pixels(context.attribute<std::vector<int32_t>>("output_size"), natural, window));
    shape[2] = natural[0] + extra[0];
    shape[3] = natural[1] + extra[1];
  }
  shape[1] = filter.shape[1] * context.attribute<int32_t>("groups");
  context.set_output("Output", image_shape_in_layout(shape, last), input.dtype);
  return {};
}

OpRegistration described_conv(OpRegistration op, const char* text, const char* filter, graph::ShapeRule rule) {
  return op.doc(text)
      .input("Input", "images, [batch, channels, height, width] or channels last")
      .input("Filter", filter)
      .optional_input("Bias", "one value a filter")
      .optional_input("ResidualData", "not read")
      .output("Output", "images")
      .attr("strides", std::vector<int32_t>{1, 1}, "the step of the window, [height, width]")
      .attr("paddings", std::vector<int32_t>{0, 0}, "zeros around the image: [height, width] or [top, bottom, left, right]")
      .attr("dilations", std::vector<int32_t>{1, 1}, "the distance of the filter's pixels")
      .attr("groups", 1, "the channels are cut into so many groups that do not mix")
      .attr("padding_algorithm", std::string("EXPLICIT"), "EXPLICIT | SAME | VALID")
      .attr("data_format", std::string("NCHW"), "NCHW | NHWC")
      .attr("is_test", false, "no effect")
      .infer_shape(std::move(rule));
}

const OpRegistration kConv = described_conv({"conv2d", &run_conv}, "Convolution of images with filters.",
                                            "[filters, channels / groups, height, width]", infer_conv);
const OpRegistration kDepthwise =
    described_conv({"depthwise_conv2d", &run_conv}, "conv2d where every channel has filters of its own.",
                   "[filters, 1, height, width]", infer_conv);
const OpRegistration kTranspose =
    described_conv({"conv2d_transpose", &run_transpose}, "The transpose of conv2d: images grow.",
                   "[channels, filters / groups, height, width]", infer_conv_transpose)
        .attr("output_size", std::vector<int32_t>{}, "picks one of the sizes that the stride leaves open");
const OpRegistration kDepthwiseTranspose =
    described_conv({"depthwise_conv2d_transpose", &run_transpose},
                   "conv2d_transpose where every channel has a filter of its own.", "[channels, 1, height, width]",
                   infer_conv_transpose)
        .attr("output_size", std::vector<int32_t>{}, "picks one of the sizes that the stride leaves open");

}  // namespace
}  // namespace argosy::engine
