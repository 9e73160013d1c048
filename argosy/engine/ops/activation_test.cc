// Functions of one element against the formulas of their definition, in plain C++.
#include <cmath>

#include "argosy/engine/ops/case_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers.h"

namespace argosy::engine {
namespace {

namespace L = argosy::layers;

struct Unary {
  std::string name;
  std::function<Variable(const Variable&)> layer;
  double (*formula)(double);
  double low = -3, high = 3;
  std::string op = name;  // the type of the operator, from which the output has its name
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double limit(double x, double low, double high) { return std::min(std::max(x, low), high); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// The gradient of a function with steps is zero everywhere else, which the differences agree with.
const std::vector<Unary> kUnary = {
    {"relu", [](auto& x) { return L::relu(x); }, [](double x) { return std::max(x, 0.0); }},
    {"sigmoid", [](auto& x) { return L::sigmoid(x); }, sigmoid},
    {"logsigmoid", [](auto& x) { return L::logsigmoid(x); }, [](double x) { return std::log(sigmoid(x)); }},
    {"tanh", [](auto& x) { return L::tanh(x); }, [](double x) { return std::tanh(x); }},
    {"tanh_shrink", [](auto& x) { return L::tanh_shrink(x); }, [](double x) { return x - std::tanh(x); }},
    {"softsign", [](auto& x) { return L::softsign(x); }, [](double x) { return x / (1 + std::abs(x)); }},
    {"softplus", [](auto& x) { return L::softplus(x); }, [](double x) { return std::log1p(std::exp(x)); }},
    {"exp", [](auto& x) { return L::exp(x); }, [](double x) { return std::exp(x); }},
    {"log", [](auto& x) { return L::log(x); }, [](double x) { return std::log(x); }, 0.1, 4},
    {"sqrt", [](auto& x) { return L::sqrt(x); }, [](double x) { return std::sqrt(x); }, 0.1, 4},
    {"rsqrt", [](auto& x) { return L::rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }, 0.1, 4},
    {"square", [](auto& x) { return L::square(x); }, [](double x) { return x * x; }},
    {"abs", [](auto& x) { return L::abs(x); }, [](double x) { return std::abs(x); }},
    {"ceil", [](auto& x) { return L::ceil(x); }, [](double x) { return std::ceil(x); }},
    {"floor", [](auto& x) { return L::floor(x); }, [](double x) { return std::floor(x); }},
    {"round", [](auto& x) { return L::round(x); }, [](double x) { return std::round(x); }},
    {"reciprocal", [](auto& x) { return L::reciprocal(x); }, [](double x) { return 1 / x; }, 0.3, 3},
    {"sin", [](auto& x) { return L::sin(x); }, [](double x) { return std::sin(x); }},
    {"cos", [](auto& x) { return L::cos(x); }, [](double x) { return std::cos(x); }},
    {"asin", [](auto& x) { return L::asin(x); }, [](double x) { return std::asin(x); }, -0.9, 0.9},
    {"acos", [](auto& x) { return L::acos(x); }, [](double x) { return std::acos(x); }, -0.9, 0.9},
    {"atan", [](auto& x) { return L::atan(x); }, [](double x) { return std::atan(x); }},
    {"erf", [](auto& x) { return L::erf(x); }, [](double x) { return std::erf(x); }},
    {"sign", [](auto& x) { return L::sign(x); }, sign},
    {"relu6", [](auto& x) { return L::relu6(x, 2.0f); }, [](double x) { return limit(x, 0, 2); }},
    {"leaky_relu", [](auto& x) { return L::leaky_relu(x, 0.25f); }, [](double x) { return x > 0 ? x : 0.25 * x; }},
    {"elu", [](auto& x) { return L::elu(x, 2.0f); }, [](double x) { return x > 0 ? x : 2 * std::expm1(x); }},
    {"gelu", [](auto& x) { return L::gelu(x); }, [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"gelu_approximate", [](auto& x) { return L::gelu(x, true); },
     [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, -3, 3, "gelu"},
    {"swish", [](auto& x) { return L::swish(x, 0.5f); }, [](double x) { return x * sigmoid(0.5 * x); }},
    {"hard_sigmoid", [](auto& x) { return L::hard_sigmoid(x, 0.25f, 0.5f); },
     [](double x) { return limit(0.25 * x + 0.5, 0, 1); }},
    {"hard_swish", [](auto& x) { return L::hard_swish(x, 4.0f, 2.0f, 1.0f); },
     [](double x) { return x * limit(x + 1, 0, 4) / 2; }},
    {"pow", [](auto& x) { return L::pow(x, 3.0f); }, [](double x) { return x * x * x; }},
};

class UnaryTest : public CaseTest {};

std::vector<Case> unary_cases() {
  std::vector<Case> cases;
  for (const Unary& unary : kUnary) {
    const auto formula = unary.formula;
    cases.push_back({.name = unary.name,
                     .shapes = {{5, 4}},
                     .build = [layer = unary.layer](auto& in) { return layer(in[0]); },
                     .expected =
                         [formula](auto& in) {
                           at::Tensor out = in[0].clone();
                           for (int64_t i = 0; i < out.numel(); ++i)
                             out.view(-1)[i] = formula(in[0].view(-1)[i].template item<double>());
                           return out;
                         },
                     .out_name = unary.op + "_0.tmp_0",
                     .out_shape = {-1, 4},
                     .low = unary.low,
                     .high = unary.high});
  }
  return cases;
}

TEST_P(UnaryTest, IsItsFormula) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, UnaryTest, testing::ValuesIn(unary_cases()), case_name);

class Activation : public CaseTest {};

const std::vector<Case> kSoftmax = {
    {.name = "softmax",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::softmax(in[0]); },
     .expected = [](auto& in) { return in[0].exp() / in[0].exp().sum(-1, true); },
     .out_name = "softmax_0.tmp_0",
     .out_shape = {-1, 4}},
    {.name = "softmax_of_an_axis",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::softmax(in[0], 1, "mine"); },
     .expected = [](auto& in) { return in[0].exp() / in[0].exp().sum(1, true); },
     .out_name = "mine.tmp_0"},
    {.name = "log_softmax",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::log_softmax(in[0]); },
     .expected = [](auto& in) { return in[0] - in[0].exp().sum(-1, true).log(); },
     .out_name = "log_softmax_0.tmp_1",
     .out_shape = {-1, 4}},
    {.name = "pow_of_a_variable",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::pow(in[0], L::fill_constant({1}, kFloat64, 2.0)); },
     .expected = [](auto& in) { return in[0] * in[0]; },
     .out_name = "pow_0.tmp_0"},
};

TEST_P(Activation, IsItsFormula) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, Activation, testing::ValuesIn(kSoftmax), case_name);

