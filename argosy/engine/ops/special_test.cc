// Special functions against facts about them that hold everywhere, and the shapes of pairs.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "argosy/engine/ops/apply_op_test.h"

namespace argosy::engine {
namespace {

using testing::HasSubstr;

Variable of_one(const char* type, const Variable& x, graph::AttributeMap attributes = {}) {
  return apply_op(type, {{"X", {x.name()}}}, std::move(attributes))[0];
}

Variable of_pair(const char* type, const Variable& x, const Variable& y, DType dtype = DType::float64) {
  return apply_op(type, {{"x", {x.name()}}, {"y", {y.name()}}}, {}, {{"Out", dtype}})[0];
}

class SpecialCase : public OpTest {};

at::Tensor each(const at::Tensor& x, double (*formula)(double)) {
  at::Tensor out = x.clone();
  for (int64_t i = 0; i < out.numel(); ++i) out.view(-1)[i] = formula(x.view(-1)[i].item<double>());
  return out;
}

// By the integral of exp(x cos t) cos(n t) over half a turn; the middle rule is exact to the last digits for what is periodic.
double bessel(double x, int order) {
  constexpr int kSteps = 64;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double angle = M_PI * (i + 0.5) / kSteps;
    sum += std::exp(x * std::cos(angle)) * std::cos(order * angle);
  }
  return sum / kSteps;
}

// Digamma by its recurrence up to where the first terms of the asymptotic series are enough.
double digamma(double x) {
  double sum = 0;
  for (; x < 30; x += 1) sum -= 1 / x;
  const double square = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

const std::vector<Case> kSpecial = {
    {.name = "lgamma",
     .shapes = {{4, 3}},
     .build = [](auto& in) { return of_one("lgamma", in[0]); },
     .expected = [](auto& in) { return each(in[0], [](double x) { return std::lgamma(x); }); },
     .out_shape = {-1, 3},
     .low = 0.3,
     .high = 5},
    {.name = "digamma",
     .shapes = {{4, 3}},
     .build = [](auto& in) { return of_one("digamma", in[0]); },
     .expected = [](auto& in) { return each(in[0], digamma); },
     .low = 0.3,
     .high = 5},
    {.name = "erfinv",
     .shapes = {{4, 3}},
     .build = [](auto& in) { return of_one("erfinv", of_one("erf", in[0])); },
     .expected = [](auto& in) { return in[0]; }},
    {.name = "i0",
     .shapes = {{4, 3}},
     .build = [](auto& in) { return of_one("i0", in[0]); },
     .expected = [](auto& in) { return each(in[0], [](double x) { return bessel(x, 0); }); },
     .low = -4,
     .high = 4},
    {.name = "i0e",
     .shapes = {{4, 3}},
     .build = [](auto& in) { return of_one("i0e", in[0]); },
     .expected = [](auto& in) { return each(in[0], [](double x) { return std::exp(-std::abs(x)) * bessel(x, 0); }); },
     .low = -4,
     .high = 4},
    {.name = "i1",
     .shapes = {{4, 3}},
     .build = [](auto& in) { return of_one("i1", in[0]); },
     .expected = [](auto& in) { return each(in[0], [](double x) { return bessel(x, 1); }); },
     .low = -4,
     .high = 4},
    {.name = "i1e",
     .shapes = {{4, 3}},
     .build = [](auto& in) { return of_one("i1e", in[0]); },
     .expected = [](auto& in) { return each(in[0], [](double x) { return std::exp(-std::abs(x)) * bessel(x, 1); }); },
     .low = -4,
     .high = 4},
    {.name = "angle",
     .shapes = {{4, 3}},
     .build = [](auto& in) { return of_one("angle", in[0]); },
     .expected = [](auto& in) { return each(in[0], [](double x) { return x < 0 ? M_PI : 0.0; }); }},
    {.name = "atan2_broadcasts",
     .shapes = {{3, 4}, {4}},
     .build = [](auto& in) { return apply_op("atan2", {{"X1", {in[0].name()}}, {"X2", {in[1].name()}}}, {})[0]; },
     .expected =
         [](auto& in) {
           at::Tensor out = in[0].clone();
           for (int64_t i = 0; i < 12; ++i)
             out.view(-1)[i] = std::atan2(in[0].view(-1)[i].template item<double>(), in[1][i % 4].template item<double>());
           return out;
         },
     .out_shape = {3, 4},
     .fixed = true},
};

TEST_P(SpecialCase, IsItsFormula) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, SpecialCase, testing::ValuesIn(kSpecial), case_name);

using Special = OpTest;

TEST_F(Special, PolygammaIsTheSlopeOfTheOrderBelow) {
  const Variable x = data("x", {-1});
  const at::Tensor places = at::linspace(1, 5, 9, at::kDouble);
  const Feed feed = {{"x", {.tensor = places}}};
  EXPECT_TRUE(at::allclose(run(feed, of_one("polygamma", x, {{"n", 0}})), each(places, digamma), 1e-9, 1e-9));
  const at::Tensor slope = each(places, [](double at) { return (digamma(at + 1e-4) - digamma(at - 1e-4)) / 2e-4; });
  EXPECT_TRUE(at::allclose(run(feed, of_one("polygamma", x, {{"n", 1}})), slope, 1e-6, 1e-6));
}

TEST_F(Special, PolygammaHasNoNegativeOrder) {
  const Variable out = of_one("polygamma", data("x", {-1}), {{"n", -1}});
  EXPECT_THAT(error_of({{"x", {.tensor = doubles({1})}}}, out), HasSubstr("attribute 'n' is -1, expected 0 or more"));
}

// Mean and variance of what is drawn are both the given number.
TEST_F(Special, PoissonDrawsWithTheGivenMean) {
  const Variable out = of_one("poisson", data("x", {-1}));
  const at::Tensor drawn = run({{"x", {.tensor = at::full({20000}, 3.0, at::kDouble)}}}, out);
  EXPECT_TRUE(at::equal(drawn, at::floor(drawn)));
  EXPECT_NEAR(drawn.mean().item<double>(), 3, 0.1);
  EXPECT_NEAR(drawn.var().item<double>(), 3, 0.2);
}

TEST_F(Special, DivisorsOfWholeNumbers) {
  const Variable x = data("x", {-1, 1}, DType::int64), y = data("y", {4}, DType::int64);
  const Variable divisor = of_pair("gcd", x, y, DType::int64), multiple = of_pair("lcm", x, y, DType::int64);
  EXPECT_EQ(divisor.shape(), (std::vector<int64_t>{-1, 4}));
  const at::Tensor left = at::randint(1, 100, {5, 1}, at::kLong), right = at::randint(1, 100, {4}, at::kLong);
  const Feed feed = {{"x", {.tensor = left}}, {"y", {.tensor = right}}};
  const at::Tensor divisors = run(feed, divisor), multiples = run(feed, multiple);
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t k = 0; k < 4; ++k) {
      const auto a = left[i][0].item<int64_t>(), b = right[k].item<int64_t>();
      EXPECT_EQ(divisors[i][k].item<int64_t>(), std::gcd(a, b)) << a << " and " << b;
      EXPECT_EQ(multiples[i][k].item<int64_t>(), std::lcm(a, b)) << a << " and " << b;
    }
  }
}

