// fc and the embeddings: what they build and what it computes.
#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/nn.h"

namespace argosy::engine {
namespace {

using Fc = LayerTest;
using Embedding = LayerTest;

TEST_F(Fc, MultipliesAndAddsTheBias) {
  const Variable x = data("x", {-1, 3});
  const Variable y = layers::fc(x, 2);
  EXPECT_EQ(y.name(), "fc_0.tmp_1");
  EXPECT_EQ(y.shape(), (std::vector<int64_t>{-1, 2}));
  start();
  stored("fc_0.b_0").uniform_();
  const Feed feed = {{"x", {.tensor = at::randn({5, 3}, at::kDouble)}}};
  EXPECT_TRUE(at::allclose(run(feed, y), at::mm(feed.at("x").tensor, stored("fc_0.w_0")) + stored("fc_0.b_0")));
  const auto params = main_->parameters();
  check_gradients(y, feed,
                  {x, Variable(main_, main_->global_block(), *params[0]), Variable(main_, main_->global_block(), *params[1])});
}

// Large float32 products go another way than small ones and than float64, forward and backward.
TEST_F(Fc, LargeProductsAreThoseOfFloat64) {
  const Variable x = data("x", {-1, 96}, DType::float32);
  const Variable y = layers::fc(x, 130, {.act = "relu"});
  start();
  stored("fc_0.b_0").uniform_();
  const at::Tensor input = at::randn({128, 96});
  at::Tensor leaf = input.to(at::kDouble).requires_grad_(), w = stored("fc_0.w_0").to(at::kDouble).detach().requires_grad_();
  const at::Tensor expected = (at::mm(leaf, w) + stored("fc_0.b_0").to(at::kDouble)).relu();
  const Feed feed = {{"x", {.tensor = input}}};
  EXPECT_TRUE(at::allclose(run(feed, y).to(at::kDouble), expected, 1e-5, 1e-5));

  expected.sum().backward();
  const Variable table(main_, main_->global_block(), *main_->parameters()[0]);
  const auto grads = graph::gradients({y}, {x, table});
  const auto found = run(feed, grads);
  EXPECT_TRUE(at::allclose(found[0].tensor.to(at::kDouble), leaf.grad(), 1e-4, 1e-4));
  EXPECT_TRUE(at::allclose(found[1].tensor.to(at::kDouble), w.grad(), 1e-4, 1e-4));
}

TEST_F(Fc, FlattensWhatItIsTold) {
  EXPECT_EQ(layers::fc(data("a", {-1, 3, 4}), 2).shape(), (std::vector<int64_t>{-1, 2}));
  EXPECT_EQ(main_->global_block().find_var("fc_0.w_0")->shape, (std::vector<int64_t>{12, 2}));
  EXPECT_EQ(layers::fc(data("b", {-1, 3, 4}), 2, {.num_flatten_dims = 2}).shape(), (std::vector<int64_t>{-1, 3, 2}));
  EXPECT_EQ(layers::fc(data("c", {-1, 3, 4}), 2, {.num_flatten_dims = -1, .bias = graph::ParamAttr::none()}).name(),
            "fc_2.tmp_0");
  EXPECT_THROW(layers::fc(data("d", {-1, 3}), 2, {.num_flatten_dims = 2}), Error);
  EXPECT_THROW(layers::fc(data("e", {4, -1}), 2), Error);
}

TEST_F(Embedding, LooksUpRowsAndKeepsSequences) {
  const Variable ids = data("ids", {-1, 1}, DType::int64, 1);
  const Variable rows = layers::embedding(ids, {10, 4}, {.padding_idx = -1, .param = "table", .dtype = DType::float64});
  EXPECT_EQ(rows.name(), "embedding_0.tmp_0");
  EXPECT_EQ(rows.shape(), (std::vector<int64_t>{-1, 4}));
  EXPECT_EQ(rows.lod_level(), 1);
  start();
  const Feed feed = {{"ids", {.tensor = at::tensor({7, 2, 9, 7}, at::kLong).unsqueeze(1), .lod = lod({{0, 1, 4}})}}};
  const at::Tensor table = stored("table").clone(), got = run(feed, rows);
  EXPECT_TRUE(at::equal(got[0], table[7]));
  EXPECT_TRUE(at::equal(got[2], at::zeros({4}, at::kDouble))) << "id 9 is the padding";
  check_gradients(rows, feed, {Variable(main_, main_->global_block(), *main_->parameters()[0])});
}

// The two generations differ in the shape only: [n, 1] ids give [n, width] or [n, 1, width].
TEST_F(Embedding, TheSecondVersionKeepsTheShapeOfTheIds) {
  const Variable ids = data("ids", {-1, 5}, DType::int64);
  const Variable rows = layers::embedding_v2(ids, {10, 4}, {.is_sparse = true});
  EXPECT_EQ(rows.shape(), (std::vector<int64_t>{-1, 5, 4}));
  start();
  EXPECT_EQ(run({{"ids", {.tensor = at::zeros({2, 5}, at::kLong)}}}, rows).sizes(), (at::IntArrayRef{2, 5, 4}));
}

TEST_F(Embedding, ASparseEmbeddingSaysHowItsServersShallTreatIt) {
  layers::sparse_embedding(data("ids", {-1, 1}, DType::int64), {10, 4},
                           {.padding_idx = 0, .entry = "count_filter_entry:3", .slot = 7});
  const graph::OpDesc& op = *main_->global_block().ops().back();
  EXPECT_EQ(op.attribute_or<std::string>("entry", ""), "count_filter_entry:3");
  EXPECT_EQ(op.attribute_or<int32_t>("slot", 0), 7);
  EXPECT_TRUE(op.attribute_or<bool>("is_distributed", false));
  EXPECT_EQ(op.outputs.find("Out")->front(), "sparse_embedding_0.tmp_0");
}

TEST_F(Embedding, RefusesASizeThatIsNoTable) {
  const Variable ids = data("ids", {-1, 1}, DType::int64);
  EXPECT_THROW(layers::embedding(ids, {10}), Error);
  EXPECT_THROW(layers::embedding(ids, {10, 4}, {.padding_idx = 10}), Error);
}

}  // namespace
}  // namespace argosy::engine
