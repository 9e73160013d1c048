#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "argosy/base/random.h"
#include "argosy/table/oracle_test.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

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
        random_.below(2) == 0 ? set() : set_state();
      } else if (kind == 18) {
        random_.below(3) == 0 ? erase() : shrink();
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
    const auto row = [&](size_t i) { return std::span(values).subspan(i * table_->spec().width, table_->spec().width); };
    for (size_t i = 0; i < keys.size(); ++i) oracle_.set(keys[i], row(i));
  }

  void set_state() {
    if (table_->codec().element_states() == 0) return;
    const auto keys = some_keys();
    auto values = numbers(keys.size() * table_->spec().width);
    for (float& x : values) x = std::abs(x);  // sums of squares are
    ASSERT_EQ(table_->set_state(0, keys, values), Status());
    const auto row = [&](size_t i) { return std::span(values).subspan(i * table_->spec().width, table_->spec().width); };
    for (size_t i = 0; i < keys.size(); ++i) oracle_.set_state(keys[i], 0, row(i));
  }

  void shrink() {
    const size_t before = oracle_.rows().size();
    std::vector<uint64_t> erased;
    const auto report = table_->shrink(table_->spec().expiry, now_, &erased);
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    oracle_.shrink(table_->spec().expiry, now_);
    EXPECT_EQ(report->dropped + report->dropped_waiting, before - oracle_.rows().size());
    EXPECT_EQ(erased.size(), before - oracle_.rows().size());
    for (const uint64_t key : erased) EXPECT_FALSE(oracle_.rows().contains(key)) << key;
  }

  void erase() {
    const auto keys = some_keys();
    ASSERT_EQ(table_->erase(keys), Status());
    for (const uint64_t key : keys) oracle_.erase(key);
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
  const RowInitializer uniform{.kind = RowInitializer::Kind::uniform, .a = -1, .b = 1, .seed = 7};
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

}  // namespace
}  // namespace argosy::table
