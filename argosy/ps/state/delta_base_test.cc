#include "argosy/ps/state/delta_base.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "argosy/base/random.h"

namespace argosy::ps {
namespace {

using testing::ElementsAre;

wire::SavedRecord written(uint64_t id, uint64_t shrinks) {
  wire::SavedRecord record;
  record.set_folder("/saved/" + std::to_string(id));
  record.set_id(id);
  record.set_shrinks(shrinks);
  return record;
}

wire::SavedRecord published(uint64_t id) {
  wire::SavedRecord record;
  record.set_id(id);
  record.set_published(true);
  return record;
}

void shrink(DeltaBase& base, const std::vector<uint64_t>& keys, bool decayed = false, uint32_t table = 0) {
  base.begin_shrink();
  base.shrunk(table, keys, decayed);
}

// The keys that a delta would have to name, shrink by shrink.
std::vector<std::vector<uint64_t>> dropped(const DeltaBase& base) {
  std::vector<std::vector<uint64_t>> all;
  for (const wire::Shrunk& one : base.record().shrunk()) all.emplace_back(one.keys().begin(), one.keys().end());
  return all;
}

wire::ShrinkRequest request(uint32_t worker, uint64_t number) {
  wire::ShrinkRequest made;
  made.mutable_caller()->set_worker(worker);
  made.set_number(number);
  return made;
}

TEST(DeltaBase, WithoutABaseNothingIsRemembered) {
  DeltaBase base;
  shrink(base, {1, 2});
  EXPECT_EQ(base.record().id(), 0u);
  EXPECT_TRUE(dropped(base).empty());
  EXPECT_EQ(base.shrinks(), 1u) << "it is counted all the same";
}

// A delta must not bring back rows that were dropped between the base and it: those of a shrink after the base's cut count, also
// where it came before the base had its name.
TEST(DeltaBase, WhatIsShrunkAfterTheCutBelongsToTheNextDelta) {
  DeltaBase base;
  shrink(base, {1});
  base.saved(written(7, base.shrinks()));
  EXPECT_EQ(base.record().id(), 0u) << "it has no name yet";
  shrink(base, {2, 3});
  base.saved(published(7));
  EXPECT_EQ(base.record().id(), 7u);
  EXPECT_EQ(base.record().folder(), "/saved/7");
  EXPECT_THAT(dropped(base), ElementsAre(ElementsAre(2, 3)));
  shrink(base, {4});
  base.saved(written(8, base.shrinks()));
  shrink(base, {5});
  EXPECT_THAT(dropped(base), ElementsAre(ElementsAre(2, 3), ElementsAre(4), ElementsAre(5))) << "of base 7, which still counts";
  base.saved(published(8));
  EXPECT_EQ(base.record().id(), 8u);
  EXPECT_THAT(dropped(base), ElementsAre(ElementsAre(5)));
}

// Another save was written meanwhile: the name of the one before says nothing.
TEST(DeltaBase, OnlyWhatWasWrittenLastIsPublished) {
  DeltaBase base;
  base.saved(written(7, 0));
  base.saved(written(8, 0));
  base.saved(published(7));
  EXPECT_EQ(base.record().id(), 0u);
  base.saved(published(8));
  EXPECT_EQ(base.record().id(), 8u);
  EXPECT_EQ(base.record().written().id(), 0u);
}

TEST(DeltaBase, AShrinkThatChangesNothingIsNoPartOfADelta) {
  DeltaBase base;
  base.saved(written(7, 0));
  base.saved(published(7));
  shrink(base, {});
  EXPECT_TRUE(dropped(base).empty());
  shrink(base, {}, true);
  ASSERT_EQ(base.record().shrunk_size(), 1) << "the counters of all rows have changed";
  EXPECT_TRUE(base.record().shrunk(0).decayed());
  EXPECT_EQ(base.record().shrunk(0).number(), 2u);
}

// Rows that were set, as by a load, are in no list: a delta on the old base would lack them.
TEST(DeltaBase, AfterForgetANewBaseIsNeeded) {
  DeltaBase base;
  base.saved(written(7, 0));
  base.saved(published(7));
  base.saved(written(8, 0));
  base.forget();
  EXPECT_EQ(base.record().id(), 0u);
  base.saved(published(8));
  EXPECT_EQ(base.record().id(), 0u) << "it was cut before";
}

TEST(DeltaBase, MoreKeysThanABaseIsWorthAreForgotten) {
  DeltaBase base(5);
  base.saved(written(7, 0));
  base.saved(published(7));
  shrink(base, {1, 2, 3});
  shrink(base, {4, 5}, false, 1);
  EXPECT_EQ(base.record().id(), 7u);
  shrink(base, {6});
  EXPECT_EQ(base.record().id(), 0u);
  EXPECT_TRUE(dropped(base).empty());
}

TEST(DeltaBase, TheLastShrinksAreAnsweredAgain) {
  DeltaBase base;
  for (uint64_t number = 1; number <= DeltaBase::kAnswers + 10; ++number) {
    wire::ShrinkReply reply;
    reply.set_dropped(number * 3);
    base.answered(request(number % 2, number), reply);
  }
  EXPECT_EQ(base.answer(request(0, 10)), nullptr) << "too long ago";
  ASSERT_NE(base.answer(request(1, 11)), nullptr);
  EXPECT_EQ(base.answer(request(1, 11))->dropped(), 33u);
  EXPECT_EQ(base.answer(request(0, 11)), nullptr) << "another worker's";
  wire::ShrinkReply again;
  again.set_dropped(1);
  base.answered(request(1, 11), again);
  EXPECT_EQ(base.answer(request(1, 11))->dropped(), 1u) << "of two of one number the later";
}

// Whatever happened before: a restored one goes on as the first does, and a delta names exactly the rows that were dropped since
// its base was cut.
TEST(DeltaBase, NamesTheRowsThatWereDroppedSinceItsBase) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    auto base = std::make_unique<DeltaBase>();
    std::map<uint64_t, std::set<uint64_t>> keys_of;  // by the shrink's number
    uint64_t shrinks = 0, base_id = 0, base_shrinks = 0, written_id = 0, written_shrinks = 0, next_id = 1;
    for (int i = 0; i < 60; ++i) {
      const uint64_t choice = random.below(10);
      if (choice < 4) {
        std::vector<uint64_t> keys;
        for (uint64_t count = random.below(4); count > 0; --count) keys.push_back(random.below(1000));
        shrink(*base, keys);
        keys_of[++shrinks].insert(keys.begin(), keys.end());
      } else if (choice < 6) {
        written_id = next_id++, written_shrinks = shrinks;
        base->saved(written(written_id, shrinks));
      } else if (choice < 8) {
        const uint64_t id = random.below(4) == 0 ? random.below(next_id + 1) : written_id;
        base->saved(published(id));
        if (id == written_id && id != 0) base_id = id, base_shrinks = written_shrinks, written_id = 0;
      } else if (choice == 8) {
        wire::StateImage image;
        base->save(&image);
        base = std::make_unique<DeltaBase>();
        base->restore(image);
      } else if (random.below(3) == 0) {
        base->forget();
        base_id = written_id = 0;
      }
      ASSERT_EQ(base->record().id(), base_id);
      ASSERT_EQ(base->shrinks(), shrinks);
      if (base_id == 0) continue;
      std::set<uint64_t> expected, found;
      for (auto one = keys_of.upper_bound(base_shrinks); one != keys_of.end(); ++one)
        expected.insert(one->second.begin(), one->second.end());
      for (const auto& keys : dropped(*base)) found.insert(keys.begin(), keys.end());
      ASSERT_EQ(found, expected);
    }
  }
}

}  // namespace
}  // namespace argosy::ps
