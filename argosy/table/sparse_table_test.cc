#include "argosy/table/sparse_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <thread>

#include "argosy/base/random.h"
#include "argosy/table/oracle_test.h"

namespace argosy::table {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TempFolder {
 public:
  TempFolder() : path_(std::filesystem::temp_directory_path() / fmt::format("argosy-table-{:x}", std::random_device{}())) {}
  ~TempFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

SparseSpec sgd(uint32_t width = 1) { return {.name = "emb", .width = width, .rule = "sgd"}; }

std::unique_ptr<SparseTable> make(SparseSpec spec, StoreOptions options = {}) {
  auto table = SparseTable::make(std::move(spec), std::move(options));
  EXPECT_TRUE(table.ok()) << table.status().to_string();
  return std::move(table).value();
}

std::vector<float> pull(SparseTable& table, std::vector<uint64_t> keys, bool create = false) {
  std::vector<float> rows(keys.size() * table.spec().width);
  EXPECT_EQ(table.pull(keys, rows, create), Status());
  return rows;
}

// Row value = -(number of gradients of 1 applied), with SGD and rate 1.
void push_ones(SparseTable& table, std::vector<uint64_t> keys, Impressions impressions = {}, uint32_t seconds = 0) {
  const std::vector<float> ones(keys.size() * table.spec().width, 1.0f);
  EXPECT_EQ(table.apply(table.begin_step(1.0f, seconds), keys, ones, impressions), Status());
}

void expect_equal(const std::map<uint64_t, Oracle::Row>& found, const std::map<uint64_t, Oracle::Row>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [key, row] : expected) {
    const auto at = found.find(key);
    ASSERT_NE(at, found.end()) << "key " << key;
    EXPECT_EQ(at->second.admitted, row.admitted) << "key " << key;
    EXPECT_EQ(at->second.counters, row.counters) << "key " << key;
    EXPECT_EQ(at->second.value, row.admitted ? row.value : std::vector<float>()) << "key " << key;
    EXPECT_EQ(at->second.states, row.admitted ? row.states : std::vector<float>()) << "key " << key;
  }
}

// Random calls on a table and on the plain map: equal to the last bit, whatever the rule, the admission and the memory limit.
class Drill {
 public:
  Drill(const SparseSpec& spec, const StoreOptions& options, uint64_t seed, uint64_t keys)
      : table_(make(spec, options)), oracle_(spec), random_(seed), keys_(keys) {}

  void run(int calls) {
    for (int i = 0; i < calls && !testing::Test::HasFatalFailure(); ++i) {
      const uint64_t kind = random_.below(20);
      if (kind < 10) {
        push();
        most_cold_rows_ = std::max(most_cold_rows_, table_->size().cold_rows);
      } else if (kind < 17) {
        compare_pull(random_.below(2) == 0);
      } else if (kind == 17) {
        set();
      } else if (kind == 18) {
        shrink();
      } else {
        compare_all();
      }
    }
    compare_all();
  }

  uint64_t most_cold_rows() const { return most_cold_rows_; }

 private:
  std::vector<uint64_t> some_keys() {
    std::vector<uint64_t> keys(random_.below(random_.below(4) == 0 ? 2000 : 50));
    for (uint64_t& key : keys) key = mix64(random_.below(keys_)) >> random_.below(2) * 40;
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::shuffle(keys.begin(), keys.end(), random_);
    return keys;
  }

  std::vector<float> numbers(size_t count) {
    std::vector<float> out(count);
    for (float& x : out) x = static_cast<float>(random_.normal());
    return out;
  }

  void push() {
    const SparseSpec& spec = table_->spec();
    const auto keys = some_keys();
    const auto values = numbers(keys.size() * spec.width);
    now_ += static_cast<uint32_t>(random_.below(5));
    const float rate = 0.1f * static_cast<float>(random_.uniform());
    const TableStep step = table_->begin_step(rate, now_);
    oracle_.begin_step(rate, now_);
    const auto row = [&](size_t i) { return std::span(values).subspan(i * spec.width, spec.width); };
    if (spec.mode == Mode::geo) {
      ASSERT_EQ(table_->add(step, 0, keys, values), Status());
      for (size_t i = 0; i < keys.size(); ++i) oracle_.add(keys[i], row(i));
      return;
    }
    Impressions impressions;
    std::vector<float> shows, clicks;
    if (spec.counts_show_click() && random_.below(2) == 0) {
      for (size_t i = 0; i < keys.size(); ++i) {
        shows.push_back(static_cast<float>(random_.below(4)));
        clicks.push_back(static_cast<float>(random_.below(2)));
      }
      impressions = {shows, clicks};
    }
    ASSERT_EQ(table_->apply(step, keys, values, impressions), Status());
    for (size_t i = 0; i < keys.size(); ++i) {
      oracle_.apply(keys[i], {row(i).begin(), row(i).end()}, shows.empty() ? 1 : shows[i], clicks.empty() ? 0 : clicks[i]);
    }
  }

  void compare_pull(bool create) {
    const auto keys = some_keys();
    const auto rows = pull(*table_, keys, create);
    const size_t width = table_->spec().width;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (create) oracle_.touch(keys[i]);
      ASSERT_EQ(std::vector<float>(rows.begin() + i * width, rows.begin() + (i + 1) * width), oracle_.pull(keys[i]));
    }
  }

