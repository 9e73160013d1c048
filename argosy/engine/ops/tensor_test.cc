// Making, converting, ordering and indexing tensors.
#include "argosy/engine/ops/case_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers.h"

namespace argosy::engine {
namespace {

namespace L = argosy::layers;
using Shape = std::vector<int64_t>;

at::Tensor ints(std::vector<int64_t> values) { return at::tensor(values, at::kInt); }

class TensorCase : public CaseTest {};

Variable given(std::vector<int64_t> values, Shape shape) { return L::assign(values, std::move(shape)); }

const std::vector<Case> kTensorCases = {
    {.name = "assign",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::assign(in[0]); },
     .expected = [](auto& in) { return in[0]; },
     .out_name = "assign_0.tmp_0",
     .out_shape = {-1, 4}},
    {.name = "cast",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::cast(in[0], kInt64); },
     .expected = [](auto& in) { return in[0].trunc().to(at::kLong); },
     .out_name = "cast_0.tmp_0",
     .low = -9,
     .high = 9,
     .differentiable = false},
    {.name = "argmax",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::argmax(in[0], -1); },
     .expected = [](auto& in) { return std::get<1>(in[0].max(-1)); },
     .out_name = "arg_max_0.tmp_0",
     .out_shape = {-1, 3},
     .differentiable = false},
    {.name = "argmin_of_a_line",
     .shapes = {{7}},
     .build = [](auto& in) { return L::argmin(in[0]); },
     .expected = [](auto& in) { return std::get<1>(in[0].min(0)).view({1}); },
     .out_name = "arg_min_0.tmp_0",
     .out_shape = {1},
     .differentiable = false},
    {.name = "argsort_indices",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::argsort(in[0], 0, true).indices; },
     .expected = [](auto& in) { return std::get<1>(at::sort(in[0], int64_t{0}, true)); },
     .out_name = "argsort_0.tmp_1",
     .differentiable = false},
    {.name = "where",
     .shapes = {{5, 4}, {5, 4}},
     .build = [](auto& in) { return L::where(L::less_than(in[0], in[1]), in[0], in[1]); },
     .expected = [](auto& in) { return at::minimum(in[0], in[1]); },
     .out_name = "where_0.tmp_0"},
    {.name = "where_index",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::where(in[0] > L::fill_constant({1}, kFloat64, 0.0)); },
     .expected = [](auto& in) { return (in[0] > 0).nonzero(); },
     .out_name = "where_index_0.tmp_0",
     .out_shape = {-1, 2},
     .differentiable = false},
    {.name = "gather",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::gather(in[0], given({4, 0, 2}, {3, 1})); },
     .expected = [](auto& in) { return at::stack({in[0][4], in[0][0], in[0][2]}); },
     .out_name = "gather_0.tmp_0",
     .out_shape = {3, 4}},
    {.name = "gather_adds_gradients_up",
     .shapes = {{2, 3}},
     .build = [](auto& in) { return L::gather(in[0], given({1, 1, 0, 1}, {4}), false); },
     .expected = [](auto& in) { return at::stack({in[0][1], in[0][1], in[0][0], in[0][1]}); }},
    {.name = "gather_nd",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::gather_nd(in[0], given({1, 2, 0, 0, 1, 2}, {3, 2})); },
     .expected = [](auto& in) { return at::stack({in[0][1][2], in[0][0][0], in[0][1][2]}); },
     .out_name = "gather_nd_0.tmp_0",
     .out_shape = {3, 4}},
    {.name = "scatter",
     .shapes = {{4, 2}, {2, 2}},
     .build = [](auto& in) { return L::scatter(in[0], given({3, 1}, {2}), in[1]); },
     .expected = [](auto& in) { return at::stack({in[0][0], in[1][1], in[0][2], in[1][0]}); },
     .out_name = "scatter_0.tmp_0",
     .out_shape = {-1, 2}},
    {.name = "scatter_adds_up",
     .shapes = {{3, 2}, {2, 2}},
     .build = [](auto& in) { return L::scatter(in[0], given({1, 1}, {2}), in[1], /*overwrite=*/false); },
     .expected = [](auto& in) { return at::stack({in[0][0], in[1][0] + in[1][1], in[0][2]}); }},
};

TEST_P(TensorCase, IsItsDefinition) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, TensorCase, testing::ValuesIn(kTensorCases), case_name);

class Tensors : public CaseTest {};

// fluid's gather keeps the gradient of the last occurrence of an index unless it is told to add.
TEST_F(Tensors, GatherOverwritesGradientsOfEqualIndices) {
  const Variable x = data("x", {-1, 1}), seed = data("seed", {-1, 1});
  const Variable out = L::gather(x, given({1, 1, 0, 1}, {4}));
  const auto grads = graph::gradients({out}, {x}, {seed});
  const Feed feed = {{"x", {.tensor = at::rand({3, 1}, at::kDouble)}}, {"seed", {.tensor = doubles({1, 2, 3, 4}).view({4, 1})}}};
  EXPECT_TRUE(at::equal(run(feed, grads[0]), doubles({3, 4, 0}).view({3, 1})));
}

