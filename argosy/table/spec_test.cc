#include "argosy/table/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace argosy::table {
namespace {

using testing::HasSubstr;

struct Moments {
  double mean = 0, deviation = 0, low = 1e9, high = -1e9;
};

Moments moments(const RowInitializer& initializer) {
  Moments found;
  double squares = 0;
  std::vector<float> row(10);
  constexpr int kRows = 20'000;
  for (uint64_t key = 0; key < kRows; ++key) {
    row_initial_value(initializer, key, row);
    for (const float x : row) {
      found.mean += x;
      squares += double{x} * x;
      found.low = std::min<double>(found.low, x);
      found.high = std::max<double>(found.high, x);
    }
  }
  found.mean /= kRows * 10;
  found.deviation = std::sqrt(squares / (kRows * 10) - found.mean * found.mean);
  return found;
}

TEST(RowInitializer, DrawsFromTheAskedDistribution) {
  const Moments uniform = moments({.kind = RowInitializer::Kind::uniform, .a = -1, .b = 3, .seed = 1});
  EXPECT_NEAR(uniform.mean, 1, 0.02);
  EXPECT_NEAR(uniform.deviation, 4 / std::sqrt(12.0), 0.02);
  EXPECT_GE(uniform.low, -1);
  EXPECT_LE(uniform.high, 3);
  const Moments normal = moments({.kind = RowInitializer::Kind::normal, .a = 5, .b = 2, .seed = 1});
  EXPECT_NEAR(normal.mean, 5, 0.03);
  EXPECT_NEAR(normal.deviation, 2, 0.03);
  EXPECT_GT(normal.high, 9.5);
  const Moments truncated = moments({.kind = RowInitializer::Kind::truncated_normal, .a = 5, .b = 2, .seed = 1});
  EXPECT_NEAR(truncated.mean, 5, 0.03);
  EXPECT_NEAR(truncated.deviation, 2 * 0.8796, 0.03);  // of a normal distribution cut at two deviations
  EXPECT_GE(truncated.low, 1);
  EXPECT_LE(truncated.high, 9);
  const Moments constant = moments({.kind = RowInitializer::Kind::constant, .a = 0.5f});
  EXPECT_EQ(constant.low, 0.5);
  EXPECT_EQ(constant.high, 0.5);
}

// Values that saved models and other servers rely on: a change here changes what every table begins with.
TEST(RowInitializer, GivesTheSameNumbersForEver) {
  std::vector<float> row(2);
  row_initial_value({.kind = RowInitializer::Kind::uniform, .a = 0, .b = 1, .seed = 42}, 7, row);
  EXPECT_FLOAT_EQ(row[0], 0.437293198f);
  EXPECT_FLOAT_EQ(row[1], 0.201408601f);
}

TEST(Spec, RefusesWhatCannotWork) {
  const auto message = [](auto change) {
    SparseSpec spec{.name = "t", .width = 1};
    EXPECT_EQ(spec.check(), Status());
    change(spec);
    const Status status = spec.check();
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_THAT(status.message(), HasSubstr("table 't'"));
    return status.message();
  };
  using S = SparseSpec;
  EXPECT_THAT(message([](S& s) { s.width = 0; }), HasSubstr("width 0"));
  EXPECT_THAT(message([](S& s) { s.initializer = {.kind = RowInitializer::Kind::uniform, .a = 2, .b = 1}; }),
              HasSubstr("high end is lower"));
  EXPECT_THAT(message([](S& s) { s.initializer.a = NAN; }), HasSubstr("finite"));
  EXPECT_THAT(message([](S& s) { s.admission = {.kind = Admission::Kind::probability, .probability = 0}; }),
              HasSubstr("above 0"));
  EXPECT_THAT(message([](S& s) { s.admission = {.kind = Admission::Kind::count, .count = 0}; }), HasSubstr("expected 1 to"));
  EXPECT_THAT(message([](S& s) { s.show_click.decay = 2; }), HasSubstr("decay by 2"));
  EXPECT_THAT(message([](S& s) {
                s.mode = Mode::geo;
                s.admission = {.kind = Admission::Kind::count, .count = 2};
              }),
              HasSubstr("geo table admits every key"));
  EXPECT_THAT(message([](S& s) {
                s.mode = Mode::geo;
                s.regularization = optim::L2Decay{0.1};
              }),
              HasSubstr("no regularization"));
  EXPECT_EQ((DenseSpec{.name = "d", .size = 0}).check().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace argosy::table
