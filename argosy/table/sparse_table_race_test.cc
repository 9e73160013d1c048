// A table whose rows move to disk and back while several threads change and read it: what they see is what a plain map has.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <shared_mutex>
#include <thread>

#include "argosy/table/log_scratch.h"
#include "argosy/table/oracle_test.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

constexpr uint64_t kKeys = 600;          // of those that are changed
constexpr uint64_t kConstants = 300;     // further keys, which only move to disk and back
constexpr uint64_t kChangers = 3;        // threads; a key is changed by one of them
constexpr float kFirst = 100;

struct Kept {
  bool admitted = false;
  uint32_t pushes = 0;
  float show = 0, click = 0, value = 0;
  friend bool operator==(const Kept&, const Kept&) = default;
};

void PrintTo(const Kept& row, std::ostream* out) {
  *out << (row.admitted ? "row" : "waiting") << " pushes " << row.pushes << " show " << row.show << " click " << row.click
       << " value " << row.value;
}

using Model = std::map<uint64_t, Kept>;

void expect_same(const Model& found, const Model& expected, const char* what) {
  if (found == expected) return;
  std::set<uint64_t> keys;
  for (const Model* rows : {&found, &expected}) {
    for (const auto& row : *rows) keys.insert(row.first);
  }
  const auto of = [](const Model& rows, uint64_t key) {
    const auto at = rows.find(key);
    return at == rows.end() ? std::string("nothing") : testing::PrintToString(at->second);
  };
  for (const uint64_t key : keys) EXPECT_EQ(of(found, key), of(expected, key)) << what << ", key " << key;
}

template <typename Reader>
Model read_rows(const SparseTable& table, Reader& reader) {
  Model rows;
  const size_t record = table.codec().record_bytes();
  for (std::string bytes; reader.next(2000, bytes).value(); bytes.clear()) {
    for (size_t at = 0; at < bytes.size(); at += record) {
      const RowView row = table.codec().decode(std::string_view(bytes).substr(at, record)).value();
      Kept kept{row.admitted, row.counters.pushes, row.counters.show, row.counters.click, row.admitted ? row.value[0] : 0};
      EXPECT_TRUE(rows.emplace(row.key, kept).second) << "key " << row.key << " comes twice";
      if (row.admitted) {
        EXPECT_EQ(row.value[0], row.value[1]) << "half of key " << row.key;
      }
    }
  }
  return rows;
}

struct Options {
  uint32_t shards = 1;
  Admission admission = {};
  bool read_faults = false;  // with one shard, where a call of a few keys is done or fails as a whole
};

void PrintTo(const Options& options, std::ostream* out) {
  *out << options.shards << " shards, read faults " << options.read_faults;
}

class Race {
 public:
  Race(const Options& options, uint64_t seed) : options_(options), seeds_(seed) {
    table_ = make_table("one");
    other_ = make_table("other");
    fill_constants(*table_, model_);
    fill_constants(*other_, other_model_);
    table_->set_overflow_read_fault([this] { return read_fault(); });
    other_->set_overflow_read_fault([this] { return read_fault(); });
  }

