#include "argosy/graph/layers/sequence.h"

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/fill.h"

namespace argosy::engine {
namespace {

// Sequences of random rows; `lengths` may have zeros.
class Sequence : public LayerTest {
 protected:
  Variable sequences(const std::string& name, const std::vector<int64_t>& lengths, int64_t width) {
    std::vector<int64_t> offsets = {0};
    for (int64_t length : lengths) offsets.push_back(offsets.back() + length);
    feed_[name] = {.tensor = at::randn({offsets.back(), width}, at::kDouble), .lod = lod({offsets})};
    return data(name, {-1, width}, DType::float64, 1);
  }
  Variable rows(const std::string& name, int64_t count, int64_t width) {
    feed_[name] = {.tensor = at::randn({count, width}, at::kDouble)};
    return data(name, {-1, width});
  }
  const at::Tensor& value(const Variable& of) { return feed_.at(of.name()).tensor; }
  at::Tensor part(const Variable& of, int64_t i) {
    const auto& offsets = feed_.at(of.name()).offsets();
    return value(of).slice(0, offsets[static_cast<size_t>(i)], offsets[static_cast<size_t>(i) + 1]);
  }
  void check(const Variable& out, const std::vector<Variable>& inputs, const at::Tensor& expected, const Lod& expected_lod) {
    const Value got = run(feed_, std::vector<Variable>{out})[0];
    EXPECT_TRUE(at::allclose(got.tensor, expected)) << got.tensor << "\nexpected:\n" << expected;
    EXPECT_EQ(got.lod == nullptr ? Lod{} : *got.lod, expected_lod);
    check_gradients(out, feed_, inputs);
  }

