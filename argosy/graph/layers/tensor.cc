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

Variable arg_extreme(const char* type, const Variable& x, int32_t axis) {
  LayerHelper helper(type, "");
  return finish(helper, {.type = type, .inputs = {{"X", {x.name()}}}, .attributes = {{"axis", axis}}}, kInt64,
                /*stop_gradient=*/true);
}

Ordered finish_ordered(LayerHelper& helper, OpDesc op, const Variable& input) {
  const Ordered made{.values = helper.create_tmp(input.dtype(), /*stop_gradient=*/true),
                     .indices = helper.create_tmp(kInt64, /*stop_gradient=*/true)};
  op.inputs["X"] = {input.name()};
  op.outputs = {{"Out", {made.values.name()}}, {"Indices", {made.indices.name()}}};
  helper.append_op(std::move(op));
  return made;
}

Variable hot_rows(const char* type, const Variable& input, const Number& depth, bool allow_out_of_range, bool stop_gradient) {
  LayerHelper helper(type, "");
  OpDesc op{.type = type, .inputs = {{"X", {input.name()}}}, .attributes = {{"allow_out_of_range", allow_out_of_range}}};
  if (depth.variable) op.inputs["depth_tensor"] = {depth.variable.name()};
  op.attributes["depth"] = static_cast<int32_t>(depth.value);
  return finish(helper, std::move(op), kFloat32, stop_gradient);
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

Variable cast(const Variable& x, DType dtype) {
  LayerHelper helper("cast", "");
  return finish(helper,
                {.type = "cast",
                 .inputs = {{"X", {x.name()}}},
                 .attributes = {{"in_dtype", number_of(x.dtype())}, {"out_dtype", number_of(dtype)}}},
                dtype);
}

Variable shape(const Variable& input) {
  LayerHelper helper("shape", "");
  return finish(helper, {.type = "shape", .inputs = {{"Input", {input.name()}}}}, kInt32);
}

Variable size(const Variable& input) {
  LayerHelper helper("size", "");
  return finish(helper, {.type = "size", .inputs = {{"Input", {input.name()}}}}, kInt64);
}

Variable argmax(const Variable& x, int32_t axis) { return arg_extreme("arg_max", x, axis); }
Variable argmin(const Variable& x, int32_t axis) { return arg_extreme("arg_min", x, axis); }

Ordered argsort(const Variable& input, int32_t axis, bool descending, const std::string& name) {
  LayerHelper helper("argsort", name);
  return finish_ordered(helper, {.type = "argsort", .attributes = {{"axis", axis}, {"descending", descending}}}, input);
}

Ordered topk(const Variable& input, const Number& k, const std::string& name) {
  LayerHelper helper("top_k", name);
  OpDesc op{.type = "top_k"};
  if (k.variable)
    op.inputs["K"] = {k.variable.name()};
  else
    op.attributes["k"] = static_cast<int32_t>(k.value);
  return finish_ordered(helper, std::move(op), input);
}

Distinct unique(const Variable& x, DType dtype) { return distinct("unique", x, dtype, false); }
Distinct unique_with_counts(const Variable& x, DType dtype) { return distinct("unique_with_counts", x, dtype, true); }

Variable one_hot(const Variable& input, const Number& depth, bool allow_out_of_range) {
  return hot_rows("one_hot", input, depth, allow_out_of_range, /*stop_gradient=*/true);
}
Variable one_hot_v2(const Variable& input, const Number& depth, bool allow_out_of_range) {
  return hot_rows("one_hot_v2", input, depth, allow_out_of_range, /*stop_gradient=*/false);
}

Variable where(const Variable& condition) {
  LayerHelper helper("where_index", "");
  return finish(helper, {.type = "where_index", .inputs = {{"Condition", {condition.name()}}}}, kInt64);
}

Variable where(const Variable& condition, const Variable& x, const Variable& y) {
  LayerHelper helper("where", "");
  return finish(helper, {.type = "where", .inputs = {{"Condition", {condition.name()}}, {"X", {x.name()}}, {"Y", {y.name()}}}},
                x.dtype());
}

Variable gather(const Variable& input, const Variable& index, bool overwrite) {
  LayerHelper helper("gather", "");
  return finish(
      helper,
      {.type = "gather", .inputs = {{"X", {input.name()}}, {"Index", {index.name()}}}, .attributes = {{"overwrite", overwrite}}},
      input.dtype());
}

Variable gather_nd(const Variable& input, const Variable& index, const std::string& name) {
  LayerHelper helper("gather_nd", name);
  return finish(helper, {.type = "gather_nd", .inputs = {{"X", {input.name()}}, {"Index", {index.name()}}}}, input.dtype());
}

Variable scatter(const Variable& input, const Variable& index, const Variable& updates, const std::string& name, bool overwrite) {
  LayerHelper helper("scatter", name);
  return finish(helper,
                {.type = "scatter",
                 .inputs = {{"X", {input.name()}}, {"Ids", {index.name()}}, {"Updates", {updates.name()}}},
                 .attributes = {{"overwrite", overwrite}}},
                input.dtype());
}

}  // namespace argosy::layers
