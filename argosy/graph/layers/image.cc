// Layers over images.
#include <cctype>
#include <cmath>

#include "argosy/base/error.h"
#include "argosy/graph/layers/nn.h"

namespace argosy::layers {

using graph::LayerHelper;
using graph::shape_to_string;

Padding::Padding(std::vector<int32_t> each) : pixels(std::move(each)) {
  if (pixels.size() == 1) pixels.push_back(pixels[0]);
  if (pixels.size() != 2 && pixels.size() != 4) {
    throw Error(Status::invalid_argument(
        "padding has {} numbers, expected 1, 2 ([height, width]) or 4 ([top, bottom, left, right])", pixels.size()));
  }
  if (pixels.size() == 4 && pixels[0] == pixels[1] && pixels[2] == pixels[3]) pixels = {pixels[0], pixels[2]};
}

Padding::Padding(const char* name) : pixels{0, 0}, algorithm(name) {
  for (char& letter : algorithm) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  if (algorithm != "SAME" && algorithm != "VALID")
    throw Error(Status::invalid_argument("padding '{}' is not known; expected numbers, 'SAME' or 'VALID'", name));
}

namespace {

std::vector<int32_t> list(const Extent& extent) { return {extent.height, extent.width}; }

struct Image {
  int64_t channels, height, width;
  bool last;  // channels are the last dimension
};

Image image_of(const char* layer, const Variable& input, const std::string& data_format) {
  if (data_format != "NCHW" && data_format != "NHWC") {
    throw Error(Status::invalid_argument("{}: data_format '{}' is not known; expected NCHW or NHWC", layer, data_format));
  }
  const auto& shape = input.shape();
  if (shape.size() != 4)
    throw Error(
        Status::invalid_argument("{}: '{}' has shape {}, expected 4 dimensions", layer, input.name(), shape_to_string(shape)));
  const bool last = data_format == "NHWC";
  const Image image{last ? shape[3] : shape[1], last ? shape[1] : shape[2], last ? shape[2] : shape[3], last};
  if (image.channels < 1)
    throw Error(
        Status::invalid_argument("{}: the channels of '{}' {} must be known", layer, input.name(), shape_to_string(shape)));
  return image;
}

void check_groups(const char* layer, int64_t channels, int64_t filters, int64_t groups) {
  if (groups < 1 || channels % groups != 0 || filters % groups != 0) {
    throw Error(Status::invalid_argument("{}: {} channels and {} filters cannot be cut into {} groups", layer, channels, filters,
                                         groups));
  }
}

// The filter with which a transposed convolution reaches `wanted` pixels.
int32_t filter_for(int32_t wanted, int64_t image, int32_t stride, int32_t before, int32_t after, int32_t dilation) {
  return static_cast<int32_t>((wanted - (image - 1) * stride + before + after - 1) / dilation + 1);
}

Extent transpose_filter(const Image& image, const Conv2dTransposeOptions& options) {
  if (options.filter_size) return *options.filter_size;
  if (!options.output_size) throw Error(Status::invalid_argument("conv2d_transpose: output_size or filter_size must be given"));
  const auto& pixels = options.padding.pixels;
  const bool four = pixels.size() == 4;
  return {filter_for(options.output_size->height, image.height, options.stride.height, pixels[0], four ? pixels[1] : pixels[0],
                     options.dilation.height),
          filter_for(options.output_size->width, image.width, options.stride.width, four ? pixels[2] : pixels[1],
                     four ? pixels[3] : pixels[1], options.dilation.width)};
}

template <typename Options>
Variable append_conv(LayerHelper& helper, const std::string& op_type, const Variable& input, const Variable& filter,
                     const Options& options, bool last, graph::AttributeMap more) {
  const Variable out = helper.create_tmp(input.dtype());
  graph::AttributeMap attributes = {{"strides", list(options.stride)},     {"paddings", options.padding.pixels},
                                    {"dilations", list(options.dilation)}, {"groups", options.groups},
                                    {"data_format", options.data_format},  {"padding_algorithm", options.padding.algorithm}};
  attributes.merge(more);
  helper.append_op({.type = op_type,
                    .inputs = {{"Input", {input.name()}}, {"Filter", {filter.name()}}},
                    .outputs = {{"Output", {out.name()}}},
                    .attributes = std::move(attributes)});
  return helper.append_activation(helper.append_bias(out, options.bias, last ? 3 : 1), options.act);
}

}  // namespace

Variable conv2d(const Variable& input, int32_t num_filters, Extent filter_size, const Conv2dOptions& options) {
  const Image image = image_of("conv2d", input, options.data_format);
  check_groups("conv2d", image.channels, num_filters, options.groups);
  const bool depthwise = image.channels == options.groups && num_filters % image.channels == 0 && !options.use_cudnn;
  const std::string type = depthwise ? "depthwise_conv2d" : "conv2d";
  LayerHelper helper(type, options.name);
  const auto inputs =
      static_cast<float>(filter_size.height) * static_cast<float>(filter_size.width) * static_cast<float>(image.channels);
  const Variable filter = helper.create_parameter(
      options.param, {num_filters, image.channels / options.groups, filter_size.height, filter_size.width}, input.dtype(), false,
      graph::normal_initializer(0, std::sqrt(2.0f / inputs)));
  return append_conv(helper, type, input, filter, options, image.last, {});
}

Variable conv2d_transpose(const Variable& input, int32_t num_filters, const Conv2dTransposeOptions& options) {
  const Image image = image_of("conv2d_transpose", input, options.data_format);
  check_groups("conv2d_transpose", image.channels, num_filters, options.groups);
  const bool depthwise = image.channels == options.groups && num_filters == image.channels && !options.use_cudnn;
  const std::string type = depthwise ? "depthwise_conv2d_transpose" : "conv2d_transpose";
  LayerHelper helper(type, options.name);
  const Extent size = transpose_filter(image, options);
  const Variable filter = helper.create_parameter(
      options.param, {image.channels, num_filters / options.groups, size.height, size.width}, input.dtype());
  return append_conv(helper, type, input, filter, options, image.last,
                     {{"output_size", options.output_size ? list(*options.output_size) : std::vector<int32_t>{}}});
}

Variable pool2d(const Variable& input, const Pool2dOptions& options) {
  image_of("pool2d", input, options.data_format);
  if (!options.global_pooling && (options.pool_size.height < 1 || options.pool_size.width < 1)) {
    throw Error(Status::invalid_argument("pool2d: pool_size is {} x {}; give it, or set global_pooling", options.pool_size.height,
                                         options.pool_size.width));
  }
  LayerHelper helper("pool2d", options.name);
  return helper.append_unary("pool2d", input,
                             {{"pooling_type", options.pool_type},
                              {"ksize", list(options.pool_size)},
                              {"global_pooling", options.global_pooling},
                              {"strides", list(options.pool_stride)},
                              {"paddings", options.pool_padding.pixels},
                              {"padding_algorithm", options.pool_padding.algorithm},
                              {"ceil_mode", options.ceil_mode},
                              {"exclusive", options.exclusive},
                              {"data_format", options.data_format}});
}

AdaptivePool2d adaptive_pool2d(const Variable& input, Extent pool_size, const std::string& pool_type, const std::string& name) {
  image_of("adaptive_pool2d", input, "NCHW");
  const graph::AttributeMap attributes = {{"ksize", list(pool_size)}, {"adaptive", true}};
  if (pool_type == "avg") {
    LayerHelper helper("pool2d", name);
    graph::AttributeMap with_type = attributes;
    with_type["pooling_type"] = pool_type;
    return {.out = helper.append_unary("pool2d", input, std::move(with_type)), .index = {}};
  }
  if (pool_type != "max")
    throw Error(Status::invalid_argument("adaptive_pool2d: pool_type '{}' is not known; expected max or avg", pool_type));
  LayerHelper helper("max_pool2d_with_index", name);
  const Variable out = helper.create_tmp(input.dtype());
  const Variable index = helper.create_tmp(input.dtype());
  helper.append_op({.type = "max_pool2d_with_index",
                    .inputs = {{"X", {input.name()}}},
                    .outputs = {{"Out", {out.name()}}, {"Mask", {index.name()}}},
                    .attributes = attributes});
  return {.out = out, .index = index};
}

}  // namespace argosy::layers
