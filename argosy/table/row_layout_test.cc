#include "argosy/table/row_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "argosy/base/random.h"

namespace argosy::table {
namespace {

// A table whose rows keep what these say, and no more.
SparseSpec spec_of(uint32_t width, const char* rule, bool seconds, bool show_click) {
  SparseSpec spec{.name = "rows", .width = width};
  spec.rule = rule;
  spec.expiry.ttl_seconds = seconds ? 60 : 0;
  spec.show_click.enabled = show_click;
  return spec;
}

// Memory of a row and of what lies around it, which nobody may touch.
class Memory {
 public:
  explicit Memory(const RowLayout& layout) : words_(layout.words() + 4, kAround) {}
  float* row() { return words_.data() + 2; }
  bool is_untouched() const {
    const auto around = [](float value) { return value == kAround; };
    return std::all_of(words_.begin(), words_.begin() + 2, around) && std::all_of(words_.end() - 2, words_.end(), around);
  }

 private:
  static constexpr float kAround = 12345;
  alignas(8) std::vector<float> words_;
};

// Every part of a row is as it was written, whatever parts there are, and none lies over another or outside.
TEST(RowLayout, PartsHaveEachTheirPlace) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (const char* rule : {"sgd", "adagrad", "adam"}) {
    for (const bool seconds : {false, true}) {
      for (const bool show_click : {false, true}) {
        for (const uint32_t width : {1u, 2u, 7u, 16u}) {
          const SparseSpec spec = spec_of(width, rule, seconds, show_click);
          const auto made = *optim::make_rule(rule);
          const RowLayout layout(spec, made.get());
          ASSERT_EQ(layout.words() % 2, 0u) << "rows begin at multiples of 8 bytes";
          ASSERT_EQ(layout.bytes(), layout.words() * sizeof(float));
          ASSERT_EQ(layout.keeps_seconds(), seconds);
          ASSERT_EQ(layout.counts_show_click(), show_click);
          Memory memory(layout);
          float* row = memory.row();
          layout.reset(row, 77);
          const RowCounters counters{.seen_step = static_cast<uint32_t>(random()),
                                     .pushes = static_cast<uint32_t>(random.below(kMaxPushes)),
                                     .seen_seconds = seconds ? static_cast<uint32_t>(random()) : 0,
                                     .show = show_click ? 3.5f : 0,
                                     .click = show_click ? 1.25f : 0};
          layout.set_counters(row, counters);
          std::vector<float> value(width), states(width * made->element_states());
          for (float& one : value) one = static_cast<float>(random.normal());
          for (float& one : states) one = static_cast<float>(random.normal());
          std::ranges::copy(value, layout.value(row).begin());
          std::ranges::copy(states, layout.states(row).begin());
          const RowView view = layout.view(row);
          ASSERT_EQ(view.key, 77u);
          ASSERT_EQ(view.counters, counters);
          ASSERT_TRUE(std::ranges::equal(view.value, value));
          ASSERT_TRUE(std::ranges::equal(view.states, states));
          ASSERT_EQ(layout.states(row).data(), layout.value(row).data() + width) << "an update reads them together";
          ASSERT_TRUE(memory.is_untouched());
        }
      }
    }
  }
}

// Rows are what a server's memory is full of: what a table does not need takes no place.
TEST(RowLayout, ARowIsAsSmallAsItsParts) {
  const auto bytes = [](uint32_t width, const char* rule, bool seconds, bool show_click) {
    return RowLayout(spec_of(width, rule, seconds, show_click), optim::make_rule(rule)->get()).bytes();
  };
  EXPECT_EQ(bytes(8, "sgd", false, false), 16u + 32);
  EXPECT_EQ(bytes(8, "adagrad", false, false), 16u + 64);
  EXPECT_EQ(bytes(8, "adam", false, false), 16u + 96);
  EXPECT_EQ(bytes(9, "sgd", true, false), 16u + 4 + 36);
  EXPECT_EQ(bytes(8, "sgd", false, true), 16u + 8 + 32);
  EXPECT_EQ(RowLayout(spec_of(8, "sgd", false, false), nullptr).bytes(), 16u + 32) << "a geo table, which has no rule";
}

TEST(RowLayout, ANewRowHasTheRulesFirstStatesAndNoCounts) {
  const SparseSpec spec = spec_of(3, "adagrad", true, true);
  const auto rule = *optim::make_rule("adagrad", {{"initial_accumulator_value", 0.5f}});
  const RowLayout layout(spec, rule.get());
  Memory memory(layout);
  layout.reset(memory.row(), 9);
  EXPECT_EQ(layout.counters(memory.row()), RowCounters());
  const uint32_t flags = RowLayout::header(memory.row()).flags;
  EXPECT_EQ(flags, RowHeader::kLive | RowHeader::kUsed | RowHeader::kChanged) << "it is nowhere on disk";
  EXPECT_EQ(layout.states(memory.row()).size(), 3u);
  for (const float state : layout.states(memory.row())) EXPECT_EQ(state, 0.5f);
}

// Counts of a row and of a key that waits for admission go alike, and stay at their most instead of beginning anew.
TEST(RowLayout, ARowCountsAsAWaitingKeyDoes) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const SparseSpec spec = spec_of(2, "sgd", true, true);
  const RowLayout layout(spec, optim::make_rule("sgd")->get());
  Memory memory(layout);
  layout.reset(memory.row(), 9);
  RowCounters waiting;
  for (uint32_t step = 1; step <= 100; ++step) {
    const RowCounters gradient{.seen_step = step,
                               .seen_seconds = 1000 + step,
                               .show = static_cast<float>(random.below(5)),
                               .click = static_cast<float>(random.below(2))};
    layout.count(memory.row(), gradient);
    count_gradient(waiting, gradient);
    ASSERT_EQ(layout.counters(memory.row()), waiting);
    if (step == 50) {
      waiting.pushes = kMaxPushes - 3;
      layout.set_counters(memory.row(), waiting);
    }
  }
  EXPECT_EQ(waiting.pushes, kMaxPushes);
  layout.set_counters(memory.row(), {.pushes = kMaxPushes + 5});
  EXPECT_EQ(layout.counters(memory.row()).pushes, kMaxPushes) << "no other field gets what is too much";
  EXPECT_EQ(RowLayout::header(memory.row()).flags, RowHeader::kLive | RowHeader::kUsed | RowHeader::kChanged);
}

TEST(RowLayout, ATouchedRowDiffersFromItsCopyOnDisk) {
  const RowLayout layout(spec_of(2, "sgd", false, false), optim::make_rule("sgd")->get());
  Memory memory(layout);
  layout.reset(memory.row(), 9);
  RowHeader& head = RowLayout::header(memory.row());
  head.flags = RowHeader::kLive | RowHeader::kOnDisk;
  RowLayout::touch(memory.row());
  EXPECT_EQ(head.flags, RowHeader::kLive | RowHeader::kOnDisk | RowHeader::kChanged | RowHeader::kUsed);
}

}  // namespace
}  // namespace argosy::table
