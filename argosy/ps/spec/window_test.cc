#include "argosy/ps/spec/window.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rapidcheck/state.h>

#include <array>
#include <limits>
#include <map>

namespace argosy::ps {
namespace {

// What a window stands for, said plainly: the set of all batches, and the rounds that count as a whole.
struct Model {
  std::set<uint64_t> batches;
  uint32_t round = 0;  // of the latest batch, or after the latest leave

  bool contains(uint64_t batch) const { return round_of(batch) < round || batches.contains(batch); }
};

// A push of one to four batches near the front of the window, whole, in part or not at all there already.
struct Push : rc::state::Command<Model, Window> {
  std::vector<uint64_t> batches;

  explicit Push(const Model& model) {
    const uint32_t round = model.round + (*rc::gen::weightedElement<uint32_t>({{12, 0}, {1, 1}}));
    const auto indices = *rc::gen::nonEmpty(rc::gen::unique<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, 24)));
    for (size_t i = 0; i < std::min<size_t>(indices.size(), 4); ++i) batches.push_back(batch_id(round, indices[i]));
  }
  size_t here(const Model& model) const {
    return static_cast<size_t>(std::ranges::count_if(batches, [&](uint64_t b) { return model.contains(b); }));
  }
  void apply(Model& model) const override {
    if (here(model) != 0) return;
    model.batches.insert(batches.begin(), batches.end());
    model.round = std::max(model.round, round_of(batches[0]));
  }
  void run(const Model& model, Window& window) const override {
    const size_t count = here(model);
    const auto expected = count == 0 ? Window::Match::none : count == batches.size() ? Window::Match::all : Window::Match::some;
    RC_ASSERT(window.match(batches) == expected);
    if (expected == Window::Match::none) window.add(batches);
    Model after = model;
    apply(after);
    for (uint32_t round = 0; round <= after.round + 1; ++round) {
      for (uint32_t i = 0; i < 26; ++i) RC_ASSERT(window.contains(batch_id(round, i)) == after.contains(batch_id(round, i)));
    }
  }
  void show(std::ostream& out) const override { out << "push " << rc::toString(batches); }
};

struct Leave : rc::state::Command<Model, Window> {
  void apply(Model& model) const override { ++model.round; }
  void run(const Model& model, Window& window) const override {
    window.leave(model.round);
    RC_ASSERT(window.contains(batch_id(model.round, 999)));
    RC_ASSERT(!window.contains(batch_id(model.round + 1, 0)));
    RC_ASSERT(window.above().empty());
  }
  void show(std::ostream& out) const override { out << "leave"; }
};

// Saved and loaded, as over a restart.
struct Restart : rc::state::Command<Model, Window> {
  void run(const Model&, Window& window) const override {
    const std::vector<uint32_t> above(window.above().begin(), window.above().end());
    const Window again(window.round(), window.through(), above);
    RC_ASSERT(again == window);
    window = again;
  }
  void show(std::ostream& out) const override { out << "restart"; }
};

// Every batch counts once, whatever the order of arrival, the retries and the restarts.
RC_GTEST_PROP(Window, IsTheSetOfBatches, ()) {
  Window window;
  rc::state::check(Model{}, window, rc::state::gen::execOneOfWithArgs<Push, Push, Push, Push, Leave, Restart>());
}

// A lost worker's batch that not all servers have is taken back, and may come again.
TEST(Window, ForgetsABatchThatIsTakenBack) {
  Window window;
  for (uint32_t i = 0; i < 5; ++i) window.add(std::array{batch_id(1, i)});
  window.add(std::array{batch_id(1, 8)});
  window.remove(std::array{batch_id(1, 2), batch_id(1, 8), batch_id(0, 7), batch_id(1, 20)});
  for (const uint32_t here : {0u, 1u, 3u, 4u}) EXPECT_TRUE(window.contains(batch_id(1, here))) << here;
  for (const uint32_t gone : {2u, 8u, 20u}) EXPECT_FALSE(window.contains(batch_id(1, gone))) << gone;
  EXPECT_TRUE(window.contains(batch_id(0, 7))) << "a round that is over counts as a whole";
  window.add(std::array{batch_id(1, 2)});
  EXPECT_EQ(window.through(), 5u);
  EXPECT_TRUE(window.above().empty());
}

// The usual case costs nothing: batches in order leave an empty set.
TEST(Window, StaysSmallForBatchesInOrder) {
  Window window;
  for (uint32_t i = 0; i < 1000; ++i) {
    const uint64_t batch[] = {batch_id(3, i)};
    EXPECT_EQ(window.match(batch), Window::Match::none);
    window.add(batch);
  }
  EXPECT_EQ(window.through(), 1000u);
  EXPECT_TRUE(window.above().empty());
  EXPECT_TRUE(window.contains(batch_id(2, 5'000'000)));  // an earlier round is over
}

// What a server lacks after it went back: batches of the round, and whole rounds.
TEST(Window, SaysWhatAnotherHasMore) {
  bool whole_rounds = true;
  const Window less(2, 3, std::vector<uint32_t>{5}), more(2, 5, std::vector<uint32_t>{5, 8});
  EXPECT_EQ(less.lacks(more, whole_rounds), (std::vector<uint64_t>{batch_id(2, 3), batch_id(2, 4), batch_id(2, 8)}));
  EXPECT_FALSE(whole_rounds);
  EXPECT_TRUE(more.lacks(less, whole_rounds).empty());
  EXPECT_EQ(Window(1, 9, {}).lacks(Window(2, 1, {}), whole_rounds), std::vector<uint64_t>{batch_id(2, 0)});
  EXPECT_TRUE(whole_rounds);
  EXPECT_TRUE(Window(3, 0, {}).lacks(more, whole_rounds).empty()) << "the round is over";
}

// A file from elsewhere may hold entries that the run covers already.
TEST(Window, TakesUntidyEntries) {
  const uint32_t above[] = {7, 2, 5, 4};
  const Window window(1, 4, above);
  EXPECT_EQ(window.through(), 6u);
  EXPECT_EQ(window.above(), std::set<uint32_t>{7});
}

// A peer may claim any window: what it costs does not depend on it.
TEST(Window, CountsWhatItLacksOfBillions) {
  const uint32_t most = std::numeric_limits<uint32_t>::max();
  const std::vector<uint32_t> above = {7, 9};
  const Window here(1, 5, above);
  bool whole_rounds = true;
  EXPECT_EQ(here.count_lacking(Window(1, most, {}), whole_rounds), uint64_t{most} - 5 - 2);
  EXPECT_FALSE(whole_rounds);
  EXPECT_EQ(here.count_lacking(Window(2, most, {}), whole_rounds), uint64_t{most});
  EXPECT_TRUE(whole_rounds);
  EXPECT_EQ(Window(2, 0, {}).count_lacking(Window(1, most, {}), whole_rounds), 0u) << "the round is over";
}

}  // namespace
}  // namespace argosy::ps
