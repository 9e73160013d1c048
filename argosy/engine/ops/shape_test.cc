// Changes of shape, joins and cuts: names, declared shapes, values, gradients, sequences.
#include "argosy/engine/ops/case_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers.h"

namespace argosy::engine {
namespace {

namespace L = argosy::layers;
using Shape = std::vector<int64_t>;

class ShapeCase : public CaseTest {};

Variable whole(int64_t value) { return L::fill_constant({1}, kInt32, static_cast<double>(value)); }

const std::vector<Case> kShapes = {
    {.name = "reshape",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::reshape(in[0], {-1, 12}); },
     .expected = [](auto& in) { return in[0].view({2, 12}); },
     .out_name = "reshape2_0.tmp_0",
     .out_shape = {-1, 12}},
    {.name = "reshape_copies_sizes",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::reshape(in[0], {0, 4, 3}, {.act = "tanh"}); },
     .expected = [](auto& in) { return in[0].view({2, 4, 3}).tanh(); },
     .out_name = "reshape2_0.tmp_2",
     .out_shape = {-1, 4, 3}},
    {.name = "reshape_fills_what_is_left",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::reshape(in[0], {-1, 6}); },
     .expected = [](auto& in) { return in[0].view({4, 6}); },
     .out_shape = {4, 6},
     .fixed = true},
    {.name = "reshape_by_variables",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::reshape(in[0], {0, whole(6), 2}); },
     .expected = [](auto& in) { return in[0].view({2, 6, 2}); },
     .out_name = "reshape2_0.tmp_2",
     .out_shape = {-1, -1, 2}},
    {.name = "reshape_by_one_variable",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::reshape(in[0], L::assign(std::vector<int32_t>{6, 4}, {2})); },
     .expected = [](auto& in) { return in[0].view({6, 4}); },
     .out_shape = {-1, -1}},
    {.name = "flatten",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::flatten(in[0]); },
     .expected = [](auto& in) { return in[0].view({2, 12}); },
     .out_name = "flatten_0.tmp_0",
     .out_shape = {-1, 12}},
    {.name = "flatten_of_two",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::flatten(in[0], 2); },
     .expected = [](auto& in) { return in[0].view({6, 4}); },
     .out_shape = {-1, 4}},
    {.name = "squeeze",
     .shapes = {{3, 1, 4, 1}},
     .build = [](auto& in) { return L::squeeze(in[0], {-1}); },
     .expected = [](auto& in) { return in[0].view({3, 1, 4}); },
     .out_name = "squeeze_0.tmp_0",
     .out_shape = {-1, 1, 4}},
    {.name = "squeeze_all",
     .shapes = {{3, 1, 4, 1}},
     .build = [](auto& in) { return L::squeeze(in[0], {}); },
     .expected = [](auto& in) { return in[0].view({3, 4}); },
     .out_shape = {3, 4},
     .fixed = true},
    {.name = "unsqueeze",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::unsqueeze(in[0], {0, 3}); },
     .expected = [](auto& in) { return in[0].view({1, 5, 4, 1}); },
     .out_name = "unsqueeze2_0.tmp_0",
     .out_shape = {1, -1, 4, 1}},
    {.name = "unsqueeze_from_the_end",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::unsqueeze(in[0], {-1}); },
     .expected = [](auto& in) { return in[0].view({5, 4, 1}); },
     .out_shape = {-1, 4, 1}},
    {.name = "transpose",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::transpose(in[0], {2, 0, 1}); },
     .expected = [](auto& in) { return at::einsum("ijk->kij", {in[0]}); },
     .out_name = "transpose_0.tmp_0",
     .out_shape = {4, -1, 3}},
    {.name = "expand",
     .shapes = {{2, 3}},
     .build = [](auto& in) { return L::expand(in[0], {1, 2}); },
     .expected = [](auto& in) { return at::cat({in[0], in[0]}, 1); },
     .out_name = "expand_0.tmp_0",
     .out_shape = {-1, 6}},
    {.name = "expand_by_a_variable",
     .shapes = {{2, 3}},
     .build = [](auto& in) { return L::expand(in[0], {whole(2), 1}); },
     .expected = [](auto& in) { return at::cat({in[0], in[0]}, 0); },
     .out_shape = {-1, 3}},
    {.name = "expand_as",
     .shapes = {{2, 1}},
     .build = [](auto& in) { return L::expand_as(in[0], L::fill_constant({4, 3}, kFloat64, 0)); },
     .expected = [](auto& in) { return at::cat({in[0], in[0]}, 0).expand({4, 3}); },
     .out_shape = {4, 3}},
};

