#pragma once

// For this room's tests, which link no engine: small descriptions of the operators that they build with, and a fixture with
// programs of its own.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "argosy/base/error.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layer_helper.h"
#include "argosy/graph/op_schema.h"
#include "argosy/optim/rule.h"

namespace argosy::graph {

inline SlotSchema slot(std::string name, bool list = false, bool optional = false) {
  return {.name = std::move(name), .doc = "a test's", .list = list, .optional = optional};
}

inline AttributeSchema attr(std::string name, Attribute value) {
  return {.name = std::move(name), .doc = "", .value = std::move(value)};
}

inline Status matmul_shape(ShapeContext& context) {
  const auto& x = context.input("X").shape;
  const auto& y = context.input("Y").shape;
  if (x.back() != y.front()) {
    return Status::invalid_argument("X {} and Y {} do not fit", shape_to_string(x), shape_to_string(y));
  }
  context.set_output("Out", {x.front(), y.back()}, context.input("X").dtype);
  return {};
}

inline Status one_number(ShapeContext& context) {
  context.set_output("Out", {1}, DType::float32);
  return {};
}

inline Status lookup_shape(ShapeContext& context) {
  context.set_output("Out", {-1, context.input("W").shape[1]}, context.input("W").dtype, context.input("Ids").lod_level);
  return {};
}

inline void add_rule_schemas(OpSchemas& schemas) {
  for (const optim::RuleInfo& info : optim::all_rules()) {
    OpSchema schema{
        .type = std::string(info.op_type), .doc = "", .inputs = {slot("Param"), slot("Grad")}, .outputs = {slot("ParamOut")}};
    if (info.uses_learning_rate || !info.rate_switch.empty()) {
      schema.inputs.push_back({.name = "LearningRate", .doc = "", .optional = !info.uses_learning_rate});
    }
    for (const optim::StateSlot& state : info.states) {
      schema.inputs.push_back(slot(std::string(state.op_slot)));
      if (!state.op_output.empty()) schema.outputs.push_back(slot(std::string(state.op_output)));
    }
    for (const optim::HyperParameter& parameter : info.hyper_parameters) {
      const bool boolean = parameter.kind == optim::HyperParameter::boolean;
      if (parameter.is_attribute) {
        schema.attributes.push_back(
            attr(std::string(parameter.name), boolean ? Attribute(false) : Attribute(parameter.default_value)));
      }
    }
    schema.attributes.push_back(attr("lazy_mode", true));
    schemas.add(std::move(schema));
  }
}

inline bool register_test_ops() {
  OpSchemas& schemas = OpSchemas::instance();
  const std::vector<int64_t> no_shape;
  const auto fill = [&](const char* type, std::vector<AttributeSchema> attributes) {
    attributes.push_back(attr("shape", no_shape));
    attributes.push_back(attr("dtype", 5));
    schemas.add({.type = type, .doc = "", .inputs = {}, .outputs = {slot("Out")}, .attributes = std::move(attributes)});
  };
  fill("fill_constant", {attr("value", 0.0f)});
  fill("uniform_random", {attr("min", -1.0f), attr("max", 1.0f), attr("seed", 0)});
  fill("gaussian_random", {attr("mean", 0.0f), attr("std", 1.0f), attr("seed", 0)});
  const SlotSchema x = slot("X"), out = slot("Out");
  schemas.add(
      {.type = "mul", .doc = "", .inputs = {x, slot("Y")}, .outputs = {out}, .attributes = {}, .infer_shape = matmul_shape});
  schemas.add({.type = "elementwise_add",
               .doc = "",
               .inputs = {x, slot("Y")},
               .outputs = {out},
               .attributes = {attr("axis", -1)},
               .infer_shape = same_shape_as_x});
  schemas.add({.type = "relu", .doc = "", .inputs = {x}, .outputs = {out}, .attributes = {}, .infer_shape = same_shape_as_x});
  schemas.add({.type = "dropout",
               .doc = "",
               .inputs = {x},
               .outputs = {out, slot("Mask", false, true)},
               .attributes = {attr("dropout_prob", 0.5f), attr("is_test", false)},
               .infer_shape = same_shape_as_x});
  schemas.add({.type = "scale",
               .doc = "",
               .inputs = {x},
               .outputs = {out},
               .attributes = {attr("scale", 1.0f)},
               .infer_shape = same_shape_as_x});
  schemas.add({.type = "increment",
               .doc = "",
               .inputs = {x},
               .outputs = {out},
               .attributes = {attr("step", 1.0f)},
               .infer_shape = same_shape_as_x});
  schemas.add({.type = "concat",
               .doc = "",
               .inputs = {slot("X", true)},
               .outputs = {out},
               .attributes = {attr("axis", 0), attr("sections", no_shape)},
               .infer_shape = same_shape_as_x});
  schemas.add({.type = "mean", .doc = "", .inputs = {x}, .outputs = {out}, .attributes = {}, .infer_shape = one_number});
  schemas.add({.type = "lookup_table",
               .doc = "",
               .inputs = {slot("W"), slot("Ids")},
               .outputs = {out},
               .attributes = {attr("is_sparse", false)},
               .infer_shape = lookup_shape});
  schemas.add({.type = "backward",
               .doc = "",
               .inputs = {slot("Targets", true), slot("TargetGradients", true, true), slot("Inputs", true)},
               .outputs = {slot("InputGradients", true)},
               .attributes = {attr("no_grad_set", std::vector<std::string>{})}});
  schemas.add({.type = "clip_gradients",
               .doc = "",
               .inputs = {slot("X", true)},
               .outputs = {slot("Out", true)},
               .attributes = {attr("kind", std::string()), attr("min", 0.0f), attr("max", 0.0f), attr("clip_norm", 0.0f)}});
  schemas.add({.type = "regularize_gradient",
               .doc = "",
               .inputs = {slot("Param"), slot("Grad")},
               .outputs = {out},
               .attributes = {attr("kind", std::string()), attr("coeff", 0.0f)}});
  schemas.add({.type = "learning_rate_schedule",
               .doc = "",
               .inputs = {slot("Step")},
               .outputs = {out},
               .attributes = {attr("kind", std::string()), attr("floats", std::vector<float>{}), attr("ints", no_shape)},
               .infer_shape = one_number});
  add_rule_schemas(schemas);
  return true;
}

// A test with fresh default programs and names.
class GraphTest : public ::testing::Test {
 protected:
  GraphTest() { [[maybe_unused]] static const bool once = register_test_ops(); }

