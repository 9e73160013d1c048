#include "argosy/data/record_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace argosy::data {
namespace {

using testing::HasSubstr;

const std::vector<SlotSpec> kTwoSlots = {{.name = "x", .type = SlotType::float32, .dense = true, .width = 2},
                                         {.name = "ids", .type = SlotType::int64, .dense = false}};

// Sample i has x = (i, -i) and the ids 0 … i % 3.
Batch samples(int count, int first = 0) {
  Batch batch;
  batch.reset(kTwoSlots);
  for (int i = first; i < first + count; ++i) {
    float* x = batch.columns[0].room<float>(2);
    x[0] = static_cast<float>(i), x[1] = static_cast<float>(-i);
    batch.columns[0].add_sample(2);
    const int64_t ids = i % 3 + 1;
    std::iota(batch.columns[1].room<int64_t>(ids), batch.columns[1].room<int64_t>(ids) + ids, int64_t{0});
    batch.columns[1].add_sample(ids);
    ++batch.size;
  }
  return batch;
}

// The first number of each sample, in the store's order; the ids must belong to it.
std::vector<int> firsts(const RecordStore& store) {
  Batch batch;
  batch.reset(kTwoSlots);
  store.gather(0, store.size(), batch);
  std::vector<int> found;
  for (int64_t i = 0; i < store.size(); ++i) {
    const int first = static_cast<int>(batch.columns[0].floats()[2 * i]);
    EXPECT_EQ(batch.columns[0].floats()[2 * i + 1], static_cast<float>(-first));
    EXPECT_EQ(batch.columns[1].offsets()[static_cast<size_t>(i) + 1] - batch.columns[1].offsets()[static_cast<size_t>(i)],
              first % 3 + 1);
    found.push_back(first);
  }
  return found;
}

std::vector<int> up_to(int count) {
  std::vector<int> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Each sample has the slot of some sample up to it, and the rest of its own; the order stays.
TEST(RecordStore, SlotsComeFromSamplesBefore) {
  constexpr int kSamples = 1000;
  RecordStore store(kTwoSlots);
  store.append(samples(kSamples));
  const std::vector<size_t> x = {0};
  const auto numbers_of = [&](const RecordStore& mixed) {
    Batch batch;
    batch.reset(kTwoSlots);
    mixed.gather(0, mixed.size(), batch);
    std::vector<int> found;
    for (int64_t i = 0; i < mixed.size(); ++i) {
      found.push_back(static_cast<int>(batch.columns[0].floats()[2 * i]));
      EXPECT_EQ(batch.columns[0].floats()[2 * i + 1], static_cast<float>(-found.back()));
      EXPECT_LE(found.back(), i);
      EXPECT_EQ(batch.columns[1].offsets()[static_cast<size_t>(i) + 1] - batch.columns[1].offsets()[static_cast<size_t>(i)],
                i % 3 + 1);
    }
    return found;
  };
  const std::vector<int> all = numbers_of(store.with_slots_of_others(x, kSamples, 7));
  EXPECT_EQ(all, numbers_of(store.with_slots_of_others(x, kSamples, 7)));
  EXPECT_NE(all, numbers_of(store.with_slots_of_others(x, kSamples, 8)));
  const double mean = std::accumulate(all.begin(), all.end(), 0.0) / kSamples;
  EXPECT_NEAR(mean, kSamples / 4.0, kSamples / 20.0);  // that of a number up to each of 0 … kSamples
  const std::vector<int> few = numbers_of(store.with_slots_of_others(x, 10, 7));
  EXPECT_NEAR(std::accumulate(few.begin(), few.end(), 0.0) / kSamples, kSamples / 4.0, kSamples / 6.0);
  EXPECT_EQ(numbers_of(store.with_slots_of_others({}, 10, 7)), up_to(kSamples));
  EXPECT_EQ(firsts(store), up_to(kSamples)) << "the store itself stays as it is";
}

TEST(RecordStore, GivesBackWhatWasAppended) {
  RecordStore store(kTwoSlots);
  store.append(samples(10));
  store.append(samples(5, 10));
  EXPECT_EQ(firsts(store), up_to(15));
}

TEST(RecordStore, AShuffleIsAFunctionOfItsSeed) {
  RecordStore one(kTwoSlots), two(kTwoSlots);
  for (RecordStore* store : {&one, &two}) store->append(samples(200)), store->shuffle(7);
  EXPECT_EQ(firsts(one), firsts(two));
  EXPECT_NE(firsts(one), up_to(200));
  std::vector<int> sorted = firsts(one);
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, up_to(200)) << "each once";
}

// What one worker takes apart the others put together: each sample once, at one worker.
TEST(RecordStore, BlocksCarryEachSampleOnce) {
  RecordStore from(kTwoSlots);
  from.append(samples(300));
  std::vector<std::string> blocks(3);
  from.prepare_take();
  while (from.take(5, blocks)) {
  }
  EXPECT_EQ(from.size(), 0);
  std::vector<int> all;
  for (const std::string& block : blocks) {
    RecordStore to(kTwoSlots);
    ASSERT_TRUE(to.give(block).ok());
    EXPECT_GT(to.size(), 50) << "about a third";
    for (const int first : firsts(to)) all.push_back(first);
  }
  std::ranges::sort(all);
  EXPECT_EQ(all, up_to(300));
}

// Blocks come from other machines: none that is damaged adds anything.
TEST(RecordStore, ADamagedBlockAddsNothing) {
  RecordStore from(kTwoSlots), to(kTwoSlots);
  from.append(samples(4));
  std::vector<std::string> blocks(1);
  from.prepare_take();
  ASSERT_TRUE(from.take(1, blocks));
  for (size_t length = 0; length < blocks[0].size(); ++length) {
    const Status status = to.give(std::string_view(blocks[0]).substr(0, length));
    if (!status.ok()) continue;
    EXPECT_LT(to.size(), 4) << "whole records before the cut";
    to = RecordStore(kTwoSlots);
  }
  EXPECT_EQ(to.size(), 0);
  std::string longer = blocks[0] + "x";
  EXPECT_EQ(to.give(longer).code(), Code::data_loss);
  EXPECT_EQ(to.size(), 0);
  blocks[0][0] ^= 1;
  EXPECT_THAT(to.give(blocks[0]).message(), HasSubstr("is no block of records"));
}

TEST(RecordStore, OtherSlotsAreRefused) {
  RecordStore from(kTwoSlots), to{std::span<const SlotSpec>(kTwoSlots).first(1)};
  from.append(samples(1));
  std::vector<std::string> blocks(1);
  from.prepare_take();
  ASSERT_TRUE(from.take(1, blocks));
  EXPECT_THAT(to.give(blocks[0]).message(), HasSubstr("set_use_var"));
}

TEST(RecordCodec, OnlyWholeRecordsAreRecords) {
  const RecordCodec codec(kTwoSlots);
  const Batch batch = samples(1, 2);
  std::string bytes(codec.size(batch, 0), '\0');
  EXPECT_EQ(codec.write(batch, 0, bytes.data()), bytes.data() + bytes.size());
  EXPECT_TRUE(codec.is_record(bytes));
  EXPECT_FALSE(codec.is_record(bytes + "x"));
  for (size_t length = 0; length < bytes.size(); ++length) EXPECT_FALSE(codec.is_record(bytes.substr(0, length))) << length;
  bytes[8] = '\x7f';  // a count of ids that the record does not hold
  EXPECT_FALSE(codec.is_record(bytes));
}

TEST(RecordCodec, FingerprintsTellSlotsApart) {
  std::vector<SlotSpec> wider = kTwoSlots, typed = kTwoSlots;
  wider[0].width = 3;
  typed[1].type = SlotType::float32;
  const uint64_t own = RecordCodec(kTwoSlots).fingerprint();
  EXPECT_EQ(own, RecordCodec(kTwoSlots).fingerprint());
  EXPECT_NE(own, RecordCodec(wider).fingerprint());
  EXPECT_NE(own, RecordCodec(typed).fingerprint());
  EXPECT_NE(own, RecordCodec(std::span<const SlotSpec>(kTwoSlots).first(1)).fingerprint());
}

}  // namespace
}  // namespace argosy::data
