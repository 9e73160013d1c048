#include "argosy/ps/state/state_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "argosy/base/random.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;

constexpr size_t kWidth = 3, kElements = 5;

// Two tables of rows, of which the second counts shows, and two dense ones.
JobSpec four_tables() {
  TableSpec counted = counting_rows("counted", kWidth);
  counted.show_click.enabled = true;
  JobSpec spec = job(Mode::sync, 8,
                     {counting_rows("rows", kWidth), counted, counting_dense("w", kElements), counting_dense("b", kElements)});
  spec.tables[0].clip_group = "first";
  spec.tables[2].clip_group = "second";
  spec.tables[3].clip_group = "first";
  return spec;
}

// What a worker pushed, with the memory that it lies in.
struct Push {
  struct Part {
    size_t table = 0;
    std::vector<uint64_t> keys;
    std::vector<float> values, shows, clicks;
  };
  std::vector<Part> parts;
  Contribution contribution;

  // REQUIRES: the parts stay as they are.
  const Contribution* laid_out(uint32_t worker) {
    contribution.worker = worker;
    for (const Part& part : parts)
      contribution.gradients.push_back(
          {.table = part.table, .keys = part.keys, .values = part.values, .shows = part.shows, .clicks = part.clicks});
    return &contribution;
  }
};

std::vector<float> drawn(Random& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

Push random_push(Random& random) {
  Push push;
  for (size_t table = 0; table < 4; ++table) {
    if (random.below(4) == 0) continue;
    Push::Part part{.table = table};
    if (table < 2) {
      for (uint64_t key = 0; key < 12; ++key) {
        if (random.below(2) == 0) part.keys.push_back(key * 7);
      }
      part.values = drawn(random, part.keys.size() * kWidth);
      if (table == 1 && random.below(2) == 0) {
        for (size_t i = 0; i < part.keys.size(); ++i) {
          part.shows.push_back(static_cast<float>(random.below(9)));
          part.clicks.push_back(static_cast<float>(random.below(3)));
        }
      }
    } else if (random.below(5) > 0) {
      part.values = drawn(random, kElements);
    }
    push.parts.push_back(std::move(part));
  }
  return push;
}

class MergedStepTest : public testing::Test {
 protected:
  std::unique_ptr<Tables> tables_ = std::move(Tables::make(four_tables(), {})).value();

  static const TableGradient* find(const MergedStep& step, size_t table) {
    const auto found = std::ranges::find(step.gradients(), table, &TableGradient::table);
    return found == step.gradients().end() ? nullptr : &*found;
  }
};

// Row by row and element by element the mean over all workers, of whom those that did not push a row count as zeros.
TEST_F(MergedStepTest, IsTheMeanOverAllWorkers) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<Push> pushes(1 + random.below(6));
    std::vector<const Contribution*> contributions;
    for (size_t i = 0; i < pushes.size(); ++i) {
      pushes[i] = random_push(random);
      contributions.push_back(pushes[i].laid_out(static_cast<uint32_t>(i)));
    }
    const MergedStep step(*tables_, contributions);
    for (size_t table = 0; table < 4; ++table) {
      std::map<uint64_t, std::vector<double>> rows;
      bool named = false;
      for (const Push& push : pushes) {
        for (const Push::Part& part : push.parts) {
          if (part.table != table) continue;
          named = true;
          const size_t width = table < 2 ? kWidth : kElements;
          for (size_t i = 0; i < part.values.size(); ++i) {
            auto& row = rows.try_emplace(table < 2 ? part.keys[i / width] : 0, width, 0.0).first->second;
            row[i % width] += double{part.values[i]} / static_cast<double>(pushes.size());
          }
        }
      }
      const TableGradient* merged = find(step, table);
      ASSERT_EQ(merged != nullptr, named);
      if (merged == nullptr) continue;
      const size_t width = table < 2 ? kWidth : kElements;
      ASSERT_EQ(merged->values.size(), rows.size() * width);
      ASSERT_EQ(merged->keys.size(), table < 2 ? rows.size() : 0);
      for (size_t i = 0; i < merged->values.size(); ++i)
        ASSERT_NEAR(merged->values[i], rows.at(table < 2 ? merged->keys[i / width] : 0)[i % width], 1e-5);
    }
  }
}

// The bits are a function of what each worker pushed: a restart that merges again gives the same ones.
TEST_F(MergedStepTest, IsTheSameBitsEachTime) {
  Random random(7);
  std::vector<Push> pushes(5);
  std::vector<const Contribution*> contributions;
  for (size_t i = 0; i < pushes.size(); ++i) {
    pushes[i] = random_push(random);
    contributions.push_back(pushes[i].laid_out(static_cast<uint32_t>(i)));
  }
  const MergedStep one(*tables_, contributions), other(*tables_, contributions);
  ASSERT_EQ(one.gradients().size(), other.gradients().size());
  for (size_t i = 0; i < one.gradients().size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(one.gradients()[i].keys, other.gradients()[i].keys));
    EXPECT_TRUE(std::ranges::equal(one.gradients()[i].values, other.gradients()[i].values));
  }
}

