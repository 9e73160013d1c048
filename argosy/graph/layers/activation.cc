#include "argosy/graph/layers/activation.h"

namespace argosy::layers {

using graph::LayerHelper;

Variable log_softmax(const Variable& input, int32_t axis, std::optional<DType> dtype, const std::string& name) {
  LayerHelper helper("log_softmax", name);
  Variable x = input;
  if (dtype) {
    x = helper.create_tmp(*dtype);
    helper.append_op(
        {.type = "cast",
         .inputs = {{"X", {input.name()}}},
         .outputs = {{"Out", {x.name()}}},
         .attributes = {{"in_dtype", static_cast<int32_t>(input.dtype())}, {"out_dtype", static_cast<int32_t>(*dtype)}}});
  }
  return helper.append_unary("log", helper.append_unary("softmax", x, {{"axis", axis}}));
}

}  // namespace argosy::layers
