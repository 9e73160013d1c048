#include "argosy/graph/layers/tensor.h"

namespace argosy::layers {

using graph::LayerHelper;
using graph::OpDesc;

namespace {

int32_t number_of(DType dtype) { return static_cast<int32_t>(dtype); }

Variable finish(LayerHelper& helper, OpDesc op, DType dtype, bool stop_gradient = false) {
  const Variable out = helper.create_tmp(dtype, stop_gradient);
  op.outputs["Out"] = {out.name()};
  helper.append_op(std::move(op));
  return out;
}

Distinct distinct(const char* type, const Variable& x, DType dtype, bool with_counts) {
  LayerHelper helper(type, "");
  Distinct made{.values = helper.create_tmp(x.dtype()), .index = helper.create_tmp(dtype), .count = {}};
  OpDesc op{.type = type,
            .inputs = {{"X", {x.name()}}},
            .outputs = {{"Out", {made.values.name()}}, {"Index", {made.index.name()}}},
            .attributes = {{"dtype", number_of(dtype)}}};
  if (with_counts) {
    made.count = helper.create_tmp(dtype);
    op.outputs["Count"] = {made.count.name()};
  }
  helper.append_op(std::move(op));
  return made;
}

}  // namespace

Distinct unique(const Variable& x, DType dtype) { return distinct("unique", x, dtype, false); }
Distinct unique_with_counts(const Variable& x, DType dtype) { return distinct("unique_with_counts", x, dtype, true); }

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
