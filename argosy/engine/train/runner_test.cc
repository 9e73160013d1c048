#include "argosy/engine/train/runner.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "argosy/base/error.h"
#include "argosy/engine/program/device_test.h"
#include "argosy/graph/backward.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layer_helper.h"

namespace argosy::engine {
namespace {

using graph::DType;
using graph::LayerHelper;
using graph::Variable;

Variable data(const std::string& name, std::vector<int64_t> shape, DType dtype = DType::float32) {
  graph::VarDesc desc;
  desc.name = name;
  desc.shape = std::move(shape);
  desc.dtype = dtype;
  desc.stop_gradient = true;
  desc.is_data = true;
  const auto program = graph::default_main_program();
  return Variable(program, program->global_block(), program->global_block().put_var(desc));
}

// x @ w + b, as the fc layer writes it.
Variable linear(const Variable& x, int64_t size) {
  LayerHelper helper("fc", "");
  const Variable w = helper.create_parameter({}, {x.shape()[1], size}, DType::float32);
  const Variable product = helper.create_tmp();
  helper.append_op({.type = "mul", .inputs = {{"X", {x.name()}}, {"Y", {w.name()}}}, .outputs = {{"Out", {product.name()}}}});
  return helper.append_bias(product, {}, 1);
}

class ExecutorTest : public testing::Test {
 protected:
  ExecutorTest() : main_(graph::Program::create()), startup_(graph::Program::create()), programs_(main_, startup_) {}

  std::vector<Value> run(const Feed& feed, const std::vector<Variable>& fetches) {
    std::vector<std::string> names;
    for (const Variable& fetch : fetches) names.push_back(fetch.name());
    return value_or_throw(runner_.run(*main_, feed, names, scope_));
  }
  void start() { value_or_throw(runner_.run(*startup_, {}, {}, scope_)); }