  // A part of the race: its changers make so many calls each, beside threads that only read.
  void run(int calls) {
    std::atomic<int> changing = kChangers;
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < kChangers; ++i) {
      threads.emplace_back([&, i, seed = seeds_()] {
        Random random(seed);
        for (int call = 0; call < calls && !testing::Test::HasFailure(); ++call, ++done_) change(i, random);
        --changing;
      });
    }
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, seed = seeds_()] {
        Random random(seed);
        while (changing > 0) pull_constants(random);
      });
    }
    while (changing > 0) {
      compare_cut();
      compare_all();
      for (const int done = done_ + 30; done_ < done && changing > 0;) std::this_thread::yield();  // rows move to disk only now
    }
    for (std::thread& thread : threads) thread.join();
    compare_all();
  }

  // The next writes go well, then one does not.
  void fail_a_write(int after) { writes_until_fault_ = after; }
  uint64_t write_faults() const { return write_faults_; }
  uint64_t cold_rows() const { return table_->size().cold_rows; }

  void wait_for_room() {
    const auto deadline = Deadline::after_seconds(60);
    while (!(table_->check_room().ok() && other_->check_room().ok()) && !deadline.passed()) std::this_thread::yield();
    EXPECT_EQ(table_->check_room(), Status());
  }

 private:
  std::unique_ptr<SparseTable> make_table(const char* folder) {
    SparseSpec spec{.name = "emb", .width = 2, .initializer = {.a = kFirst}, .rule = "sgd", .admission = options_.admission};
    spec.show_click = {.enabled = true, .non_click_weight = 1, .click_weight = 1, .decay = 0.5f};
    return make(spec,
                {.shards = options_.shards, .mem_limit_bytes = 5'000, .directory = scratch_ / folder, .overflow_fault = [this] {
                   return write_fault();
                 }});
  }

  // Both are asked where no lock is held: other threads get a chance to come between.
  Status write_fault() {
    come_between();
    if (writes_until_fault_.fetch_sub(1) != 0) return {};
    ++write_faults_;
    return Status::resource_exhausted("No space left on device");
  }
  Status read_fault() {
    come_between();
    if (!options_.read_faults || draws_.fetch_add(1) % 13 != 0) return {};
    return Status::data_loss("Input/output error");
  }
  void come_between() {
    for (uint64_t i = draws_.fetch_add(7) % 5; i > 0; --i) std::this_thread::yield();
  }

  void fill_constants(SparseTable& table, Model& model) {
    std::string records;
    for (uint64_t key = kKeys; key < kKeys + kConstants; ++key) {
      const float value[] = {static_cast<float>(key), static_cast<float>(key)};
      table.codec().append({.key = key, .admitted = true, .counters = {.pushes = 1, .show = 1e30f}, .value = value}, records);
      model[key] = {.admitted = true, .pushes = 1, .show = 1e30f, .value = value[0]};
    }
    ASSERT_EQ(table.import_records(records), Status());
  }

  // Without any lock: pulls are never in the way of anybody, nor anybody in theirs.
  void pull_constants(Random& random) {
    std::vector<uint64_t> keys;
    for (uint64_t key = kKeys + random.below(40); key < kKeys + kConstants; key += 1 + random.below(40)) keys.push_back(key);
    std::vector<float> rows(keys.size() * 2);
    if (!worked(table_->pull(keys, rows, random.below(4) != 0))) return;
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], static_cast<float>(keys[i / 2]));
  }

  // Whether a call was done; otherwise it was refused as a whole for a fault.
  bool worked(const Status& status) const {
    if (status.ok()) return true;
    EXPECT_TRUE(status.code() == Code::unavailable || status.code() == Code::data_loss) << status.to_string();
    EXPECT_TRUE(write_faults_ > 0 || options_.read_faults) << status.to_string();
    return false;
  }

  void change(uint64_t changer, Random& random) {
    const uint64_t kind = random.below(100);
    if (kind == 0) return change_all(random);
    gate_.lock();  // so that who waits for all changers gets in
    gate_.unlock();
    std::shared_lock lock(changes_);
    std::vector<uint64_t> keys;
    for (uint64_t i = 1 + random.below(8); i > 0; --i) keys.push_back(random.below(kKeys / kChangers) * kChangers + changer);
    if (kind < 40) return push(keys, random);
    if (kind < 60) return pull(keys, false);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    if (kind < 80) return pull(keys, true);
    if (kind < 88) return erase(keys);
    if (kind < 94) return set(keys, random);
    import(keys, random);
  }

  void push(const std::vector<uint64_t>& keys, Random& random) {
    std::vector<float> gradients;
    for (size_t i = 0; i < keys.size(); ++i) gradients.insert(gradients.end(), 2, static_cast<float>(random.below(7)) - 3);
    if (!worked(table_->apply(table_->begin_step(1), keys, gradients))) return;
    std::lock_guard lock(model_mutex_);
    for (size_t i = 0; i < keys.size(); ++i) {
      Kept& row = model_[keys[i]];
      ++row.pushes;
      ++row.show;
      if (!row.admitted && keeps_waiting() && row.pushes < options_.admission.count) continue;
      if (!row.admitted) row.value = kFirst;
      row.admitted = true;
      row.value -= gradients[2 * i];
    }
  }

  void pull(const std::vector<uint64_t>& keys, bool create) {
    std::vector<float> rows(keys.size() * 2);
    std::vector<uint64_t> missing;
    if (!worked(table_->pull(keys, rows, create, &missing))) return;
    std::lock_guard lock(model_mutex_);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (create && !keeps_waiting() && !model_.contains(keys[i])) model_[keys[i]] = {.admitted = true, .value = kFirst};
      const auto row = model_.find(keys[i]);
      const bool there = row != model_.end() && row->second.admitted;
      EXPECT_EQ(rows[2 * i], there ? row->second.value : kFirst) << "key " << keys[i];
      EXPECT_EQ(rows[2 * i + 1], rows[2 * i]) << "half of key " << keys[i];
      EXPECT_EQ(std::ranges::find(missing, i) == missing.end(), there) << "key " << keys[i];
    }
  }

  void erase(const std::vector<uint64_t>& keys) {
    if (!worked(table_->erase(keys))) return;
    std::lock_guard lock(model_mutex_);
    for (const uint64_t key : keys) model_.erase(key);
  }

  void set(const std::vector<uint64_t>& keys, Random& random) {
    const auto value = static_cast<float>(random.below(1000));
    if (!worked(table_->set_rows(keys, std::vector<float>(keys.size() * 2, value)))) return;
    std::lock_guard lock(model_mutex_);
    for (const uint64_t key : keys) model_[key] = {.admitted = true, .value = value};
  }

  void import(const std::vector<uint64_t>& keys, Random& random) {
    std::string records;
    Model rows;
    for (const uint64_t key : keys) {
      Kept& row = rows[key];
      row = {.admitted = random.below(3) != 0, .pushes = 1, .show = 4, .value = static_cast<float>(random.below(1000))};
      const float value[] = {row.value, row.value};
      RowView record{.key = key, .admitted = row.admitted, .counters = {.pushes = 1, .show = 4}};
      if (row.admitted) record.value = value;
      table_->codec().append(record, records);
      if (!row.admitted) row.value = 0;
    }
    if (!worked(table_->import_records(records))) return;
    std::lock_guard lock(model_mutex_);
    for (const auto& [key, row] : rows) {
      if (row.admitted || keeps_waiting()) {
        model_[key] = row;
      } else {
        model_.erase(key);
      }
    }
  }

  bool keeps_waiting() const { return table_->keeps_waiting(); }

  // No change is under way while the lock lives; pulls are.
  std::unique_lock<std::shared_mutex> stop_changes() {
    std::lock_guard gate(gate_);
    return std::unique_lock(changes_);
  }

  void change_all(Random& random) {
    const auto lock = stop_changes();
    if (random.below(2) == 0) {
      if (table_->swap_rows(*other_).ok()) std::swap(model_, other_model_);
      return;
    }
    const int faults = writes_until_fault_.exchange(-1);
    shrink(random.below(2) == 0 ? 0.7f : 0.0f);
    writes_until_fault_ = faults;
  }

  void shrink(float score) {
    std::vector<uint64_t> erased;
    const auto counts = table_->shrink({.score = score}, 0, &erased);
    ASSERT_TRUE(counts.ok()) << counts.status().to_string();
    std::set<uint64_t> dropped;
    for (auto& [key, row] : model_) {
      row.show *= 0.5f;
      row.click *= 0.5f;
      if (score != 0 && table_->spec().show_click.score(row.show, row.click) < score) dropped.insert(key);
    }
    for (const uint64_t key : dropped) model_.erase(key);
    EXPECT_EQ(std::set(erased.begin(), erased.end()), dropped);
    EXPECT_EQ(counts->dropped + counts->dropped_waiting, dropped.size());
  }

  void compare_all() {
    const auto lock = stop_changes();
    auto all = table_->begin_export();
    expect_same(read_rows(*table_, all), model_, "of the table");
  }

  void compare_cut() {
    auto lock = stop_changes();
    const Model then = model_;
    auto cut = table_->begin_cut();
    ASSERT_TRUE(cut.ok());
    EXPECT_EQ(cut->rows(), then.size());
    lock.unlock();
    expect_same(read_rows(*table_, *cut), then, "of a cut");
  }

  const Options options_;
  std::mt19937_64 seeds_;
  const ScratchFolder scratch_;
  std::atomic<int> done_ = 0;  // calls of changers
  std::atomic<int> writes_until_fault_ = -1;  // less than 0: none
  std::atomic<uint64_t> write_faults_ = 0, draws_ = 0;
  std::unique_ptr<SparseTable> table_, other_;
  std::mutex gate_;
  std::shared_mutex changes_;
  std::mutex model_mutex_;  // of the maps' nodes, which threads make beside each other
  Model model_, other_model_;
};

class SparseTableRace : public testing::TestWithParam<Options> {};

TEST_P(SparseTableRace, AgreesWithAPlainMap) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  Race race(GetParam(), seed);
  for (int part = 0; (part < 2 || (race.write_faults() == 0 && part < 20)) && !HasFailure(); ++part) {
    race.fail_a_write(static_cast<int>(random() % 30));
    race.run(200);
    race.wait_for_room();
    EXPECT_GT(race.cold_rows(), 0u) << "the test moves rows to disk";
  }
  EXPECT_GT(race.write_faults(), 0u) << "a write was refused";
}

constexpr Admission kSecondPush{.kind = Admission::Kind::count, .count = 2};
INSTANTIATE_TEST_SUITE_P(Tables, SparseTableRace,
                         testing::Values(Options{}, Options{.read_faults = true}, Options{.shards = 4},
                                         Options{.admission = kSecondPush, .read_faults = true}));

}  // namespace
}  // namespace argosy::table
