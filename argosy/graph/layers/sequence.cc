#include "argosy/graph/layers/sequence.h"

#include <algorithm>
#include <cctype>

namespace argosy::layers {

using graph::LayerHelper;

Variable sequence_pool(const Variable& input, const std::string& pool_type, const SequencePoolOptions& options) {
  LayerHelper helper("sequence_pool", "");
  std::string kind = pool_type;
  std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  const Variable out = helper.create_tmp(input.dtype());
  const Variable max_index = helper.create_tmp(input.dtype());
  helper.append_op({.type = "sequence_pool",
                    .inputs = {{"X", {input.name()}}},
                    .outputs = {{"Out", {out.name()}}, {"MaxIndex", {max_index.name()}}},
                    .attributes = {{"pooltype", kind}, {"is_test", options.is_test}, {"pad_value", options.pad_value}}});
  if (kind == "MAX") max_index.desc().stop_gradient = true;
  return out;
}

Variable sequence_first_step(const Variable& input) { return sequence_pool(input, "first"); }
Variable sequence_last_step(const Variable& input) { return sequence_pool(input, "last"); }

}  // namespace argosy::layers