TEST_F(Tensors, IndicesOutsideAreNamed) {
  const Variable index = data("index", {-1}, DType::int64), x = data("x", {-1, 2});
  const Variable rows = L::gather(x, index);
  Feed feed = {{"index", {.tensor = longs({0, 7})}}, {"x", {.tensor = at::rand({5, 2}, at::kDouble)}}};
  EXPECT_NE(error_of(feed, rows)
                .find("variable 'index': index 7 at position 1 is outside dimension 0 of variable 'x', which has 5 entries"),
            std::string::npos)
      << error_of(feed, rows);
  feed["index"].tensor = longs({4, -1});
  EXPECT_NE(error_of(feed, rows).find("index -1 at position 1"), std::string::npos);
}

TEST_F(Tensors, AHotRowOutsideIsNamed) {
  const Variable hot = L::one_hot_v2(data("ids", {-1}, DType::int64), 3);
  const std::string message = error_of({{"ids", {.tensor = longs({2, 3})}}}, hot);
  EXPECT_NE(message.find("variable 'ids': index 3 at position 1 is outside the depth, which has 3 entries"), std::string::npos)
      << message;
}

TEST_F(Tensors, OneHot) {
  const Variable ids = data("ids", {-1, 1}, DType::int64);
  const Variable rows = L::one_hot(ids, 3, /*allow_out_of_range=*/true),
                 kept = L::one_hot_v2(ids, L::fill_constant({1}, kInt32, 3), true);
  EXPECT_EQ(rows.name(), "one_hot_0.tmp_0");
  EXPECT_EQ(rows.shape(), (Shape{-1, 3}));
  EXPECT_EQ(kept.shape(), (Shape{-1, 1, -1}));
  const Feed feed = {{"ids", {.tensor = longs({2, 9, 0}).view({3, 1})}}};
  const at::Tensor expected = at::tensor({0, 0, 1, 0, 0, 0, 1, 0, 0}, at::kFloat).view({3, 3});
  EXPECT_TRUE(at::equal(run(feed, rows), expected));
  EXPECT_TRUE(at::equal(run(feed, kept), expected.unsqueeze(1)));
}

TEST_F(Tensors, TopkGivesTheLargestFirst) {
  const Variable x = data("x", {-1, 4});
  const L::Ordered fixed = L::topk(x, 2), computed = L::topk(x, L::fill_constant({1}, kInt32, 3));
  EXPECT_EQ(fixed.values.name(), "top_k_0.tmp_0");
  EXPECT_EQ(fixed.indices.shape(), (Shape{-1, 2}));
  EXPECT_TRUE(fixed.values.stop_gradient());
  const Feed feed = {{"x", {.tensor = doubles({3, 1, 4, 2}).view({1, 4})}}};
  EXPECT_TRUE(at::equal(run(feed, fixed.values), doubles({4, 3}).view({1, 2})));
  EXPECT_TRUE(at::equal(run(feed, fixed.indices), longs({2, 0}).view({1, 2})));
  EXPECT_TRUE(at::equal(run(feed, computed.values), doubles({4, 3, 2}).view({1, 3})));
  EXPECT_THROW(L::topk(x, 5), Error);
}

TEST_F(Tensors, DistinctValuesInOrderOfOccurrence) {
  const Variable x = data("x", {5}, DType::int64);
  const L::Distinct found = L::unique(x, kInt64);
  const L::CountedDistinct counted = L::unique_with_counts(x);
  EXPECT_EQ(found.index.shape(), (Shape{5}));
  const Feed feed = {{"x", {.tensor = longs({5, 3, 5, 1, 3})}}};
  EXPECT_TRUE(at::equal(run(feed, found.values), longs({5, 3, 1})));
  EXPECT_TRUE(at::equal(run(feed, found.index), longs({0, 1, 0, 2, 1})));
  EXPECT_TRUE(at::equal(run(feed, counted.count), ints({2, 2, 1})));
}

