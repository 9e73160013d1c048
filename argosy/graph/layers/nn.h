#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Layer functions of neural networks. Each adds operators to the default main program and the first values of its parameters
// to the default startup program, and returns what it computes. Names, operators and shapes are those of fluid.layers.
// They throw argosy::Error for arguments that do not fit, and are confined to the building thread.
namespace argosy::layers {

struct FcOptions {
  int32_t num_flatten_dims = 1;    // the first so many dimensions are rows; -1: all but the last
  ParamAttr param;                 // the weights; of each input where there are several
  ParamAttr bias;
  std::string act;                 // the type of an activation operator; none where empty
  std::string name;
  std::vector<ParamAttr> params;   // of each input its own; `param` is then not used
};
// act(sum of input @ weights + bias).
Variable fc(const Variable& input, int64_t size, const FcOptions& options = {});
Variable fc(const std::vector<Variable>& inputs, int64_t size, const FcOptions& options = {});

struct EmbeddingOptions {
  bool is_sparse = false;              // the gradient holds only the rows of the batch
  bool is_distributed = false;         // the table lives on parameter servers
  std::optional<int64_t> padding_idx;  // this id gives zeros and learns nothing; negative: from the end of the table
  ParamAttr param;
  DType dtype = DType::float32;
};
// Rows of a table of `size` [rows, width] by id. The last dimension of the ids is 1 and is dropped.
Variable embedding(const Variable& input, const std::vector<int64_t>& size, const EmbeddingOptions& options = {});
// As in fluid.embedding and paddle.static.nn.embedding: the ids keep all their dimensions.
Variable embedding_v2(const Variable& input, const std::vector<int64_t>& size, const EmbeddingOptions& options = {});

struct SparseEmbeddingOptions {
  std::optional<int64_t> padding_idx;
  bool is_test = false;                // a lookup makes no new rows on the servers
  std::string entry = "none";          // which new keys a server admits, such as "count_filter_entry:3"
  std::string table_class = "MemorySparseTable";
  ParamAttr param;
  DType dtype = DType::float32;
  int32_t slot = 0;                    // recorded beside the rows
};
// A table that lives on the parameter servers. `size` gives its width; the number of rows is not a bound there.
Variable sparse_embedding(const Variable& input, const std::vector<int64_t>& size, const SparseEmbeddingOptions& options = {});

struct DropoutOptions {
  bool is_test = false;
  std::optional<int32_t> seed;  // the same values are dropped in every run
  std::string name;
  std::string dropout_implementation = "downgrade_in_infer";  // or "upscale_in_train"
};
// Sets the part `dropout_prob` of the values to zero while training.
Variable dropout(const Variable& x, float dropout_prob, const DropoutOptions& options = {});

struct BatchNormOptions {
  std::string act;
  bool is_test = false;
  float momentum = 0.9f;
  float epsilon = 1e-5f;
  ParamAttr param, bias;
  std::string data_layout = "NCHW";
  bool in_place = false;  // the input variable takes the result
  std::string name;
  std::string moving_mean_name, moving_variance_name;  // generated where empty
  std::optional<bool> do_model_average_for_mean_and_var;  // see ParamAttr::do_model_average
  bool use_global_stats = false;                       // train with the running statistics
};
// Every channel scaled to mean 0 and variance 1 over the batch, then by two parameters of its own.
Variable batch_norm(const Variable& input, const BatchNormOptions& options = {});

struct LayerNormOptions {
  bool scale = true, shift = true;  // whether there are such parameters
  int32_t begin_norm_axis = 1;
  float epsilon = 1e-5f;
  ParamAttr param, bias;
  std::string act;
  std::string name;
};
// Every sample scaled to mean 0 and variance 1, then by parameters.
Variable layer_norm(const Variable& input, const LayerNormOptions& options = {});

// Height and width; one number is both.
struct Extent {
  Extent(int32_t both) : height(both), width(both) {}
  Extent(int32_t h, int32_t w) : height(h), width(w) {}

  int32_t height, width;
};

// Pixels around an image: one number, {height, width} or {top, bottom, left, right}; or "SAME", "VALID".
struct Padding {
  Padding(int32_t all) : pixels{all, all} {}
  Padding(std::initializer_list<int32_t> each) : Padding(std::vector<int32_t>(each)) {}
  Padding(std::vector<int32_t> each);
  Padding(const char* name);
  Padding(const std::string& name) : Padding(name.c_str()) {}

  std::vector<int32_t> pixels;  // two or four
  std::string algorithm = "EXPLICIT";
};

struct Conv2dOptions {
  Extent stride = 1;
  Padding padding = 0;
  Extent dilation = 1;
  int32_t groups = 1;
  ParamAttr param, bias;
  bool use_cudnn = true;  // false: a convolution with one group a channel is recorded as depthwise_conv2d
  std::string act;
  std::string name;
  std::string data_format = "NCHW";
};
Variable conv2d(const Variable& input, int32_t num_filters, Extent filter_size, const Conv2dOptions& options = {});

struct Conv2dTransposeOptions {
  std::optional<Extent> output_size;  // one of the two must be given
  std::optional<Extent> filter_size;
  Padding padding = 0;
  Extent stride = 1;
  Extent dilation = 1;
  int32_t groups = 1;
  ParamAttr param, bias;
  bool use_cudnn = true;
  std::string act;
  std::string name;
  std::string data_format = "NCHW";
};
Variable conv2d_transpose(const Variable& input, int32_t num_filters, const Conv2dTransposeOptions& options);

struct Pool2dOptions {
  Extent pool_size = -1;
  std::string pool_type = "max";  // or "avg"
  Extent pool_stride = 1;
  Padding pool_padding = 0;
  bool global_pooling = false;  // over the whole image; pool_size is then not needed
  bool ceil_mode = false;
  std::string name;
  bool exclusive = true;
  std::string data_format = "NCHW";
};
Variable pool2d(const Variable& input, const Pool2dOptions& options);

struct AdaptivePool2d {
  Variable out, index;  // index: of max only
};
// The result has `pool_size` pixels, whatever the input has.
AdaptivePool2d adaptive_pool2d(const Variable& input, Extent pool_size, const std::string& pool_type = "max",
                               const std::string& name = "");

// `input` rows begin with two counts, shows and clicks. use_cvm turns them into log(shows + 1) and the logarithm of the click
// rate, else they are dropped. `cvm` are the counts of each sample, which the gradient carries to the table in their place.
Variable continuous_value_model(const Variable& input, const Variable& cvm, bool use_cvm = true);

}  // namespace argosy::layers
