#include "argosy/table/sparse_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "argosy/base/random.h"
#include "argosy/table/oracle_test.h"

namespace argosy::table {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SparseSpec sgd(uint32_t width = 1) { return {.name = "emb", .width = width, .rule = "sgd"}; }

// Row value = -(number of gradients of 1 applied), with SGD and rate 1.
void push_ones(SparseTable& table, std::vector<uint64_t> keys, Impressions impressions = {}, uint32_t seconds = 0) {
  const std::vector<float> ones(keys.size() * table.spec().width, 1.0f);
  EXPECT_EQ(table.apply(table.begin_step(1.0f, seconds), keys, ones, impressions), Status());
}

// A row's first value depends on (seed, key) only: not on the number of shards, the order, or who asks.
TEST(SparseTable, FirstValuesDependOnSeedAndKeyOnly) {
  SparseSpec spec = sgd(4);
  spec.initializer = {.kind = RowInitializer::Kind::truncated_normal, .a = 1, .b = 0.5f, .seed = 11};
  const auto one = make(spec, {.shards = 1});
  const auto many = make(spec, {.shards = 128});
  const auto forward = pull(*one, {0, 1, ~uint64_t{0}}, true);
  const auto backward = pull(*many, {~uint64_t{0}, 1, 0}, false);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(forward[i], backward[8 + i]);
    EXPECT_EQ(forward[8 + i], backward[i]);
    EXPECT_NEAR(forward[i], 1, 1);  // two deviations
  }
  EXPECT_EQ(one->size().rows, 3u);
  EXPECT_EQ(many->size().rows, 0u);
}

