#include "argosy/graph/layers/nets.h"

#include "argosy/graph/function_call.h"
#include "argosy/graph/layers/sequence.h"

namespace argosy::nets {

Variable simple_img_conv_pool(const Variable& input, int32_t num_filters, layers::Extent filter_size, layers::Extent pool_size,
                              layers::Extent pool_stride, const ImageConvPoolOptions& options) {
  const Variable image = layers::conv2d(input, num_filters, filter_size,
                                        {.stride = options.conv_stride,
                                         .padding = options.conv_padding,
                                         .dilation = options.conv_dilation,
                                         .groups = options.conv_groups,
                                         .param = options.param,
                                         .bias = options.bias,
                                         .act = options.act});
  return layers::pool2d(image, {.pool_size = pool_size,
                                .pool_type = options.pool_type,
                                .pool_stride = pool_stride,
                                .pool_padding = options.pool_padding,
                                .global_pooling = options.global_pooling});
}

Variable sequence_conv_pool(const Variable& input, int32_t num_filters, int32_t filter_size,
                            const SequenceConvPoolOptions& options) {
  const Variable seen = layers::sequence_conv(
      input, num_filters, {.filter_size = filter_size, .bias = options.bias, .param = options.param, .act = options.act});
  return graph::call("sequence_pool", {seen, graph::Attribute(options.pool_type)})[0];
}

}  // namespace argosy::nets