  Feed feed_;
};

TEST_F(Sequence, ExpandRepeatsRows) {
  const Variable x = rows("x", 3, 2), y = sequences("y", {2, 0, 3}, 1);
  const at::Tensor v = value(x);
  check(layers::sequence_expand(x, y), {x}, at::stack({v[0], v[0], v[2], v[2], v[2]}), {});
}

TEST_F(Sequence, ExpandRepeatsSequencesByAnyLevel) {
  const Variable x = sequences("x", {2, 1}, 2), y = data("y", {-1, 1}, DType::float64, 2);
  feed_["y"] = {.tensor = at::zeros({4, 1}, at::kDouble), .lod = lod({{0, 2, 3}, {0, 1, 3, 4}})};
  const at::Tensor a = part(x, 0), b = part(x, 1);
  check(layers::sequence_expand(x, y, 0), {x}, at::cat({a, a, b}), {{0, 2, 4, 5}});
  EXPECT_NE(error_of(feed_, layers::sequence_expand(x, y, 1)).find("2 rows or sequences, but 'y' says how often to repeat 3"),
            std::string::npos);
}

TEST_F(Sequence, ExpandAsTakesTheOthersLengths) {
  const Variable x = rows("x", 2, 2), y = sequences("y", {1, 2}, 1);
  check(layers::sequence_expand_as(x, y), {x}, at::stack({value(x)[0], value(x)[1], value(x)[1]}), {{0, 1, 3}});
}

TEST_F(Sequence, ConcatJoinsSequenceBySequence) {
  const Variable a = sequences("a", {1, 2, 0}, 2), b = sequences("b", {2, 0, 1}, 2);
  const at::Tensor expected = at::cat({part(a, 0), part(b, 0), part(a, 1), part(b, 1), part(a, 2), part(b, 2)});
  check(layers::sequence_concat({a, b}), {a, b}, expected, {{0, 3, 5, 6}});
}

TEST_F(Sequence, SoftmaxStaysWithinASequence) {
  const Variable x = sequences("x", {3, 0, 2, 1}, 1);
  check(layers::sequence_softmax(x), {x},
        at::cat({at::softmax(part(x, 0), 0), at::softmax(part(x, 2), 0), at::softmax(part(x, 3), 0)}), {{0, 3, 3, 5, 6}});
}

TEST_F(Sequence, ReshapeMovesTheBoundaries) {
  const Variable x = sequences("x", {1, 3}, 4);
  check(layers::sequence_reshape(x, 2), {x}, value(x).reshape({8, 2}), {{0, 2, 8}});
  EXPECT_NE(error_of(feed_, layers::sequence_reshape(x, 8)).find("which rows of 8 cannot hold"), std::string::npos);
}

TEST_F(Sequence, ReverseTurnsEach) {
  const Variable x = sequences("x", {3, 2}, 2);
  check(layers::sequence_reverse(x), {x}, at::cat({part(x, 0).flip(0), part(x, 1).flip(0)}), {{0, 3, 5}});
}

TEST_F(Sequence, SliceTakesAPartOfEach) {
  const Variable x = sequences("x", {3, 2}, 2), offset = data("offset", {-1, 1}, DType::int64),
                 length = data("length", {-1, 1}, DType::int64);
  feed_["offset"] = {.tensor = at::tensor({1, 0}, at::kLong).unsqueeze(1)};
  feed_["length"] = {.tensor = at::tensor({2, 1}, at::kLong).unsqueeze(1)};
  const Variable out = layers::sequence_slice(x, offset, length);
  check(out, {x}, at::cat({part(x, 0).slice(0, 1, 3), part(x, 1).slice(0, 0, 1)}), {{0, 2, 3}});
  feed_["length"] = {.tensor = at::tensor({3, 1}, at::kLong).unsqueeze(1)};
  EXPECT_NE(error_of(feed_, out).find("sequence 0 has 3 rows; 3 rows from 1 are not in it"), std::string::npos);
}

TEST_F(Sequence, PadAndUnpadAreInverse) {
  const Variable x = sequences("x", {2, 0, 3}, 2), filling = layers::fill_constant({1}, DType::float64, 7);
  const auto padded = layers::sequence_pad(x, filling, 4);
  EXPECT_TRUE(padded.length.stop_gradient()) << "a count";
  EXPECT_FALSE(padded.out.stop_gradient());
  const Variable back = layers::sequence_unpad(padded.out, padded.length);
  EXPECT_EQ(padded.out.shape(), (std::vector<int64_t>{-1, 4, 2}));
  const auto got = run(feed_, {padded.out, padded.length, back});
  EXPECT_TRUE(at::equal(got[0].tensor[0].slice(0, 0, 2), part(x, 0)));
  EXPECT_TRUE(at::equal(got[0].tensor[1], at::full({4, 2}, 7, at::kDouble)));
  EXPECT_TRUE(at::equal(got[1].tensor, at::tensor({2, 0, 3}, at::kLong)));
  EXPECT_TRUE(at::equal(got[2].tensor, value(x)));
  EXPECT_EQ(*got[2].lod, *feed_.at("x").lod);
  check_gradients(padded.out, feed_, {x});
  EXPECT_EQ(run(feed_, layers::sequence_pad(x, filling).out).size(1), 3) << "without maxlen as long as the longest";
  EXPECT_NE(error_of(feed_, layers::sequence_pad(x, filling, 2).out).find("has 3 rows, more than padded_length 2"),
            std::string::npos);
}

TEST_F(Sequence, MaskHasAsManyOnesAsALength) {
  const Variable x = data("x", {-1}, DType::int64);
  const Variable five = layers::sequence_mask(x, 4), longest = layers::sequence_mask(x, -1, DType::float32);
  EXPECT_EQ(five.shape(), (std::vector<int64_t>{-1, 4}));
  const auto got = run({{"x", {.tensor = at::tensor({3, 1, 0}, at::kLong)}}}, {five, longest});
  EXPECT_TRUE(at::equal(got[0].tensor, at::tensor({1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0}, at::kLong).reshape({3, 4})));
  EXPECT_TRUE(at::equal(got[1].tensor, got[0].tensor.slice(1, 0, 3).to(at::kFloat)));
}

TEST_F(Sequence, LodResetCutsTheRowsAnew) {
  const Variable x = rows("x", 4, 2), y = sequences("y", {1, 3}, 1), list = data("list", {-1}, DType::int32);
  feed_["list"] = {.tensor = at::tensor({0, 3, 4}, at::kInt)};
  check(layers::lod_reset(x, y), {x}, value(x), {{0, 1, 4}});
  check(layers::lod_reset(x, {0, 2, 4}), {x}, value(x), {{0, 2, 4}});
  check(layers::lod_reset(x, list), {x}, value(x), {{0, 3, 4}});
  const Variable nested = layers::lod_append(y, {0, 1, 2, 2, 4});
  EXPECT_EQ(nested.lod_level(), 2);
  EXPECT_EQ(*run(feed_, std::vector<Variable>{nested})[0].lod, (Lod{{0, 1, 4}, {0, 1, 2, 2, 4}}));
  EXPECT_NE(error_of(feed_, layers::lod_reset(x, {0, 5})).find("must begin with 0, grow, and end with the 4 rows"),
            std::string::npos);
}

TEST_F(Sequence, LodAppendNeedsAPartForEachRowOfTheOuterLevel) {
  const Variable y = sequences("y", {1, 3}, 1);
  const std::string message = error_of(feed_, layers::lod_append(y, {0, 1, 4}));
  EXPECT_NE(message.find("the sequences of 'y' are of 4 parts, but the new level has 2"), std::string::npos) << message;
}

TEST_F(Sequence, ConvSeesTheNeighboursInTheSequence) {
  const Variable x = sequences("x", {3, 1}, 2);
  const Variable out = layers::sequence_conv(x, 2, {.filter_size = 3, .bias = graph::ParamAttr::none(), .param = "filter"});
  start();
  const at::Tensor zero = at::zeros({2}, at::kDouble), v = value(x);
  const at::Tensor seen = at::stack(
      {at::cat({zero, v[0], v[1]}), at::cat({v[0], v[1], v[2]}), at::cat({v[1], v[2], zero}), at::cat({zero, v[3], zero})});
  check(out, {x, Variable(main_, main_->global_block(), *main_->parameters()[0])}, at::mm(seen, stored("filter")), {{0, 3, 4}});
}

TEST_F(Sequence, EnumerateListsWhatFollows) {
  const Variable out = layers::sequence_enumerate(data("ids", {-1, 1}, DType::int64, 1), 2, -5);
  const at::Tensor got =
      run({{"ids", {.tensor = at::tensor({1, 2, 3, 4}, at::kLong).unsqueeze(1), .lod = lod({{0, 3, 4}})}}}, out);
  EXPECT_TRUE(at::equal(got, at::tensor({1, 2, 2, 3, 3, -5, 4, -5}, at::kLong).reshape({4, 2})));
}

}  // namespace
}  // namespace argosy::engine