TEST_F(Special, TheNextNumberIsTheNearestOne) {
  const Variable out = of_pair("nextafter", data("x", {-1}), data("y", {-1}));
  const Feed feed = {{"x", {.tensor = doubles({1, 1, 0})}}, {"y", {.tensor = doubles({2, 0, -1})}}};
  const at::Tensor found = run(feed, out);
  EXPECT_EQ(found[0].item<double>(), std::nextafter(1.0, 2.0));
  EXPECT_EQ(found[1].item<double>(), std::nextafter(1.0, 0.0));
  EXPECT_EQ(found[2].item<double>(), std::nextafter(0.0, -1.0));
}

// Each way that two shapes may meet; -1 is not known while building.
TEST_F(Special, ThePairsShapeIsThatOfBothBroadcast) {
  auto shape_of = [&, count = 0](std::vector<int64_t> x, std::vector<int64_t> y) mutable {
    const std::string name = std::to_string(count++);
    return of_pair("nextafter", data("x" + name, std::move(x)), data("y" + name, std::move(y))).shape();
  };
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(shape_of({2, 3}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(shape_of({3}, {2, 1}), (Shape{2, 3}));
  EXPECT_EQ(shape_of({-1, 1}, {4}), (Shape{-1, 4}));
  EXPECT_EQ(shape_of({-1, 3}, {5, 1}), (Shape{5, 3}));
  EXPECT_EQ(shape_of({-1, 3}, {1, 3}), (Shape{-1, 3}));
  EXPECT_EQ(shape_of({1, 3}, {-1, 3}), (Shape{-1, 3}));
  EXPECT_THAT(refusal_of([&] { of_pair("nextafter", data("a", {2, 3}), data("b", {4})); }),
              HasSubstr("variables 'a' [2, 3] and 'b' [4] do not fit"));
}

TEST_F(Special, AnInverseTimesItsMatrixIsOne) {
  const Variable x = data("x", {-1, 3, 3});
  const Variable inverse = apply_op("inverse", {{"Input", {x.name()}}}, {}, {{"Output", DType::float64}})[0];
  const at::Tensor matrices = at::randn({2, 3, 3}, at::kDouble) + 4 * at::eye(3, at::kDouble);
  const Feed feed = {{"x", {.tensor = matrices}}};
  EXPECT_TRUE(at::allclose(at::matmul(run(feed, inverse), matrices), at::eye(3, at::kDouble).expand({2, 3, 3}), 1e-9, 1e-9));
  check_gradients(inverse, feed, {x});
}

TEST_F(Special, ACholeskyFactorIsTriangularAndGivesItsMatrixBack) {
  const Variable x = data("x", {-1, 3, 3});
  const Variable lower = of_one("cholesky", x), upper = of_one("cholesky", x, {{"upper", true}});
  const at::Tensor root = at::randn({2, 3, 3}, at::kDouble);
  const at::Tensor matrices = at::matmul(root, root.transpose(1, 2)) + at::eye(3, at::kDouble);
  const Feed feed = {{"x", {.tensor = matrices}}};
  const at::Tensor l = run(feed, lower), u = run(feed, upper);
  EXPECT_TRUE(at::equal(l, l.tril()));
  EXPECT_TRUE(at::equal(u, u.triu()));
  EXPECT_TRUE(at::allclose(at::matmul(l, l.transpose(1, 2)), matrices));
  EXPECT_TRUE(at::allclose(at::matmul(u.transpose(1, 2), u), matrices));
}

TEST_F(Special, MatricesThatAreNotSquareAreRefusedWhileBuilding) {
  const Variable x = data("x", {-1, 3, 4});
  const std::string expected = "'x' has shape [-1, 3, 4], expected square matrices";
  EXPECT_THAT(refusal_of([&] { of_one("cholesky", x); }), HasSubstr(expected));
  EXPECT_THAT(refusal_of([&] { apply_op("inverse", {{"Input", {x.name()}}}, {}, {{"Output", DType::float64}}); }),
              HasSubstr(expected));
}

}  // namespace
}  // namespace argosy::engine
