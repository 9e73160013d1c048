#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/graph/layer_helper.h"

// Layer functions of neural networks. Each adds operators to the default main program and the first values of its parameters
// to the default startup program, and returns what it computes. Names, operators and shapes are those of fluid.layers.
// They throw argosy::Error for arguments that do not fit, and are confined to the building thread.
namespace argosy::layers {

using graph::DType;
using graph::ParamAttr;
using graph::Variable;

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

}  // namespace argosy::layers