  Block& block() { return main_->global_block(); }

  Variable data(const std::string& name, std::vector<int64_t> shape, DType dtype = DType::float32) {
    VarDesc desc;
    desc.name = name, desc.shape = std::move(shape), desc.dtype = dtype, desc.is_data = true, desc.stop_gradient = true;
    return Variable(main_, block(), block().put_var(std::move(desc)));
  }

  // A layer as fluid's fc: weight, bias, activation.
  Variable fc(const Variable& x, int64_t width, const ParamAttr& weight = {}, const ParamAttr& bias = {},
              const std::string& act = "") {
    LayerHelper helper("fc", "");
    const Variable w = helper.create_parameter(weight, {x.shape().back(), width}, x.dtype());
    const Variable out = helper.create_tmp(x.dtype());
    helper.append_op({.type = "mul", .inputs = {{"X", {x.name()}}, {"Y", {w.name()}}}, .outputs = {{"Out", {out.name()}}}});
    return helper.append_activation(helper.append_bias(out, bias, 1), act);
  }

  Variable embedding(const Variable& ids, std::vector<int64_t> size, bool is_sparse, const ParamAttr& table = {}) {
    LayerHelper helper("embedding", "");
    const Variable w = helper.create_parameter(table, std::move(size), DType::float32);
    const Variable out = helper.create_tmp();
    helper.append_op({.type = "lookup_table",
                      .inputs = {{"W", {w.name()}}, {"Ids", {ids.name()}}},
                      .outputs = {{"Out", {out.name()}}},
                      .attributes = {{"is_sparse", is_sparse}}});
    return out;
  }

  Variable mean(const Variable& x) { return LayerHelper("mean", "").append_unary("mean", x); }

  Variable parameter(const std::string& name) { return Variable(main_, block(), *block().find_var(name)); }

  static std::vector<std::string> op_types(const Program& program) {
    std::vector<std::string> types;
    for (const auto& op : program.global_block().ops()) types.push_back(op->type);
    return types;
  }

  const OpDesc& last_op(const std::string& type) {
    const OpDesc* found = nullptr;
    for (const auto& op : block().ops()) {
      if (op->type == type) found = op.get();
    }
    EXPECT_NE(found, nullptr) << type;
    static const OpDesc none;
    return found == nullptr ? none : *found;
  }

  std::shared_ptr<Program> main_ = Program::create(), startup_ = Program::create();
  ProgramGuard programs_{main_, startup_};
  UniqueNameGuard names_;
};

// What an argosy::Error says.
template <typename Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace argosy::graph
