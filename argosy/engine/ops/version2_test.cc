// Operators that programs of PaddlePaddle 2.x have and fluid's layer functions do not write: they come from files, by name.
#include "argosy/engine/ops/case_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers.h"

namespace argosy::engine {
namespace {

namespace L = argosy::layers;

// The operator `type` on variables, as a file would have it.
Variable apply(const std::string& type, graph::SlotMap inputs, graph::AttributeMap attributes = {},
               DType dtype = DType::float64) {
  graph::LayerHelper helper(type, "");
  const Variable out = helper.create_tmp(dtype);
  helper.append_op(
      {.type = type, .inputs = std::move(inputs), .outputs = {{"Out", {out.name()}}}, .attributes = std::move(attributes)});
  return out;
}

class Version2 : public CaseTest {};

const std::vector<Case> kVersion2Products = {
    {.name = "matmul_v2",
     .shapes = {{2, 3, 4}, {5, 4}},
     .build = [](auto& in) { return apply("matmul_v2", {{"X", {in[0].name()}}, {"Y", {in[1].name()}}}, {{"trans_y", true}}); },
     .expected = [](auto& in) { return at::einsum("bij,kj->bik", {in[0], in[1]}); },
     .out_shape = {2, 3, 5},
     .fixed = true},
    {.name = "silu",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return apply("silu", {{"X", {in[0].name()}}}); },
     .expected = [](auto& in) { return in[0] / (1 + (-in[0]).exp()); }},
    {.name = "log_softmax",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return apply("log_softmax", {{"X", {in[0].name()}}}, {{"axis", 1}}); },
     .expected = [](auto& in) { return in[0] - in[0].exp().sum(1, true).log(); }},
    {.name = "softplus_steeper",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return apply("softplus", {{"X", {in[0].name()}}}, {{"beta", 2.0f}, {"threshold", 100.0f}}); },
     .expected = [](auto& in) { return (1 + (2 * in[0]).exp()).log() / 2; }},
    {.name = "squared_l2_norm",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return apply("squared_l2_norm", {{"X", {in[0].name()}}}); },
     .expected = [](auto& in) { return (in[0] * in[0]).sum().view({1}); },
     .out_shape = {1}},
    {.name = "reduce_sum_to_another_type",
     .shapes = {{5, 4}},
     .build =
         [](auto& in) {
           return apply("reduce_sum", {{"X", {in[0].name()}}}, {{"dim", std::vector<int64_t>{1}}, {"out_dtype", 5}});
         },
     .expected = [](auto& in) { return in[0].sum(1).to(at::kFloat); },
     .differentiable = false},
};

const std::vector<Case> kVersion2Shapes = {
    {.name = "flatten_contiguous_range",
     .shapes = {{2, 3, 4, 5}},
     .build =
         [](auto& in) {
           return apply("flatten_contiguous_range", {{"X", {in[0].name()}}}, {{"start_axis", 1}, {"stop_axis", -2}});
         },
     .expected = [](auto& in) { return in[0].view({2, 12, 5}); },
     .out_shape = {-1, 12, 5}},
    {.name = "tile",
     .shapes = {{2, 3}},
     .build = [](auto& in) { return apply("tile", {{"X", {in[0].name()}}}, {{"repeat_times", std::vector<int32_t>{2, 1, 2}}}); },
     .expected = [](auto& in) { return at::stack({at::hstack({in[0], in[0]}), at::hstack({in[0], in[0]})}); },
     .out_shape = {2, -1, 6}},
    {.name = "expand_v2",
     .shapes = {{2, 1}},
     .build = [](auto& in) { return apply("expand_v2", {{"X", {in[0].name()}}}, {{"shape", std::vector<int32_t>{3, -1, 4}}}); },
     .expected = [](auto& in) { return at::stack({in[0], in[0], in[0]}) + at::zeros({4}, at::kDouble); },
     .out_shape = {3, -1, 4}},
    {.name = "expand_as_v2",
     .shapes = {{2, 1}, {2, 3}},
     .build =
         [](auto& in) { return apply("expand_as_v2", {{"X", {in[0].name()}}, {"Y", {L::zeros_like(in[1]).name()}}}) * in[1]; },
     .expected = [](auto& in) { return in[0] * in[1]; }},
    {.name = "flip",
     .shapes = {{2, 3}},
     .build = [](auto& in) { return apply("flip", {{"X", {in[0].name()}}}, {{"axis", std::vector<int32_t>{0}}}); },
     .expected = [](auto& in) { return at::stack({in[0][1], in[0][0]}); }},
    {.name = "gather_of_an_axis",
     .shapes = {{2, 3}},
     .build =
         [](auto& in) {
           const Variable index = L::assign(std::vector<int64_t>{2, 2}, {2});
           return apply("gather", {{"X", {in[0].name()}}, {"Index", {index.name()}}}, {{"axis", 1}});
         },
     .expected = [](auto& in) { return at::stack({in[0].select(1, 2), in[0].select(1, 2)}, 1); },
     .out_shape = {-1, 2}},
    {.name = "index_select",
     .shapes = {{3, 2}},
     .build =
         [](auto& in) {
           const Variable index = L::assign(std::vector<int32_t>{2, 0, 2}, {3});
           return apply("index_select", {{"X", {in[0].name()}}, {"Index", {index.name()}}});
         },
     .expected = [](auto& in) { return at::stack({in[0][2], in[0][0], in[0][2]}); },
     .out_shape = {3, 2}},
    {.name = "cumsum_of_all",
     .shapes = {{2, 3}},
     .build = [](auto& in) { return apply("cumsum", {{"X", {in[0].name()}}}, {{"flatten", true}}); },
     .expected = [](auto& in) { return in[0].flatten().cumsum(0); },
     .out_shape = {-1}},
    {.name = "arg_max_of_all",
     .shapes = {{2, 3}},
     .build = [](auto& in) { return apply("arg_max", {{"X", {in[0].name()}}}, {{"flatten", true}, {"dtype", 2}}, DType::int32); },
     .expected = [](auto& in) { return in[0].argmax().view({1}).to(at::kInt); },
     .out_shape = {1},
     .differentiable = false},
    {.name = "isnan_v2",
     .shapes = {{2, 3}},
     .build = [](auto& in) { return apply("isnan_v2", {{"X", {L::log(in[0]).name()}}}, {}, DType::boolean); },
     .expected = [](auto& in) { return in[0] < 0; },
     .out_shape = {-1, 3},
     .differentiable = false},
};