const std::vector<Case> kJoins = {
    {.name = "concat",
     .shapes = {{5, 4}, {5, 2}},
     .build = [](auto& in) { return L::concat(in, 1); },
     .expected = [](auto& in) { return at::hstack({in[0], in[1]}); },
     .out_name = "concat_0.tmp_0",
     .out_shape = {-1, 6}},
    {.name = "concat_of_rows",
     .shapes = {{5, 4}, {3, 4}},
     .build = [](auto& in) { return L::concat(in); },
     .expected = [](auto& in) { return at::vstack({in[0], in[1]}); },
     .out_shape = {-1, 4}},
    {.name = "concat_along_a_variable",
     .shapes = {{5, 4}, {5, 4}},
     .build = [](auto& in) { return L::concat(in, whole(1)); },
     .expected = [](auto& in) { return at::hstack({in[0], in[1]}); },
     .out_shape = {-1, -1}},
    {.name = "stack",
     .shapes = {{5, 4}, {5, 4}},
     .build = [](auto& in) { return L::stack(in, -1); },
     .expected = [](auto& in) { return at::stack({in[0], in[1]}, 2); },
     .out_name = "stack_0.tmp_0",
     .out_shape = {-1, 4, 2}},
    {.name = "unstack",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::unstack(in[0], 1)[2]; },
     .expected = [](auto& in) { return in[0].select(1, 2); },
     .out_name = "unstack_0.tmp_2",
     .out_shape = {-1, 4}},
    {.name = "split",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::split(in[0], 2)[1]; },
     .expected = [](auto& in) { return in[0].slice(2, 2, 4); },
     .out_name = "split_0.tmp_1",
     .out_shape = {-1, 3, 2}},
    {.name = "split_into_sections",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::split(in[0], {1, -1, 1}, 2)[1]; },
     .expected = [](auto& in) { return in[0].slice(2, 1, 3); },
     .out_shape = {-1, 3, 2}},
    {.name = "split_into_computed_sections",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::split(in[0], {1, whole(3)}, 1)[1]; },
     .expected = [](auto& in) { return in[0].slice(1, 1, 4); },
     .out_name = "split_0.tmp_2",
     .out_shape = {-1, -1}},
    {.name = "slice",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::slice(in[0], {1, 2}, {-2, 1}, {3, 100}); },
     .expected = [](auto& in) { return in[0].slice(1, 1, 3).slice(2, 1, 4); },
     .out_name = "slice_0.tmp_0",
     .out_shape = {-1, 2, 3}},
    {.name = "slice_by_variables",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::slice(in[0], {1}, {whole(1)}, {3}); },
     .expected = [](auto& in) { return in[0].slice(1, 1, 3); },
     .out_name = "slice_0.tmp_0",
     .out_shape = {-1, -1, 4}},
    {.name = "strided_slice",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::strided_slice(in[0], {1, 2}, {0, 3}, {3, -100}, {2, -3}); },
     .expected = [](auto& in) { return in[0].slice(1, 0, 3, 2).slice(2, 0, 4, 3).flip(2); },
     .out_name = "strided_slice_0.tmp_0",
     .out_shape = {-1, 2, 2}},
    {.name = "slice_of_one_entry",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::slice_of(in[0], {0, 1}, {-1, 1}, {10'000'000, 2}, {0, 1}); },
     .expected = [](auto& in) { return in[0][1][1]; },
     .out_name = "in0_slice_0",
     .out_shape = {4}},
    {.name = "pad",
     .shapes = {{2, 3}},
     .build = [](auto& in) { return L::pad(in[0], {0, 1, 2, 0}, 0.5f); },
     .expected =
         [](auto& in) {
           return at::vstack({at::hstack({at::full({2, 2}, 0.5, at::kDouble), in[0]}), at::full({1, 5}, 0.5, at::kDouble)});
         },
     .out_name = "pad_0.tmp_0",
     .out_shape = {-1, 5}},
    {.name = "reverse",
     .shapes = {{2, 3}},
     .build = [](auto& in) { return L::reverse(in[0], {1}); },
     .expected = [](auto& in) { return at::stack({in[0].select(1, 2), in[0].select(1, 1), in[0].select(1, 0)}, 1); },
     .out_name = "reverse_0.tmp_0",
     .out_shape = {-1, 3}},
};

TEST_P(ShapeCase, MovesElements) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Shapes, ShapeCase, testing::ValuesIn(kShapes), case_name);
INSTANTIATE_TEST_SUITE_P(Joins, ShapeCase, testing::ValuesIn(kJoins), case_name);

using Sequences = LayerTest;

