#include "argosy/serve/check/compare.h"

#include <gtest/gtest.h>

#include "argosy/graph/program.h"
#include "argosy/serve/model/served_version.h"

namespace argosy::serve {
namespace {

using testing::Test;

ParameterFacts parameter(std::vector<float> values, std::vector<int64_t> shape) {
  const Tensor tensor = Tensor::copy_of(values, std::move(shape));
  return {.dtype = "float32", .shape = tensor.shape, .digest = digest_of(tensor), .values = tensor};
}

// A side that predicts fixed values.
Side side(const std::string& name, std::vector<double> predicted) {
  Side made{.name = name, .inputs = {{.name = "x", .shape = {-1, 1}}}, .outputs = {{.name = "y", .shape = {-1, 2}}}};
  made.settings = PredictorOptions{};
  made.parameters = std::map<std::string, ParameterFacts>{{"table", parameter({1, 2, 3, 4, 5, 6}, {3, 2})}};
  made.run = [predicted](const Inputs&) -> Result<std::vector<OutputValues>> {
    return std::vector<OutputValues>{{"y", predicted}};
  };
  return made;
}

const Inputs kTwo = {{"x", Tensor::copy_of(std::vector<float>{1, 2}, {2, 1})}};

TEST(Compare, EqualSidesHaveNoDifferences) {
  const Side a = side("A", {0.1, 0.9, 0.5, 0.5}), b = side("B", {0.1, 0.9, 0.5, 0.500001});
  EXPECT_TRUE(compare_inputs(a, b).differences.empty());
  EXPECT_TRUE(compare_parameters(a, b, {}).differences.empty());
  EXPECT_TRUE(compare_settings(a, b).differences.empty());
  EXPECT_TRUE(compare_predictions(a, b, kTwo, {})->differences.empty());
}

TEST(Compare, APredictionIsNamedByOutputSampleAndValue) {
  const auto section = compare_predictions(side("A", {0.1, 0.9, 0.5, 0.5}), side("B", {0.1, 0.9, 0.4, 0.6}), kTwo, {});
  ASSERT_TRUE(section.ok());
  EXPECT_EQ(section->differences, (std::vector<std::string>{"output 'y', sample 1, value 0: 0.5 against 0.4",
                                                            "output 'y', sample 1, value 1: 0.5 against 0.6"}));
  EXPECT_NE(section->summary.find("2 samples, largest difference 0.1"), std::string::npos) << section->summary;
  const auto named = compare_predictions(side("A", {1, 1, 1, 2}), side("B", {1, 1, 1, 1}), kTwo, {.ids = {"p:1", "p:2"}});
  EXPECT_EQ(named->differences, std::vector<std::string>{"output 'y', sample 1 (p:2), value 1: 2 against 1"});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(compare_predictions(side("A", {nan, 1, 1, 1}), side("B", {0, 1, 1, 1}), kTwo, {})->differences.size(), 1u);
}

TEST(Compare, AParameterIsNamedByKeyAndColumn) {
  const Side a = side("A", {});
  Side b = side("B", {});
  (*b.parameters)["table"] = parameter({1, 2, 3, 4.5, 5, 7}, {3, 2});
  (*b.parameters)["more"] = parameter({1}, {1});
  const auto section = compare_parameters(a, b, {});
  ASSERT_EQ(section.differences.size(), 2u);
  EXPECT_EQ(section.differences[0],
            "'table': 2 of 3 rows differ, the first is key 1; most at key 2, column 1: 6 against 7 (by 1)");
  EXPECT_EQ(section.differences[1], "'more': is in B alone");
  (*b.parameters)["table"] = parameter({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(compare_parameters(a, b, {}).differences[0], "'table': float32 [3, 2] against float32 [2, 3]");
  (*b.parameters)["table"] = parameter({1, 2, 3, 4, 5, 6.0000010f}, {3, 2});
  EXPECT_EQ(compare_parameters(a, b, {.parameter_tolerance = 1e-5}).differences.size(), 1u);  // 'more' alone
  (*b.parameters)["table"] = {.dtype = "float32", .shape = {3, 2}, .digest = 1, .values = std::nullopt};
  EXPECT_NE(compare_parameters(a, b, {}).differences[0].find("checksums of its values differ"), std::string::npos);
}

// Each of them alone makes two sides different: fusion and threads change in which order sums are made.
TEST(Compare, EachSettingIsNamed) {
  const Side a = side("A", {});
  const auto differences = [&a](const PredictorOptions& options) {
    Side b = side("B", {});
    b.settings = options;
    return compare_settings(a, b).differences;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(differences({}), Lines{});
  EXPECT_EQ(differences({.fuse = false}), Lines{"fusion: on against off"});
  EXPECT_EQ(differences({.threads = 4}), Lines{"threads: 1 against 4"});
  EXPECT_EQ(differences({.threads = 2, .fuse = false, .bfloat16_matmul = true}),
            (Lines{"precision: float32 against bfloat16", "fusion: on against off", "threads: 1 against 2"}));
}

TEST(Compare, InputsAndPrecisionAreNamed) {
  const Side a = side("A", {});
  Side b = side("B", {});
  b.inputs = {{.name = "x", .dtype = graph::DType::int64, .shape = {-1, 1}}, {.name = "z"}};
  b.settings->bfloat16_matmul = true;
  EXPECT_EQ(compare_inputs(a, b).differences,
            (std::vector<std::string>{"'x' is float32 [-1, 1] against int64 [-1, 1]", "'z' is an input of B alone"}));
  EXPECT_EQ(compare_settings(a, b).differences, std::vector<std::string>{"precision: float32 against bfloat16"});
}

TEST(Compare, AnOperatorIsNamedByItsPlaceAndWhatDiffers) {
  const auto program = [](float scale, const char* type) {
    const auto made = graph::Program::create();
    made->global_block().append_op_unchecked({.type = "scale",
                                              .inputs = {{"X", {"x"}}},
                                              .outputs = {{"Out", {"y"}}},
                                              .attributes = {{"scale", scale}, {"op_role", int32_t{0}}}});
    made->global_block().append_op_unchecked(
        {.type = type, .inputs = {{"X", {"y"}}}, .outputs = {{"Out", {"z"}}}, .attributes = {}});
    return made;
  };
  const auto one = program(1, "relu"), same = program(1, "relu"), scaled = program(2, "relu"), other = program(1, "tanh");
  Side a = side("A", {}), b = side("B", {});
  a.program = one.get();
  b.program = same.get();
  EXPECT_TRUE(compare_programs(a, b, {}).differences.empty());
  b.program = scaled.get();
  ASSERT_EQ(compare_programs(a, b, {}).differences.size(), 1u);
  EXPECT_NE(compare_programs(a, b, {}).differences[0].find("operator 0: 'scale': attribute scale: 1"), std::string::npos);
  b.program = other.get();
  EXPECT_EQ(compare_programs(a, b, {}).differences, std::vector<std::string>{"operator 1: 'relu' against 'tanh'"});
}

TEST(Compare, ASideThatCannotPredictIsAnError) {
  Side broken = side("B", {});
  broken.run = [](const Inputs&) -> Result<std::vector<OutputValues>> { return Status::unavailable("gone"); };
  EXPECT_EQ(compare_predictions(side("A", {}), broken, kTwo, {}).status().message(), "B: gone");
}

}  // namespace
}  // namespace argosy::serve
