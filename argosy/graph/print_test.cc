#include "argosy/graph/print.h"

#include <gtest/gtest.h>

namespace argosy::graph {
namespace {

VarDesc input(std::string name = "x") {
  VarDesc x;
  x.name = std::move(name), x.shape = {-1, 4}, x.is_data = true, x.stop_gradient = true;
  return x;
}

// The text that Paddle 1.8.5 prints for fluid.layers.data('x', [4]).
constexpr const char* kInput = R"(name: "x"
type {
  type: LOD_TENSOR
  lod_tensor {
    tensor {
      data_type: FP32
      dims: -1
      dims: 4
    }
    lod_level: 0
  }
}
persistable: false
)";

TEST(Print, AVariable) { EXPECT_EQ(to_string(input()), kInput); }

TEST(Print, AParameterHasNoLodLevel) {
  VarDesc w = input("w");
  w.persistable = true, w.is_data = false, w.parameter = ParameterInfo{};
  EXPECT_EQ(to_string(w).find("lod_level"), std::string::npos);
  EXPECT_NE(to_string(w).find("persistable: true"), std::string::npos);
}

TEST(Print, AnOperatorWithNumbersAsInPython) {
  const OpDesc op{
      .type = "scale",
      .inputs = {{"X", {"x"}}, {"ScaleTensor", {}}},
      .outputs = {{"Out", {"y"}}},
      .attributes = {
          {"bias", 0.0f}, {"names", std::vector<std::string>{}}, {"scale", 0.1f}, {"shape", std::vector<int64_t>{2, 3}}}};
  EXPECT_EQ(to_string(op), R"(inputs {
  parameter: "X"
  arguments: "x"
}
inputs {
  parameter: "ScaleTensor"
}
outputs {
  parameter: "Out"
  arguments: "y"
}
type: "scale"
attrs {
  name: "bias"
  type: FLOAT
  f: 0.0
}
attrs {
  name: "names"
  type: STRINGS
}
attrs {
  name: "scale"
  type: FLOAT
  f: 0.1
}
attrs {
  name: "shape"
  type: LONGS
  longs: 2
  longs: 3
}
)");
}

TEST(Print, AProgramAndItsBlocks) {
  const auto program = Program::create();
  program->global_block().put_var(input());
  const std::string block = to_string(program->global_block());
  EXPECT_EQ(block.find("idx: 0\nparent_idx: -1\nvars {\n  name: \"x\"\n"), 0u) << block;
  const std::string text = program->to_string();
  EXPECT_EQ(text.find("blocks {\n  idx: 0\n  parent_idx: -1\n  vars {\n    name: \"x\"\n"), 0u) << text;
  EXPECT_TRUE(text.ends_with("version {\n  version: 1008005\n}\n")) << text;
}

}  // namespace
}  // namespace argosy::graph