// Where rows stay rows the boundaries are handed on; where they do not, they go. The facts are PaddlePaddle 1.8.5's.
TEST_F(Sequences, AreHandedOnWhereRowsStay) {
  const Variable x = data("x", {-1, 4}, DType::float64, 1), y = data("y", {-1, 4}, DType::float64, 1), z = data("z", {-1, 4});
  const std::vector<std::pair<Variable, bool>> expected = {
      {L::concat({x, y}, 1), true},
      {L::concat({z, x}, 1), false},
      {L::split(x, 2)[0], true},
      {L::slice(x, {1}, {0}, {2}), true},
      {L::slice(x, {0}, {0}, {2}), false},
      {L::reshape(x, {0, 2, 2}), true},
      {L::unsqueeze(x, {1}), true},
      {L::unsqueeze(x, {0}), false},
      {L::transpose(x, {0, 1}), false},
      {L::expand(x, {1, 2}), true},
      {L::reduce_sum(x, {.dim = {1}}), true},
      {L::reduce_sum(x, {.dim = {0}}), false},
      {L::elementwise_add(x, z), true},
      {L::elementwise_add(z, x), false},
      {L::cast(x, kInt64), true},
      {L::stack({x, y}), true},
      {L::pad(x, {0, 0, 1, 1}), true},
      {L::reverse(x, {1}), false},
      {L::topk(x, 2).values, true},
      {L::argmax(x, 1), false},
      {L::gather(x, L::argmax(x, 1)), false},
  };
  const Value rows{.tensor = at::rand({5, 4}, at::kDouble), .lod = lod({{0, 2, 5}})};
  const Feed feed = {{"x", rows}, {"y", rows}, {"z", {.tensor = at::rand({5, 4}, at::kDouble)}}};
  for (const auto& [out, kept] : expected) {
    EXPECT_EQ(out.lod_level(), kept ? 1 : 0) << out.name();
    const Value found = run(feed, std::vector<Variable>{out})[0];
    EXPECT_EQ(found.lod != nullptr && *found.lod == *rows.lod, kept) << out.name();
  }
  const Variable regrouped = L::reshape(x, {-1, 2});  // declared with the same rows, but a run has twice as many
  EXPECT_EQ(run(feed, std::vector<Variable>{regrouped})[0].lod, nullptr);
}

TEST_F(Sequences, FollowEachOtherInAConcatOfRows) {
  const Variable out = L::concat({data("x", {-1, 1}, DType::float64, 1), data("y", {-1, 1}, DType::float64, 1)});
  const Feed feed = {{"x", {.tensor = at::rand({5, 1}, at::kDouble), .lod = lod({{0, 2, 5}})}},
                     {"y", {.tensor = at::rand({3, 1}, at::kDouble), .lod = lod({{0, 0, 3}})}}};
  EXPECT_EQ(*run(feed, std::vector<Variable>{out})[0].lod, (Lod{{0, 2, 5, 5, 8}}));
}

using Views = LayerTest;

// What is fetched is the value at its place in the program, also where the variable that it was cut from changes later.
TEST_F(Views, OfAStateShowItAsItWas) {
  const Variable state = L::create_global_var({1}, 3.0, kFloat32, {.persistable = true});
  const std::vector<Variable> views = {L::reshape(state, {1, 1}), L::flatten(state, 0),     L::unsqueeze(state, {0}),
                                       L::squeeze(state, {}),     L::transpose(state, {0}), L::slice(state, {0}, {0}, {1}),
                                       L::split(state, 1, 0)[0],  L::unstack(state, 0)[0],  L::assign(state)};
  L::increment(state);
  start();
  const std::vector<Value> found = run({}, views);
  for (size_t i = 0; i < views.size(); ++i) EXPECT_EQ(found[i].tensor.item<float>(), 3.0f) << views[i].name();
}

using ShapeErrors = LayerTest;

TEST_F(ShapeErrors, NameTheVariableAndWhatDoesNotFit) {
  const auto message = [](auto call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  const Variable x = data("x", {2, 3}), y = data("y", {-1, 4});
  EXPECT_EQ(message([&] { L::reshape(x, {-1, 4}); }),
            "operator 'reshape2': variable 'x' [2, 3] has 6 elements, which do not fill shape [-1, 4]");
  EXPECT_EQ(message([&] { L::concat({x, y}, 0); }),
            "operator 'concat': variable 'x' [2, 3] and variable 'y' [-1, 4] cannot be joined along axis 0");
  EXPECT_EQ(message([&] { L::split(x, 2, 1); }),
            "operator 'split': variable 'x' [2, 3] along axis 1 cannot be split into 2 equal parts");
  EXPECT_EQ(message([&] { L::transpose(x, {0, 0}); }),
            "operator 'transpose2': [0, 0] does not name each dimension of variable 'x' [2, 3] once");
  EXPECT_EQ(message([&] { L::unstack(y, 0); }), "unstack: the size of axis 0 of variable 'y' [-1, 4] is not known; give num");
  EXPECT_EQ(message([&] { L::squeeze(x, {5}); }),
            "operator 'squeeze2': axis 5 is outside variable 'x' [2, 3], which has 2 dimensions");
  const Variable entry = L::slice_of(y, {0}, {3}, {4}, {0});
  EXPECT_NE(error_of({{"y", {.tensor = at::rand({2, 4}, at::kDouble)}}}, entry)
                .find("index 3 is outside variable 'y', which has 2 entries along axis 0"),
            std::string::npos);
}

}  // namespace
}  // namespace argosy::engine