// What is shown of a table is of its rows, all of them where there are few, and of rows from everywhere where there are many.
TEST(SparseTable, NormsAreSampledEvenly) {
  const auto table = make(sgd(4), {.shards = 4});
  EXPECT_TRUE(table->sample_norms(100).empty());
  push_ones(*table, {1, 2, 3});
  EXPECT_THAT(table->sample_norms(100), ElementsAre(2, 2, 2)) << "of -1, -1, -1, -1";
  std::vector<uint64_t> keys(10'000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = 10 + i;
  push_ones(*table, {keys.begin(), keys.begin() + 5'000});
  for (int i = 0; i < 2; ++i) push_ones(*table, {keys.begin() + 5'000, keys.end()});
  const std::vector<float> norms = table->sample_norms(1000);
  EXPECT_NEAR(static_cast<double>(norms.size()), 1000, 250);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(norms, 4.0f)) / static_cast<double>(norms.size()), 0.5, 0.1);
  ASSERT_TRUE(table->erase(keys).ok());
  EXPECT_LE(table->sample_norms(10'000).size(), 3) << "rows that are gone have no norms";
}

TEST(SparseTable, AKeyGivenTwiceIsUpdatedTwice) {
  const auto table = make(sgd());
  push_ones(*table, {5, 5, 6, 5});
  EXPECT_THAT(pull(*table, {5, 6, 7}), ElementsAre(-3, -1, 0));
  EXPECT_EQ(table->size().rows, 2u);
}

// Also where a pull is of several blocks and shards.
TEST(SparseTable, PullTellsWhichKeysHaveNoRow) {
  const auto table = make(sgd());
  std::vector<uint64_t> keys(20'000), missing, expected;
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  for (size_t i = 0; i < keys.size(); i += 3) push_ones(*table, {i});
  for (size_t i = 0; i < keys.size(); ++i)
    if (i % 3 != 0) expected.push_back(i);
  std::vector<float> rows(keys.size());
  ASSERT_TRUE(table->pull(keys, rows, false, &missing).ok());
  EXPECT_EQ(missing, expected);
  missing.clear();
  ASSERT_TRUE(table->pull(keys, rows, true, &missing).ok());  // makes them
  EXPECT_TRUE(missing.empty());
}

TEST(SparseTable, CountAdmissionAppliesFromTheNthGradientOn) {
  SparseSpec spec = sgd();
  spec.admission = {.kind = Admission::Kind::count, .count = 3};
  const auto table = make(spec);
  pull(*table, {1}, true);
  for (int i = 0; i < 2; ++i) push_ones(*table, {1});
  EXPECT_THAT(pull(*table, {1}), ElementsAre(0));
  EXPECT_EQ(table->size().rows, 0u);
  EXPECT_EQ(table->size().waiting, 1u);
  push_ones(*table, {1, 2});
  EXPECT_THAT(pull(*table, {1}), ElementsAre(-1));
  EXPECT_EQ(table->size().rows, 1u);
  EXPECT_EQ(contents(*table).at(1).counters.pushes, 3u);
}

// The same keys are admitted whatever else happens, and about the asked share of them.
TEST(SparseTable, ProbabilityAdmissionIsAFunctionOfTheKey) {
  SparseSpec spec = sgd();
  spec.admission = {.kind = Admission::Kind::probability, .probability = 0.3, .seed = 5};
  std::vector<uint64_t> keys(10'000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  const auto one = make(spec);
  push_ones(*one, keys);
  std::reverse(keys.begin(), keys.end());
  const auto other = make(spec, {.shards = 2});
  for (int i = 0; i < 2; ++i) push_ones(*other, keys);
  const auto admitted = contents(*one, 1 << 20);
  EXPECT_NEAR(static_cast<double>(admitted.size()), 3000, 250);
  const auto again = contents(*other, 1 << 20);
  ASSERT_EQ(again.size(), admitted.size());
  for (const auto& [key, row] : again) EXPECT_TRUE(admitted.contains(key));
}

TEST(SparseTable, GeoTellsOtherWorkersWhatChangedUntilTheyHaveIt) {
  const auto table = make({.name = "geo", .width = 1, .mode = Mode::geo});
  for (const uint32_t worker : {0, 1}) table->changes().track(worker);
  const std::vector<uint64_t> keys = {4, 9};
  ASSERT_EQ(table->add(table->begin_step(0), 0, keys, std::vector<float>{1, 2}), Status());
  std::vector<uint64_t> changed;
  std::vector<float> rows;
  ASSERT_FALSE(*table->take_changed(0, 1, 100, changed, rows));
  EXPECT_THAT(changed, testing::IsEmpty());
  for (int tries = 0; tries < 2; ++tries) {  // the first answer was lost
    ASSERT_FALSE(*table->take_changed(1, 1, 100, changed, rows));
    EXPECT_THAT(changed, ElementsAre(4, 9));
    EXPECT_THAT(rows, ElementsAre(1, 2));
  }
  ASSERT_FALSE(*table->take_changed(1, 2, 100, changed, rows));
  EXPECT_THAT(changed, testing::IsEmpty());
  EXPECT_EQ(table->take_changed(1, 1, 100, changed, rows).status().code(), Code::aborted);
}

TEST(SparseTable, ARebuiltTableEqualsTheOneThatWasExported) {
  SparseSpec spec{.name = "a", .width = 10, .rule = "adam"};
  spec.admission = {.kind = Admission::Kind::count, .count = 3};
  const auto table = make(spec);
  for (int i = 0; i < 5; ++i) push_ones(*table, {1, 2, static_cast<uint64_t>(10 + i)});
  std::string bytes = "x";  // so that the records stand at an odd address
  auto all = table->begin_export();
  while (all.next(100, bytes).value()) {
  }
  const auto copy = make(spec, {.shards = 2});
  ASSERT_EQ(copy->import_records(std::string_view(bytes).substr(1)), Status());
  ASSERT_EQ(copy->set_progress(table->progress()), Status());
  for (SparseTable* each : {table.get(), copy.get()}) push_ones(*each, {1, 10, 11});
  expect_equal(contents(*copy), contents(*table));
  EXPECT_EQ(copy->progress(), table->progress());
}

TEST(SparseTable, ExportsOnlyWhatChangedSinceAStep) {
  const auto table = make(sgd());
  push_ones(*table, {1, 2});
  const uint64_t step = table->steps();
  ASSERT_EQ(table->set_rows(std::vector<uint64_t>{4}, std::vector<float>{1}), Status());
  push_ones(*table, {2, 3});
  const auto changed = contents(*table, 1, step);
  EXPECT_EQ(changed.size(), 3u);
  EXPECT_TRUE(changed.contains(2) && changed.contains(3) && changed.contains(4));
}

TEST(SparseTable, RefusesDamagedRecordsAndChangesNothing) {
  const auto table = make(sgd(2));
  push_ones(*table, {1, 2});
  std::string bytes;
  auto all = table->begin_export();
  ASSERT_TRUE(all.next(1 << 20, bytes).value());
  const auto before = contents(*table);
  EXPECT_EQ(table->import_records(std::string_view(bytes).substr(1)).code(), Code::data_loss);
  std::string damaged = bytes;
  damaged[table->codec().record_bytes() + 8] = 7;  // the second record's flags
  const Status status = table->import_records(damaged);
  EXPECT_EQ(status.code(), Code::data_loss);
  EXPECT_THAT(status.message(), HasSubstr("flags 0x7"));
  expect_equal(contents(*table), before);
}

TEST(SparseTable, ErrorsNameTheTableAndTheWayOut) {
  const auto table = make(sgd(2));
  const std::vector<uint64_t> keys = {1, 2};
  std::vector<float> rows(3);
  EXPECT_THAT(table->pull(keys, rows, true).message(), HasSubstr("table 'emb': 2 keys of width 2 need 4 numbers, 3 were given"));
  rows.resize(4);
  const std::vector<float> shows = {1, 1};
  EXPECT_THAT(table->apply(table->begin_step(1), keys, rows, {.shows = shows}).message(), HasSubstr("keeps no shows and clicks"));
  EXPECT_EQ(table->add(table->begin_step(1), 0, keys, rows).code(), Code::failed_precondition);
  EXPECT_EQ(table->shrink({.score = 1}, 0).status().code(), Code::failed_precondition);
  EXPECT_EQ(table->shrink({.ttl_seconds = 1}, 0).status().code(), Code::failed_precondition);
  EXPECT_EQ(table->set_progress({.scalars = {1}}).code(), Code::invalid_argument);
  EXPECT_EQ(table->size().rows, 0u);

  SparseSpec wrong = sgd();
  wrong.rule = "sdg";
  EXPECT_THAT(SparseTable::make(wrong).status().message(), HasSubstr("table 'emb'"));
  EXPECT_THAT(SparseTable::make(sgd(), {.mem_limit_bytes = 1}).status().message(), HasSubstr("needs a directory"));
  EXPECT_EQ(SparseTable::make(sgd(), {.shards = 3}).status().code(), Code::invalid_argument);
  EXPECT_EQ(SparseTable::make(sgd(0)).status().code(), Code::invalid_argument);
}

TEST(SparseTable, ClearLeavesNothingBehind) {
  const TempFolder folder;
  const auto table = make(sgd(), {.shards = 2, .mem_limit_bytes = 500, .directory = folder.path()});
  std::vector<uint64_t> keys(200);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  push_ones(*table, keys);
  ASSERT_EQ(table->clear(), Status());
  EXPECT_EQ(table->size().rows, 0u);
  EXPECT_EQ(table->steps(), 0u);
  EXPECT_TRUE(contents(*table).empty());
  EXPECT_THAT(pull(*table, {3}), ElementsAre(0));
}

// With gradients of 1 and rate 1 a row is the number of gradients that it got: none is lost or doubled between threads, with
// rows moving to disk and back, pulls and exports beside them.
TEST(SparseTable, CountsEveryGradientOfSeveralThreads) {
  const TempFolder folder;
  const auto table = make(sgd(3), {.shards = 4, .mem_limit_bytes = 30'000, .directory = folder.path()});
  constexpr int kThreads = 4, kPushes = 40;
  std::vector<uint64_t> keys(1500);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i * 977;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPushes; ++i) {
        push_ones(*table, keys);
        if (t == 0) pull(*table, keys, true);
        if (t == 1 && i % 10 == 0) {
          std::string bytes;
          auto all = table->begin_export();
          while (all.next(4096, bytes).value()) bytes.clear();
        }
      }
    });
  }
  threads.clear();
  for (const float value : pull(*table, keys)) ASSERT_EQ(value, -kThreads * kPushes);
  EXPECT_EQ(table->steps(), uint64_t{kThreads * kPushes});
  EXPECT_GT(table->size().cold_rows, 0u);
}

// The promise on memory: at most a quarter more than key, value, state and counters.
TEST(SparseTable, AMillionRowsTakeLittleMoreThanTheirContents) {
  const auto table = make({.name = "m", .width = 10, .rule = "adam"});
  std::vector<uint64_t> keys(1'000'000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  std::vector<float> rows(keys.size() * 10);
  ASSERT_EQ(table->pull(keys, rows, true), Status());
  const double contents = 1e6 * (8 + 4 * (10 + 20) + 8);
  EXPECT_LT(static_cast<double>(table->size().memory_bytes), 1.25 * contents);
}

}  // namespace
}  // namespace argosy::table