TEST_F(Tensors, ConstantsAndRanges) {
  const Variable x = data("x", {-1, 4});
  const std::vector<std::pair<Variable, at::Tensor>> expected = {
      {L::fill_constant({2, 3}, kFloat32, 1.5), at::full({2, 3}, 1.5, at::kFloat)},
      {L::fill_constant({1}, kInt64, 9007199254740991.0), longs({9007199254740991})},
      {L::fill_constant({2}, kBool, 1), at::ones({2}, at::kBool)},
      {L::fill_constant(L::shape(x), kFloat64, 2.0), at::full({5, 4}, 2.0, at::kDouble)},
      {L::fill_constant({L::fill_constant({1}, kInt32, 3), 2}, kFloat32, 1.0), at::ones({3, 2})},
      {L::fill_constant({2}, kFloat32, L::fill_constant({1}, kFloat32, 7)), at::full({2}, 7, at::kFloat)},
      {L::zeros({2}, kInt32), ints({0, 0})},
      {L::ones({2}, kInt32), ints({1, 1})},
      {L::zeros_like(x), at::zeros({5, 4}, at::kDouble)},
      {L::ones_like(x), at::ones({5, 4}, at::kDouble)},
      {L::fill_constant_batch_size_like(x, {-1, 2}, kFloat32, 3), at::full({5, 2}, 3, at::kFloat)},
      {L::range(0, 10, 3, kInt64), longs({0, 3, 6, 9})},
      {L::range(L::fill_constant({1}, kInt32, 1), L::fill_constant({1}, kInt64, 4), L::fill_constant({1}, kInt64, 1), kInt64),
       longs({1, 2, 3})},
      {L::linspace(0, 1, 5, kFloat64), doubles({0, 0.25, 0.5, 0.75, 1})},
      {L::shape(x), ints({5, 4})},
      {L::size(x), longs({20})},
      {L::assign(std::vector<float>{1, 2, 3, 4}, {2, 2}), at::tensor({1, 2, 3, 4}, at::kFloat).view({2, 2})},
      {L::assign(std::vector<bool>{true, false}, {2}), ints({1, 0}).to(at::kBool)},
      {L::sums({x, x}, L::create_tensor(kFloat64, "total")), at::full({5, 4}, 2.0, at::kDouble)},
  };
  for (const auto& [out, value] : expected) {
    const at::Tensor found = run({{"x", {.tensor = at::ones({5, 4}, at::kDouble)}}}, out);
    EXPECT_TRUE(found.scalar_type() == value.scalar_type() && at::equal(found, value)) << out.name() << "\n" << found;
    check_declared(out, found);
  }
}

TEST_F(Tensors, RandomNumbersHaveTheirDistribution) {
  const Variable uniform = L::uniform_random({200, 100}, {.dtype = kFloat64, .min = -2, .max = 4});
  const Variable normal = L::gaussian_random({200, 100}, {.mean = 1, .std = 2});
  const Variable seeded = L::uniform_random({5}, {.seed = 3}), again = L::uniform_random({5}, {.seed = 3});
  EXPECT_EQ(normal.name(), "gaussian_random_0.tmp_0");
  const at::Tensor flat = run({}, uniform), bell = run({}, normal);
  EXPECT_NEAR(flat.mean().item<double>(), 1.0, 0.1);
  EXPECT_GE(flat.min().item<double>(), -2.0);
  EXPECT_LE(flat.max().item<double>(), 4.0);
  EXPECT_NEAR(bell.mean().item<double>(), 1.0, 0.1);
  EXPECT_NEAR(bell.std().item<double>(), 2.0, 0.1);
  const auto same = run({}, std::vector<Variable>{seeded, again});
  EXPECT_TRUE(at::equal(same[0].tensor, same[1].tensor));
}

// Where Input has sequences, constants count them and random numbers count rows, as in PaddlePaddle 1.8.5.
TEST_F(Tensors, BatchSizesOfSequences) {
  const Variable x = data("x", {-1, 4}, DType::float64, 1);
  const Variable constant = L::fill_constant_batch_size_like(x, {-1, 3}, kFloat32, 1),
                 random = L::uniform_random_batch_size_like(x, {-1, 3});
  const Feed feed = {{"x", {.tensor = at::rand({5, 4}, at::kDouble), .lod = lod({{0, 2, 5}})}}};
  EXPECT_EQ(run(feed, constant).sizes(), (at::IntArrayRef{2, 3}));
  EXPECT_EQ(run(feed, random).sizes(), (at::IntArrayRef{5, 3}));
  EXPECT_TRUE(at::allclose(run(feed, 2.0 / x), 2.0 / feed.at("x").tensor));
}

TEST_F(Tensors, InputsAndStatesAreDeclaredAsInFluid) {
  EXPECT_EQ(L::data("a", {13}).shape(), (Shape{-1, 13}));
  EXPECT_EQ(L::data("b", {-1, 13}).shape(), (Shape{-1, 13}));
  EXPECT_EQ(L::data("c", {2, 3}, kInt64, {.append_batch_size = false}).shape(), (Shape{2, 3}));
  const Variable ids = L::data("d", {1}, kInt64, {.lod_level = 1});
  EXPECT_EQ(ids.lod_level(), 1);
  EXPECT_TRUE(ids.stop_gradient() && ids.desc().is_data);
  EXPECT_EQ(L::create_parameter({2, 3}, kFloat32).name(), "create_parameter_0.w_0");
  EXPECT_EQ(L::create_parameter({2}, kFloat32, {.name = "p", .default_initializer = graph::constant_initializer(2)}).name(), "p");
  EXPECT_EQ(L::create_global_var({1}, 1.5, kFloat32).name(), "_generated_var_0");
  const Variable kept = L::create_global_var({1}, 1.5, kFloat32, {.persistable = true, .name = "kept"});
  EXPECT_EQ(L::create_tensor(kInt64).name(), "create_tensor_0");
  start();
  EXPECT_EQ(run({}, kept).item<float>(), 1.5f);
  EXPECT_TRUE(at::equal(stored("p"), at::full({2}, 2.0f)));
}

}  // namespace
}  // namespace argosy::engine