using ActivationEdges = LayerTest;

// torch rounds halves to the even neighbour, Paddle away from zero.
TEST_F(ActivationEdges, RoundTakesHalvesAwayFromZero) {
  const Variable out = L::round(data("x", {-1}));
  const at::Tensor x = at::tensor({0.5, 1.5, 2.5, -0.5, -2.5, 0.49999999999999994}, at::kDouble);
  EXPECT_TRUE(at::equal(run({{"x", {.tensor = x}}}, out), at::tensor({1.0, 2.0, 3.0, -1.0, -3.0, 0.0}, at::kDouble)));
}

// After relu many values are exactly 0, the bound of relu6: they take no gradient in Paddle.
TEST_F(ActivationEdges, BoundsTakeNoGradient) {
  const Variable x = data("x", {-1});
  const std::vector<Variable> outs = {L::relu6(x), L::clip(x, 0.0f, 6.0f)};
  for (const Variable& out : outs) {
    const auto grads = graph::gradients({out}, {x});
    const at::Tensor found = run({{"x", {.tensor = at::tensor({0.0, 6.0, 0.5, 8.0}, at::kDouble)}}}, grads[0]);
    EXPECT_TRUE(at::equal(found, at::tensor({0.0, 0.0, 1.0, 0.0}, at::kDouble))) << out.name() << found;
  }
}

TEST_F(ActivationEdges, SequencesStaySequences) {
  const Variable out = L::relu(data("x", {-1, 1}, DType::float64, 1));
  EXPECT_EQ(out.lod_level(), 1);
  const LodPtr levels = lod({{0, 1, 3}});
  EXPECT_EQ(run({{"x", {.tensor = at::randn({3, 1}, at::kDouble), .lod = levels}}}, std::vector<Variable>{out})[0].lod, levels);
}

}  // namespace
}  // namespace argosy::engine
