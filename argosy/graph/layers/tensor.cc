#include "argosy/graph/layers/tensor.h"

namespace argosy::layers {

using graph::LayerHelper;
using graph::OpDesc;

namespace {

Variable finish(LayerHelper& helper, OpDesc op, DType dtype, bool stop_gradient = false) {
  const Variable out = helper.create_tmp(dtype, stop_gradient);
  op.outputs["Out"] = {out.name()};
  helper.append_op(std::move(op));
  return out;
}

}  // namespace

Variable where(const Variable& condition) {
  LayerHelper helper("where_index", "");
  return finish(helper, {.type = "where_index", .inputs = {{"Condition", {condition.name()}}}}, kInt64);
}

Variable where(const Variable& condition, const Variable& x, const Variable& y) {
  LayerHelper helper("where", "");
  return finish(helper, {.type = "where", .inputs = {{"Condition", {condition.name()}}, {"X", {x.name()}}, {"Y", {y.name()}}}},
                x.dtype());
}

}  // namespace argosy::layers
