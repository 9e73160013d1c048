#include "argosy/ps/state/nonfinite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "argosy/base/random.h"
#include "argosy/ps/server/server_scratch.h"
#include "argosy/ps/state/state_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A sparse table that counts shows, and a dense one.
class NonfiniteTest : public testing::Test {
 protected:
  NonfiniteTest() {
    TableSpec rows = counting_rows("rows", 2), dense = counting_dense("dense", 3);
    rows.show_click.enabled = true;
    state_ = make_state(job(Mode::async, 1, {rows, dense}));
  }

  Tables& tables() { return state_->tables(); }

  // Rows of keys 0, 1, … with their values, shows and clicks, and the dense table's gradient.
  StoredRecord push(const std::vector<float>& values, const std::vector<float>& shows, const std::vector<float>& clicks,
                    const std::vector<float>& dense) const {
    wire::PushRequest request;
    *request.mutable_caller() = caller_of(4, 1);
    request.add_batches(batch_id(2, 7));
    std::vector<uint64_t> keys(shows.size());
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = 100 + i;
    wire::Section* sparse = request.add_sections();
    sparse->set_count(keys.size());
    sparse->set_statistics(true);
    wire::Section* whole = request.add_sections();
    whole->set_table(1);
    whole->set_count(dense.size());
    std::vector<float> floats = values;
    for (const auto* part : {&shows, &clicks, &dense}) floats.insert(floats.end(), part->begin(), part->end());
    return stored(wire::PUSH, request, keys, floats);
  }

  // What a push comes to under a policy, laid out again; `finite_` keeps its bytes.
  std::vector<TableGradient> after(const StoredRecord& record, Nonfinite policy) {
    finite_ = make_finite(tables(), record.record(), policy);
    if (!finite_) return {};
    const auto request = parse<wire::PushRequest>(finite_->record(5));
    EXPECT_TRUE(request.ok());
    const auto gradients = tables().lay_out(request->sections(), finite_->record(5).payload);
    EXPECT_TRUE(gradients.ok()) << gradients.status().message();
    return gradients.ok() ? *gradients : std::vector<TableGradient>();
  }
  // How many rows of a table the push that is left says were not finite.
  uint64_t told(int section) const { return parse<wire::PushRequest>(finite_->record(5))->sections(section).nonfinite(); }
  static std::vector<float> list(std::span<const float> numbers) { return {numbers.begin(), numbers.end()}; }

  std::unique_ptr<State> state_;
  std::optional<FinitePush> finite_;
};

TEST_F(NonfiniteTest, APushOfFiniteNumbersIsLeftAlone) {
  const StoredRecord record = push({1, 2, 3, 4}, {1, 1}, {0, 1}, {5, 6, 7});
  for (const Nonfinite policy : {Nonfinite::skip, Nonfinite::clip}) {
    EXPECT_FALSE(make_finite(tables(), record.record(), policy).has_value());
  }
  EXPECT_EQ(tables().nonfinite(0) + tables().nonfinite(1), 0u);
}

TEST_F(NonfiniteTest, SkipLeavesOutTheRowAndTheDenseSection) {
  const auto gradients = after(push({1, 2, kNan, 4, 5, 6}, {1, 2, 3}, {4, 5, 6}, {7, kInfinity, 9}), Nonfinite::skip);
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_EQ(std::vector<uint64_t>(gradients[0].keys.begin(), gradients[0].keys.end()), (std::vector<uint64_t>{100, 102}));
  EXPECT_EQ(list(gradients[0].values), (std::vector<float>{1, 2, 5, 6}));
  EXPECT_EQ(list(gradients[0].shows), (std::vector<float>{1, 3})) << "the counts stay with their keys";
  EXPECT_EQ(list(gradients[0].clicks), (std::vector<float>{4, 6}));
  EXPECT_TRUE(gradients[1].values.empty());
  EXPECT_EQ(told(0), 1u);
  EXPECT_EQ(told(1), 1u) << "a dense table's part counts once";
  EXPECT_EQ(tables().nonfinite(0), 0u) << "it is counted where it is applied: a push that is repeated counts once";
}

TEST_F(NonfiniteTest, SkipLooksAtShowsAndClicksToo) {
  const auto gradients = after(push({1, 2, 3, 4, 5, 6}, {1, kNan, 3}, {1, 2, -kInfinity}, {}), Nonfinite::skip);
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_EQ(list(gradients[0].values), (std::vector<float>{1, 2}));
  EXPECT_EQ(told(0), 2u);
}

TEST_F(NonfiniteTest, ClipWithoutBoundsMakesThemZero) {
  const auto gradients = after(push({1, kNan, kInfinity, -kInfinity}, {kNan, 2}, {3, kInfinity}, {kNan, 8, 9}), Nonfinite::clip);
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_EQ(list(gradients[0].values), (std::vector<float>{1, 0, 0, 0}));
  EXPECT_EQ(list(gradients[0].shows), (std::vector<float>{0, 2}));
  EXPECT_EQ(list(gradients[0].clicks), (std::vector<float>{3, 0}));
  EXPECT_EQ(list(gradients[1].values), (std::vector<float>{0, 8, 9}));
  EXPECT_EQ(gradients[0].keys.size(), 2u) << "no row is left out";
}

