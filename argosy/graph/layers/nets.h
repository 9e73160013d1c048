#pragma once

#include <string>

#include "argosy/graph/layers/nn.h"

// Layers that belong together, as fluid.nets has them. See nn.h for what holds for all layer functions.
namespace argosy::nets {

struct ImageConvPoolOptions {
  layers::Padding pool_padding = 0;
  std::string pool_type = "max";
  bool global_pooling = false;
  layers::Extent conv_stride = 1;
  layers::Padding conv_padding = 0;
  layers::Extent conv_dilation = 1;
  int32_t conv_groups = 1;
  ParamAttr param, bias;
  std::string act;
};
// conv2d and pool2d.
Variable simple_img_conv_pool(const Variable& input, int32_t num_filters, layers::Extent filter_size, layers::Extent pool_size,
                              layers::Extent pool_stride, const ImageConvPoolOptions& options = {});

struct SequenceConvPoolOptions {
  ParamAttr param;
  std::string act = "sigmoid";
  std::string pool_type = "max";
  ParamAttr bias;
};
// sequence_conv and sequence_pool.
Variable sequence_conv_pool(const Variable& input, int32_t num_filters, int32_t filter_size,
                            const SequenceConvPoolOptions& options = {});

}  // namespace argosy::nets