  void set() {
    const auto keys = some_keys();
    const auto values = numbers(keys.size() * table_->spec().width);
    ASSERT_EQ(table_->set_rows(keys, values), Status());
    for (size_t i = 0; i < keys.size(); ++i) {
      oracle_.set(keys[i], std::span(values).subspan(i * table_->spec().width, table_->spec().width));
    }
  }

  void shrink() {
    const size_t before = oracle_.rows().size();
    const auto report = table_->shrink(table_->spec().expiry, now_);
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    oracle_.shrink(table_->spec().expiry, now_);
    EXPECT_EQ(report->dropped + report->dropped_waiting, before - oracle_.rows().size());
  }

  void compare_all() {
    expect_equal(contents(*table_), oracle_.rows());
    EXPECT_EQ(table_->progress(), oracle_.progress());
    const TableSize size = table_->size();
    EXPECT_EQ(size.rows + size.waiting, oracle_.rows().size());
  }

  std::unique_ptr<SparseTable> table_;
  Oracle oracle_;
  Random random_;
  const uint64_t keys_;
  uint32_t now_ = 1000;
  uint64_t most_cold_rows_ = 0;
};

struct Case {
  std::string name;
  SparseSpec spec;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::vector<Case> cases() {
  const Initializer uniform{.kind = Initializer::Kind::uniform, .a = -1, .b = 1, .seed = 7};
  const SparseSpec adam{.name = "a", .width = 10, .initializer = uniform, .rule = "adam"};
  std::vector<Case> all = {{"adam", adam}};
  SparseSpec spec = adam;
  spec.rule = "adagrad";
  spec.hyper_parameters = {{"initial_accumulator_value", 0.5f}};
  spec.regularization = optim::L2Decay{0.01};
  all.push_back({"adagrad_l2", spec});
  spec = adam;
  spec.rule = "lamb";
  spec.width = 3;
  all.push_back({"lamb", spec});
  spec = adam;
  spec.admission = {.kind = Admission::Kind::count, .count = 3};
  spec.expiry = {.unseen_steps = 10, .ttl_seconds = 25};
  all.push_back({"count", spec});
  spec = adam;
  spec.admission = {.kind = Admission::Kind::probability, .probability = 0.4, .seed = 3};
  all.push_back({"probability", spec});
  spec = adam;
  spec.admission = {.kind = Admission::Kind::show_click, .score = 2};
  spec.expiry = {.score = 1.5f};
  spec.show_click = {.non_click_weight = 0.3f, .decay = 0.9f};
  all.push_back({"show_click", spec});
  all.push_back({"geo", {.name = "g", .width = 5, .initializer = uniform, .mode = Mode::geo}});
  return all;
}

class EveryTable : public testing::TestWithParam<Case> {};

TEST_P(EveryTable, AgreesWithAPlainMap) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Drill(GetParam().spec, {.shards = 8}, seed, 3000).run(150);
}

// The tier on disk is memory and nothing else: with room for a tenth of the rows, results are the same to the last bit.
TEST_P(EveryTable, AgreesWithAPlainMapBeyondTheMemoryLimit) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const TempFolder folder;
  Drill drill(GetParam().spec, {.shards = 4, .mem_limit_bytes = 20'000, .directory = folder.path()}, seed, 3000);
  drill.run(150);
  EXPECT_GT(drill.most_cold_rows(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Tables, EveryTable, testing::ValuesIn(cases()), [](const auto& one) { return one.param.name; });

// A row's first value depends on (seed, key) only: not on the number of shards, the order, or who asks.
TEST(SparseTable, FirstValuesDependOnSeedAndKeyOnly) {
  SparseSpec spec = sgd(4);
  spec.initializer = {.kind = Initializer::Kind::truncated_normal, .a = 1, .b = 0.5f, .seed = 11};
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

TEST(SparseTable, AKeyGivenTwiceIsUpdatedTwice) {
  const auto table = make(sgd());
  push_ones(*table, {5, 5, 6, 5});
  EXPECT_THAT(pull(*table, {5, 6, 7}), ElementsAre(-3, -1, 0));
  EXPECT_EQ(table->size().rows, 2u);
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
  ASSERT_EQ(table->take_changed(0, 1, changed, rows), Status());
  EXPECT_THAT(changed, testing::IsEmpty());
  for (int tries = 0; tries < 2; ++tries) {  // the first answer was lost
    ASSERT_EQ(table->take_changed(1, 1, changed, rows), Status());
    EXPECT_THAT(changed, ElementsAre(4, 9));
    EXPECT_THAT(rows, ElementsAre(1, 2));
  }
  ASSERT_EQ(table->take_changed(1, 2, changed, rows), Status());
  EXPECT_THAT(changed, testing::IsEmpty());
  EXPECT_EQ(table->take_changed(1, 1, changed, rows).code(), Code::aborted);
}

TEST(SparseTable, ARebuiltTableEqualsTheOneThatWasExported) {
  SparseSpec spec = cases()[3].spec;  // adam with count admission
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
  push_ones(*table, {2, 3});
  const auto changed = contents(*table, 1, step);
  EXPECT_EQ(changed.size(), 2u);
  EXPECT_TRUE(changed.contains(2) && changed.contains(3));
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