// Impressions are counts, which add up whatever the number of workers; a push without them shows each of its rows once, where
// another worker's has some.
TEST_F(MergedStepTest, ShowsAndClicksAreAddedUp) {
  Push with{.parts = {{.table = 1, .keys = {1, 2}, .values = std::vector<float>(6, 1), .shows = {10, 20}, .clicks = {1, 2}}}};
  Push without{.parts = {{.table = 1, .keys = {2, 3}, .values = std::vector<float>(6, 1)}}};
  const MergedStep step(*tables_, std::vector<const Contribution*>{with.laid_out(0), without.laid_out(1)});
  const TableGradient& merged = *find(step, 1);
  EXPECT_THAT(std::vector(merged.keys.begin(), merged.keys.end()), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(std::vector(merged.shows.begin(), merged.shows.end()), testing::ElementsAre(10, 21, 1));
  EXPECT_THAT(std::vector(merged.clicks.begin(), merged.clicks.end()), testing::ElementsAre(1, 2, 0));
  const MergedStep none(*tables_, std::vector<const Contribution*>{&without.contribution});
  EXPECT_TRUE(find(none, 1)->shows.empty()) << "where nobody counts";
}

// Groups are clipped by one norm over all their tables, which no other group's tables are part of.
TEST_F(MergedStepTest, ANormIsThatOfItsGroup) {
  Push push{.parts = {{.table = 0, .keys = {5}, .values = {1, 2, 2}},
                      {.table = 1, .keys = {5}, .values = {100, 100, 100}},  // of no group
                      {.table = 2, .values = {3, 0, 0, 0, 4}},
                      {.table = 3, .values = {4, 0, 0, 0, 0}}}};
  MergedStep step(*tables_, std::vector<const Contribution*>{push.laid_out(0)});
  EXPECT_THAT(step.norms(), testing::ElementsAre(9 + 16, 25));
  step.clip(std::vector<float>{0.5f, 0.25f});
  EXPECT_THAT(std::vector(find(step, 0)->values.begin(), find(step, 0)->values.end()), testing::ElementsAre(0.5f, 1, 1));
  EXPECT_EQ(find(step, 1)->values[0], 100);
  EXPECT_EQ(find(step, 2)->values[4], 1);
  EXPECT_EQ(find(step, 3)->values[0], 2);
  EXPECT_THAT(step.norms(), testing::ElementsAre(2.25 + 4, 25.0 / 16));
}

// By value first, then by the norm's factor; without factors, as where nobody clips by norm, by value alone.
TEST(MergedStepClip, ValuesAreLimitedBeforeTheyAreScaled) {
  JobSpec spec = four_tables();
  spec.tables[2].value_clip = ValueClip{-1, 2};
  const auto tables = std::move(Tables::make(spec, {})).value();
  Push push{.parts = {{.table = 2, .values = {-5, -0.5f, 0, 1.5f, 7}}}};
  const std::vector<const Contribution*> contributions = {push.laid_out(0)};
  MergedStep by_value(*tables, contributions), by_both(*tables, contributions);
  by_value.clip({});
  EXPECT_THAT(std::vector(by_value.gradients()[0].values.begin(), by_value.gradients()[0].values.end()),
              testing::ElementsAre(-1, -0.5f, 0, 1.5f, 2));
  by_both.clip(std::vector<float>{1, 0.5f});
  EXPECT_THAT(std::vector(by_both.gradients()[0].values.begin(), by_both.gradients()[0].values.end()),
              testing::ElementsAre(-0.5f, -0.25f, 0, 0.75f, 1));
}

// Pushes wait in memory that others own: what is merged is a copy, and they are as they were.
TEST_F(MergedStepTest, LeavesThePushesAsTheyWere) {
  Push push{.parts = {{.table = 0, .keys = {5}, .values = {1, 2, 2}}, {.table = 2, .values = {3, 0, 0, 0, 4}}}};
  MergedStep step(*tables_, std::vector<const Contribution*>{push.laid_out(0)});
  step.clip(std::vector<float>{0, 0});
  EXPECT_EQ(push.parts[0].values, (std::vector<float>{1, 2, 2}));
  EXPECT_EQ(push.parts[1].values, (std::vector<float>{3, 0, 0, 0, 4}));
}

}  // namespace
}  // namespace argosy::ps