// An infinity becomes the bound on its side; where that is none, it is 0: what comes out is finite.
TEST_F(NonfiniteTest, ClipTakesTheBoundsOfTheTable) {
  TableSpec both = counting_dense("both", 3), above = counting_dense("above", 3);
  both.value_clip = ValueClip{-2, 3};
  above.value_clip = ValueClip{-kInfinity, 3};
  state_ = make_state(job(Mode::sync, 1, {both, above}));
  wire::PushRequest request;
  request.add_batches(0);
  for (uint32_t table = 0; table < 2; ++table) {
    request.add_sections()->set_table(table);
    request.mutable_sections(static_cast<int>(table))->set_count(3);
  }
  const std::vector<float> numbers{kInfinity, -kInfinity, kNan};
  std::vector<float> floats = numbers;
  floats.insert(floats.end(), numbers.begin(), numbers.end());
  const auto gradients = after(stored(wire::PUSH, request, {}, floats), Nonfinite::clip);
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_EQ(list(gradients[0].values), (std::vector<float>{3, -2, 0}));
  EXPECT_EQ(list(gradients[1].values), (std::vector<float>{3, 0, 0}));
}

TEST_F(NonfiniteTest, ARefusalNamesTableKeyWorkerAndBatch) {
  const auto refusal = [&](const StoredRecord& record) {
    const auto request = parse<wire::PushRequest>(record.record());
    const auto gradients = tables().lay_out(request->sections(), record.record().payload);
    EXPECT_FALSE(is_finite(*gradients));
    const Status refused = nonfinite_gradient(tables(), *request, *gradients);
    EXPECT_EQ(refused.code(), Code::invalid_argument);
    return std::string(refused.message());
  };
  EXPECT_THAT(refusal(push({1, 2, 3, kNan}, {1, 1}, {0, 0}, {})),
              HasSubstr("worker 4, batch 7 of pass 2: table 'rows', key 101: number 1 of its gradient is nan; "));
  EXPECT_THAT(refusal(push({1, 2}, {kInfinity}, {0}, {})),
              HasSubstr("table 'rows', key 100: its shows or clicks are not finite"));
  EXPECT_THAT(refusal(push({}, {}, {}, {1, 2, -kInfinity})), HasSubstr("table 'dense', element 2: the gradient is -inf"));
  EXPECT_THAT(refusal(push({}, {}, {}, {1, 2, -kInfinity})), HasSubstr("nonfinite=skip or clip"));
  EXPECT_EQ(tables().nonfinite(0), 2u);
  EXPECT_EQ(tables().nonfinite(1), 2u);
  EXPECT_EQ(tables().left_out(0) + tables().left_out(1), 0u) << "nothing was given up";
}

TEST_F(NonfiniteTest, WhatCannotBeReadIsNobodysGradient) {
  StoredRecord record = push({kNan, 2}, {1}, {0}, {});
  record.payload_bytes -= 4;
  EXPECT_FALSE(make_finite(tables(), record.record(), Nonfinite::skip).has_value()) << "a payload that is too short";
  record = push({kNan, 2}, {1}, {0}, {});
  record.header.resize(record.header.size() - 1);
  EXPECT_FALSE(make_finite(tables(), record.record(), Nonfinite::skip).has_value()) << "a header that is cut off";
  EXPECT_EQ(tables().nonfinite(0), 0u);
}

// Whatever numbers come: under either policy what goes to the log is finite, skip keeps exactly the finite rows, and clip all.
TEST_F(NonfiniteTest, WhatIsLoggedIsFinite) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const auto numbers = [&](size_t n) {
    std::vector<float> made(n);
    for (float& number : made) {
      const uint64_t draw = random.below(20);
      number = draw == 0 ? kNan : draw == 1 ? kInfinity : draw == 2 ? -kInfinity : static_cast<float>(draw);
    }
    return made;
  };
  const auto finite = [](float number) { return std::isfinite(number); };
  for (int round = 0; round < 300; ++round) {
    const size_t rows = random.below(6);
    const auto values = numbers(2 * rows), shows = numbers(rows), clicks = numbers(rows), dense = numbers(3 * random.below(2));
    std::vector<uint64_t> kept;
    for (size_t i = 0; i < rows; ++i) {
      if (finite(values[2 * i]) && finite(values[2 * i + 1]) && finite(shows[i]) && finite(clicks[i])) kept.push_back(100 + i);
    }
    const bool all = kept.size() == rows && std::ranges::all_of(dense, finite);
    const StoredRecord record = push(values, shows, clicks, dense);
    for (const Nonfinite policy : {Nonfinite::skip, Nonfinite::clip}) {
      const auto gradients = after(record, policy);
      ASSERT_EQ(gradients.empty(), all);
      if (all) continue;
      ASSERT_TRUE(is_finite(gradients));
      const std::vector<uint64_t> keys(gradients[0].keys.begin(), gradients[0].keys.end());
      if (policy == Nonfinite::skip) {
        ASSERT_EQ(keys, kept);
      } else {
        ASSERT_EQ(keys.size(), rows);
        ASSERT_EQ(gradients[1].values.size(), dense.size());
      }
    }
  }
}

}  // namespace
}  // namespace argosy::ps
