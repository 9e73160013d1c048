#include "argosy/engine/train/tensor_call.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>

namespace argosy::engine {
namespace {

using ::testing::HasSubstr;

graph::OpSchemas::Function function(std::string_view name) { return graph::OpSchemas::instance().find_function(name); }

at::Tensor computed(std::string_view name, const std::vector<TensorArgument>& arguments) {
  auto results = call_on_tensors(function(name), arguments);
  EXPECT_TRUE(results.ok()) << results.status().message();
  return results.ok() ? results->front() : at::Tensor();
}

at::Tensor numbers() { return at::linspace(-3, 3, 12, at::kFloat).reshape({3, 4}); }

TEST(TensorCallTest, ComputesAsTorchDoes) {
  const at::Tensor x = numbers();
  EXPECT_TRUE(at::equal(computed("leaky_relu", {x, graph::Attribute(0.25f)}), at::leaky_relu(x, 0.25)));
  EXPECT_TRUE(at::equal(computed("leaky_relu", {x}), at::leaky_relu(x, 0.02f)));  // the function's own default
  EXPECT_TRUE(at::equal(computed("concat", {std::vector<at::Tensor>{x, x}, graph::Attribute(1)}), at::cat({x, x}, 1)));
  EXPECT_TRUE(at::allclose(computed("reduce_sum", {x, graph::Attribute(std::vector<int64_t>{1})}), x.sum(1)));
  EXPECT_TRUE(at::equal(computed("relu", {x.to(at::kDouble)}), at::relu(x.to(at::kDouble))));
}

TEST(TensorCallTest, ReturnsEveryResult) {
  const auto results = call_on_tensors(function("topk"), {numbers(), graph::Attribute(2)});
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->size(), 2u);
  EXPECT_TRUE(at::equal((*results)[1], std::get<1>(at::topk(numbers(), 2))));
}

TEST(TensorCallTest, AutogradRecordsWhatWantsAGradient) {
  const at::Tensor x = numbers().set_requires_grad(true), y = numbers().set_requires_grad(true);
  computed("swish", {x}).sum().backward();
  at::silu(y).sum().backward();
  EXPECT_TRUE(at::allclose(x.grad(), y.grad()));
  EXPECT_FALSE(computed("swish", {numbers()}).requires_grad());
  const at::NoGradGuard off;
  EXPECT_FALSE(computed("swish", {x}).requires_grad());
}

// The same kind of arguments takes the call that was prepared before: it must hold nothing of the other values.
TEST(TensorCallTest, ACallThatIsMadeAgainHasItsOwnValues) {
  const at::Tensor first = computed("square", {numbers()}), second = computed("square", {numbers() + 1});
  EXPECT_TRUE(at::equal(first, at::square(numbers())));
  EXPECT_TRUE(at::equal(second, at::square(numbers() + 1)));
}

// A result that has the shape of the one tensor: any shape is taken, one after the other, and complex numbers where torch does.
TEST(TensorCallTest, ATensorOfAnyShapeIsTaken) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {3}, {0}, {2, 1, 4}, {2, 3}}) {
    const at::Tensor x = at::rand(shape, at::kDouble);
    const at::Tensor found = computed("exp", {x});
    EXPECT_EQ(found.sizes(), x.sizes());
    EXPECT_TRUE(at::equal(found, at::exp(x))) << found;
    EXPECT_TRUE(at::equal(computed("elu", {x - 0.5, graph::Attribute(2.0f)}), at::elu(x - 0.5, 2.0))) << x;
  }
  const at::Tensor complex = at::randn({2, 3}, at::kComplexDouble);
  EXPECT_TRUE(at::equal(computed("exp", {complex}), at::exp(complex)));
  EXPECT_TRUE(at::equal(computed("abs", {complex}), at::abs(complex))) << "of which the result is real";
  EXPECT_TRUE(at::equal(computed("square", {at::arange(4)}), at::arange(4) * at::arange(4)));
  const at::Tensor transposed = at::rand({3, 2}).t();
  EXPECT_TRUE(at::equal(computed("sqrt", {transposed}), at::sqrt(transposed)));
}

TEST(TensorCallTest, AGradientHasAGradient) {
  at::Tensor x = at::rand({4}, at::kDouble).set_requires_grad(true);
  computed("exp", {x}).sum().backward({}, true, /*create_graph=*/true);
  const at::Tensor slope = x.grad();
  x.mutable_grad().reset();
  slope.sum().backward();
  EXPECT_TRUE(at::allclose(x.grad(), at::exp(x)));
}

TEST(TensorCallTest, MessagesNameTheFunctionAndWhatDoesNotFit) {
  EXPECT_THAT(call_on_tensors(function("relu"), {}).status().message(), HasSubstr("relu: argument 'x' must be a variable"));
  EXPECT_THAT(
      call_on_tensors(function("concat"), {std::vector<at::Tensor>{at::zeros({2}, at::kComplexFloat)}}).status().message(),
      HasSubstr("concat: a tensor is ComplexFloat, expected a dense one of real numbers"));
  EXPECT_THAT(call_on_tensors(function("relu"), {at::zeros({2}).to_sparse()}).status().message(),
              HasSubstr("relu: a tensor is Float and sparse, expected a dense one of real numbers"));
  EXPECT_THAT(call_on_tensors(function("floor"), {at::zeros({2}, at::kComplexFloat)}).status().message(), HasSubstr("floor: "));
  EXPECT_FALSE(call_on_tensors(function("concat"), {std::vector<at::Tensor>{at::zeros({2, 3}), at::zeros({3, 4})}}).ok());
}

}  // namespace
}  // namespace argosy::engine