TEST_P(Version2, IsItsDefinition) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Products, Version2, testing::ValuesIn(kVersion2Products), case_name);
INSTANTIATE_TEST_SUITE_P(Shapes, Version2, testing::ValuesIn(kVersion2Shapes), case_name);

using Version2Order = LayerTest;

TEST_F(Version2Order, TopkAlongAnAxisAndFromBelow) {
  const Variable x = data("x", {3, 2});
  graph::LayerHelper helper("top_k_v2", "");
  const Variable values = helper.create_tmp(DType::float64), places = helper.create_tmp(DType::int64);
  helper.append_op({.type = "top_k_v2",
                    .inputs = {{"X", {x.name()}}},
                    .outputs = {{"Out", {values.name()}}, {"Indices", {places.name()}}},
                    .attributes = {{"k", 2}, {"axis", 0}, {"largest", false}}});
  EXPECT_EQ(values.shape(), (std::vector<int64_t>{2, 2}));
  const Feed feed = {{"x", {.tensor = at::tensor({5.0, 1.0, 3.0, 9.0, 4.0, 2.0}, at::kDouble).view({3, 2})}}};
  EXPECT_TRUE(at::equal(run(feed, values), at::tensor({3.0, 1.0, 4.0, 2.0}, at::kDouble).view({2, 2})));
  EXPECT_TRUE(at::equal(run(feed, places), at::tensor({1, 0, 2, 2}, at::kLong).view({2, 2})));
}

TEST_F(Version2Order, UniqueSortsAndCounts) {
  const Variable x = data("x", {-1}, DType::int64);
  graph::LayerHelper helper("unique", "");
  const Variable values = helper.create_tmp(DType::int64), index = helper.create_tmp(), first = helper.create_tmp(),
                 count = helper.create_tmp();
  helper.append_op(
      {.type = "unique",
       .inputs = {{"X", {x.name()}}},
       .outputs = {{"Out", {values.name()}}, {"Index", {index.name()}}, {"Indices", {first.name()}}, {"Counts", {count.name()}}},
       .attributes = {{"is_sorted", true}, {"dtype", 3}}});
  const auto found =
      run({{"x", {.tensor = at::tensor({5, 3, 5, 1, 3}, at::kLong)}}}, std::vector<Variable>{values, index, first, count});
  EXPECT_TRUE(at::equal(found[0].tensor, at::tensor({1, 3, 5}, at::kLong)));
  EXPECT_TRUE(at::equal(found[1].tensor, at::tensor({2, 1, 2, 0, 1}, at::kLong)));
  EXPECT_TRUE(at::equal(found[2].tensor, at::tensor({3, 1, 0}, at::kLong)));
  EXPECT_TRUE(at::equal(found[3].tensor, at::tensor({1, 2, 2}, at::kLong)));
}

}  // namespace
}  // namespace argosy::engine