  std::shared_ptr<graph::Program> main_, startup_;
  graph::ProgramGuard programs_;
  graph::UniqueNameGuard names_;
  Scope scope_;
  Runner runner_{{.device = test_device()}};
};

TEST_F(ExecutorTest, ForwardIsTheMatrixProduct) {
  const Variable y = linear(data("x", {-1, 3}), 2);
  start();
  const at::Tensor x = at::randn({5, 3});
  const at::Tensor expected = at::mm(x, scope_.find("fc_0.w_0")->tensor.cpu()) + scope_.find("fc_0.b_0")->tensor.cpu();
  EXPECT_TRUE(at::allclose(run({{"x", {.tensor = x}}}, {y})[0].tensor, expected));
}

TEST_F(ExecutorTest, GradientsAreAutograds) {
  const Variable y = linear(data("x", {-1, 3}), 2);
  const Variable seed = data("seed", {-1, 2});
  const auto program = main_;
  Variable w(program, program->global_block(), *program->global_block().find_var("fc_0.w_0"));
  const auto grads = graph::gradients({y}, {w}, {seed});
  start();
  const at::Tensor x = at::randn({5, 3}), weights = at::randn({5, 2});
  const auto got = run({{"x", {.tensor = x}}, {"seed", {.tensor = weights}}}, {grads[0], y});
  EXPECT_TRUE(at::allclose(got[0].tensor, at::mm(x.t(), weights), 1e-5, 1e-6));
}

TEST_F(ExecutorTest, ARowGradientSumsEqualIds) {
  const Variable ids = data("ids", {-1, 1}, DType::int64);
  LayerHelper helper("embedding", "");
  const Variable table = helper.create_parameter({}, {10, 4}, DType::float32);
  const Variable rows = helper.create_tmp();
  helper.append_op({.type = "lookup_table",
                    .inputs = {{"W", {table.name()}}, {"Ids", {ids.name()}}},
                    .outputs = {{"Out", {rows.name()}}},
                    .attributes = {{"is_sparse", true}}});
  const Variable seed = data("seed", {-1, 4});
  const auto grads = graph::gradients({rows}, {table}, {seed});
  start();
  const at::Tensor weights = at::randn({3, 4});
  const at::Tensor id_values = at::tensor({7, 2, 7}, at::kLong).unsqueeze(1);
  const auto got = run({{"ids", {.tensor = id_values}}, {"seed", {.tensor = weights}}}, {rows, grads[0]});
  EXPECT_TRUE(at::equal(got[0].tensor, scope_.find(table.name())->tensor.cpu().index_select(0, id_values.flatten())));
  ASSERT_NE(got[1].rows, nullptr);
  const at::Tensor dense = got[1].rows->to_dense().cpu();
  EXPECT_TRUE(at::allclose(dense[7], weights[0] + weights[2]));
  EXPECT_TRUE(at::allclose(dense[2], weights[1]));
  EXPECT_EQ(dense[0].abs().sum().item<float>(), 0.0f);
}

TEST_F(ExecutorTest, AnIdOutsideTheTableIsNamed) {
  const Variable ids = data("ids", {-1, 1}, DType::int64);
  LayerHelper helper("embedding", "");
  const Variable table = helper.create_parameter("table", {10, 4}, DType::float32);
  const Variable rows = helper.create_tmp(), padded = helper.create_tmp();
  helper.append_op(
      {.type = "lookup_table", .inputs = {{"W", {table.name()}}, {"Ids", {ids.name()}}}, .outputs = {{"Out", {rows.name()}}}});
  helper.append_op({.type = "lookup_table",
                    .inputs = {{"W", {table.name()}}, {"Ids", {ids.name()}}},
                    .outputs = {{"Out", {padded.name()}}},
                    .attributes = {{"padding_idx", int64_t{3}}}});
  start();
  for (const Variable& wanted : {rows, padded}) {
    for (const int64_t id :
         {int64_t{10}, int64_t{-1}, int64_t{-2}}) {  // -1 is also how an operator says that it has no padding_idx
      const Value fed{.tensor = at::tensor(std::vector<int64_t>{3, id}).unsqueeze(1)};
      const auto result = runner_.run(*main_, {{"ids", fed}}, {wanted.name()}, scope_);
      EXPECT_THAT(
          result.status().message(),
          testing::HasSubstr(fmt::format("variable 'ids': id {} at position 1 is outside the table 'table' with 10 rows", id)));
    }
  }
}

TEST_F(ExecutorTest, AFeedThatDoesNotFitIsNamed) {
  const Variable y = linear(data("x", {-1, 32}), 2);
  start();
  const auto shape = runner_.run(*main_, {{"x", {.tensor = at::zeros({128, 31})}}}, {y.name()}, scope_);
  EXPECT_EQ(shape.status().message(), "variable 'x': fed shape [128, 31], expected [-1, 32] (as it was declared)");
  const auto dtype = runner_.run(*main_, {{"x", {.tensor = at::zeros({1, 32}, at::kDouble)}}}, {y.name()}, scope_);
  EXPECT_EQ(dtype.status().message(), "variable 'x': fed float64, expected float32; convert it with .astype('float32')");
  const auto unknown = runner_.run(*main_, {{"z", {.tensor = at::zeros({1})}}}, {y.name()}, scope_);
  EXPECT_EQ(unknown.status().message(), "feed: the program has no variable 'z'");
}

TEST_F(ExecutorTest, WithoutTheStartupProgramTheErrorSaysSo) {
  const Variable y = linear(data("x", {-1, 3}), 2);
  const auto result = runner_.run(*main_, {{"x", {.tensor = at::zeros({1, 3})}}}, {y.name()}, scope_);
  EXPECT_NE(result.status().message().find("'fc_0.w_0'"), std::string::npos) << result.status().message();
  EXPECT_NE(result.status().message().find("run the startup program first"), std::string::npos);
}

TEST_F(ExecutorTest, TheProgramsSeedFixesTheFirstValues) {
  linear(data("x", {-1, 3}), 2);
  startup_->random_seed = 7;
  start();
  const at::Tensor first = scope_.find("fc_0.w_0")->tensor.clone();
  Scope other;
  Runner fresh({.device = test_device()});
  value_or_throw(fresh.run(*startup_, {}, {}, other));
  EXPECT_TRUE(at::equal(first, other.find("fc_0.w_0")->tensor));
}

TEST_F(ExecutorTest, BfloatProductsStayNearFloatOnes) {
  const Variable y = linear(data("x", {-1, 64}), 8);
  start();
  const Feed feed = {{"x", {.tensor = at::randn({16, 64})}}};
  Runner narrow({.bfloat16_matmul = true, .device = test_device()});
  const at::Tensor exact = run(feed, {y})[0].tensor;
  const at::Tensor near = value_or_throw(narrow.run(*main_, feed, {y.name()}, scope_))[0].tensor;
  EXPECT_FALSE(at::equal(exact, near));
  EXPECT_TRUE(at::allclose(exact, near, 0.05, 0.05));
}

// The product of what nn.Linear builds, alone and in place of its operators; a product of two inputs stays as exact as it is.
TEST_F(ExecutorTest, BfloatProductsAreThoseOfParameters) {
  const Variable x = data("x", {-1, 64}), other = data("other", {64, 8});
  LayerHelper helper("linear", "");
  const Variable w = helper.create_parameter({}, {64, 8}, DType::float32);
  const auto product = [&](const Variable& right) {
    const Variable out = helper.create_tmp();
    helper.append_op(
        {.type = "matmul_v2", .inputs = {{"X", {x.name()}}, {"Y", {right.name()}}}, .outputs = {{"Out", {out.name()}}}});
    return out;
  };
  const Variable of_parameter = product(w), of_input = product(other), with_bias = helper.append_bias(product(w), {}, 1);
  start();
  const Feed feed = {{"x", {.tensor = at::randn({16, 64})}}, {"other", {.tensor = at::randn({64, 8})}}};
  const std::vector<std::string> names = {of_parameter.name(), of_input.name(), with_bias.name()};
  const auto exact = value_or_throw(runner_.run(*main_, feed, names, scope_));
  for (const bool fuse : {true, false}) {
    Runner narrow({.bfloat16_matmul = true, .fuse = fuse, .device = test_device()});
    const auto near = value_or_throw(narrow.run(*main_, feed, names, scope_));
    for (size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(at::equal(exact[i].tensor, near[i].tensor), names[i] == of_input.name()) << names[i] << ", fuse " << fuse;
      EXPECT_TRUE(at::allclose(exact[i].tensor, near[i].tensor, 0.05, 0.05)) << names[i];
    }
  }
}

TEST_F(ExecutorTest, AValueThatIsNotFiniteIsNamedWithItsOperator) {
  const Variable x = data("x", {-1});
  LayerHelper helper("check", "");
  const Variable root = helper.create_tmp(), log = helper.create_tmp();
  helper.append_op({.type = "sqrt", .inputs = {{"X", {x.name()}}}, .outputs = {{"Out", {root.name()}}}});
  helper.append_op({.type = "log", .inputs = {{"X", {root.name()}}}, .outputs = {{"Out", {log.name()}}}});
  Runner strict({.check_finite = true, .device = test_device()});
  const auto run_of = [&](Runner& runner, std::vector<float> values) {
    return runner.run(*main_, {{"x", {.tensor = at::tensor(values)}}}, {log.name()}, scope_).status();
  };
  EXPECT_TRUE(run_of(strict, {1, 4}).ok());
  EXPECT_TRUE(run_of(runner_, {-1, 0}).ok()) << "nobody asked for the check";
  const Status status = run_of(strict, {1, -4, 0});
  EXPECT_EQ(status.code(), Code::failed_precondition);
  EXPECT_NE(status.message().find("operator 'sqrt'"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("variable '" + root.name() + "' has 1 NaN and 0 infinite of 3 values"), std::string::npos)
      << status.message();
  EXPECT_NE(run_of(strict, {0}).message().find("has 0 NaN and 1 infinite of 1 values"), std::string::npos);
}

}  // namespace
}  // namespace argosy::engine
