#include "argosy/graph/layers/nn.h"

#include "argosy/base/error.h"

namespace argosy::layers {
namespace {

using graph::LayerHelper;
using graph::shape_to_string;

int64_t flattened_width(const Variable& input, int32_t from) {
  int64_t width = 1;
  for (size_t i = static_cast<size_t>(from); i < input.shape().size(); ++i) {
    if (input.shape()[i] < 0) {
      throw Error(Status::invalid_argument(
          "fc: '{}' has shape {}; dimension {} must be known, the weights have one row for each of its values", input.name(),
          shape_to_string(input.shape()), i));
    }
    width *= input.shape()[i];
  }
  return width;
}

Variable multiply(LayerHelper& helper, const Variable& input, int64_t size, int32_t flatten, const ParamAttr& param) {
  const auto rank = static_cast<int32_t>(input.shape().size());
  const int32_t columns = flatten == -1 ? rank - 1 : flatten;
  if (columns < 1 || columns >= rank) {
    throw Error(Status::invalid_argument("fc: num_flatten_dims is {}, but '{}' has shape {}; expected 1 to {}", flatten,
                                         input.name(), shape_to_string(input.shape()), rank - 1));
  }
  const Variable weights = helper.create_parameter(param, {flattened_width(input, columns), size}, input.dtype());
  const Variable product = helper.create_tmp(input.dtype());
  helper.append_op({.type = "mul",
                    .inputs = {{"X", {input.name()}}, {"Y", {weights.name()}}},
                    .outputs = {{"Out", {product.name()}}},
                    .attributes = {{"x_num_col_dims", columns}, {"y_num_col_dims", 1}}});
  return product;
}

Variable sum_of(LayerHelper& helper, const std::vector<Variable>& terms) {
  if (terms.size() == 1) return terms.front();
  std::vector<std::string> names;
  for (const Variable& term : terms) names.push_back(term.name());
  const Variable sum = helper.create_tmp(terms.front().dtype());
  helper.append_op({.type = "sum", .inputs = {{"X", names}}, .outputs = {{"Out", {sum.name()}}}});
  return sum;
}

int64_t padding_row(const std::optional<int64_t>& padding, const std::vector<int64_t>& size) {
  if (!padding) return -1;
  const int64_t row = *padding < 0 ? size[0] + *padding : *padding;
  if (row < 0 || row >= size[0]) {
    throw Error(Status::invalid_argument("embedding: padding_idx {} is outside a table of {} rows", *padding, size[0]));
  }
  return row;
}

void check_table_size(const char* layer, const std::vector<int64_t>& size) {
  if (size.size() != 2 || size[0] <= 0 || size[1] <= 0) {
    throw Error(Status::invalid_argument("{}: size is {}, expected [rows, width]", layer, shape_to_string(size)));
  }
}

// Adds the lookup `op_type` with a table made from `param`; `attributes` are what the callers differ in.
Variable look_up(const std::string& op_type, LayerHelper& helper, const Variable& ids, const std::vector<int64_t>& size,
                 const ParamAttr& param, DType dtype, graph::AttributeMap attributes) {
  const Variable table = helper.create_parameter(param, size, dtype);
  const Variable rows = helper.create_tmp(dtype);
  helper.append_op({.type = op_type,
                    .inputs = {{"Ids", {ids.name()}}, {"W", {table.name()}}},
                    .outputs = {{"Out", {rows.name()}}},
                    .attributes = std::move(attributes)});
  return rows;
}

Variable make_embedding(const std::string& op_type, const Variable& input, const std::vector<int64_t>& size,
                        const EmbeddingOptions& options) {
  check_table_size("embedding", size);
  LayerHelper helper("embedding", "");
  return look_up(op_type, helper, input, size, options.param, options.dtype,
                 {{"is_sparse", options.is_sparse},
                  {"is_distributed", options.is_distributed},
                  {"remote_prefetch", options.is_sparse && !options.is_distributed},
                  {"padding_idx", padding_row(options.padding_idx, size)}});
}

}  // namespace

Variable fc(const Variable& input, int64_t size, const FcOptions& options) {
  return fc(std::vector<Variable>{input}, size, options);
}

Variable fc(const std::vector<Variable>& inputs, int64_t size, const FcOptions& options) {
  if (inputs.empty()) throw Error(Status::invalid_argument("fc: no input was given"));
  if (!options.params.empty() && options.params.size() != inputs.size()) {
    throw Error(Status::invalid_argument("fc: {} inputs, but {} parameter attributes", inputs.size(), options.params.size()));
  }
  LayerHelper helper("fc", options.name);
  std::vector<Variable> products;
  for (size_t i = 0; i < inputs.size(); ++i) {
    products.push_back(
        multiply(helper, inputs[i], size, options.num_flatten_dims, options.params.empty() ? options.param : options.params[i]));
  }
  const Variable sum = sum_of(helper, products);
  const Variable shifted = helper.append_bias(sum, options.bias, static_cast<int32_t>(sum.shape().size()) - 1);
  return helper.append_activation(shifted, options.act);
}

Variable embedding(const Variable& input, const std::vector<int64_t>& size, const EmbeddingOptions& options) {
  return make_embedding("lookup_table", input, size, options);
}

Variable embedding_v2(const Variable& input, const std::vector<int64_t>& size, const EmbeddingOptions& options) {
  return make_embedding("lookup_table_v2", input, size, options);
}

Variable sparse_embedding(const Variable& input, const std::vector<int64_t>& size, const SparseEmbeddingOptions& options) {
  check_table_size("sparse_embedding", size);
  LayerHelper helper("sparse_embedding", "");
  return look_up("lookup_table", helper, input, size, options.param, options.dtype,
                 {{"is_sparse", true},
                  {"is_distributed", true},
                  {"remote_prefetch", true},
                  {"padding_idx", padding_row(options.padding_idx, size)},
                  {"is_test", options.is_test},
                  {"entry", options.entry},
                  {"table_class", options.table_class},
                  {"slot", options.slot}});
}

}  // namespace argosy::layers
