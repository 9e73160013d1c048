#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/random.h"
#include "argosy/table/sparse_table.h"

// For this room's tests.
namespace argosy::table {

class TempFolder {
 public:
  TempFolder() : path_(std::filesystem::temp_directory_path() / fmt::format("argosy-table-{:x}", std::random_device{}())) {}
  ~TempFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::unique_ptr<SparseTable> make(SparseSpec spec, const StoreOptions& options = {}) {
  auto table = SparseTable::make(std::move(spec), std::move(options));
  EXPECT_TRUE(table.ok()) << table.status().to_string();
  return std::move(table).value();
}

inline std::vector<float> pull(SparseTable& table, std::vector<uint64_t> keys, bool create = false) {
  std::vector<float> rows(keys.size() * table.spec().width);
  EXPECT_EQ(table.pull(keys, rows, create), Status());
  return rows;
}

// What a sparse table should hold, in the plainest form: one map, one row at a time, optim's rule called directly.
class Oracle {
 public:
  struct Row {
    bool admitted = false;
    RowCounters counters;
    std::vector<float> value, states;
  };

  explicit Oracle(SparseSpec spec) : spec_(std::move(spec)) {
    if (spec_.mode == Mode::gradient) rule_ = std::move(optim::make_rule(spec_.rule, spec_.hyper_parameters)).value();
    if (rule_) scalars_ = rule_->initial_scalars();
  }

  std::vector<float> pull(uint64_t key) const {
    const auto found = rows_.find(key);
    return found != rows_.end() && found->second.admitted ? found->second.value : initial(key);
  }

  void begin_step(float rate, uint32_t seconds) {
    ++steps_;
    seconds_ = seconds;
    if (rule_) step_ = rule_->begin_step(rate, scalars_);
  }

  void apply(uint64_t key, std::vector<float> gradient, float show, float click) {
    if (!drawn(key) && !rows_.contains(key)) return;
    Row& row = rows_[key];
    count(row, show, click);
    if (!row.admitted && !reached(row)) return;
    if (!row.admitted) make(key, row);
    if (spec_.regularization) optim::regularize(*spec_.regularization, row.value, gradient);
    std::array<float*, optim::kMaxElementStates> states{};
    for (size_t k = 0; k < rule_->element_states(); ++k) states[k] = row.states.data() + k * spec_.width;
    rule_->apply(step_, row.value.data(), gradient.data(), states.data(), spec_.width);
  }

  void add(uint64_t key, std::span<const float> delta) {
    Row& row = rows_[key];
    count(row, 1, 0);
    if (!row.admitted) make(key, row);
    for (size_t i = 0; i < delta.size(); ++i) row.value[i] += delta[i];
  }

  void erase(uint64_t key) { rows_.erase(key); }

  void set(uint64_t key, std::span<const float> value) {
    Row& row = rows_[key];
    make(key, row);
    row.value.assign(value.begin(), value.end());
    row.counters = {.seen_step = static_cast<uint32_t>(steps_ + 1)};
  }

  void set_state(uint64_t key, size_t state, std::span<const float> values) {
    Row& row = rows_[key];
    if (!row.admitted) {
      make(key, row);
      row.counters = {};
    }
    std::copy(values.begin(), values.end(), row.states.begin() + static_cast<std::ptrdiff_t>(state * spec_.width));
    row.counters.seen_step = static_cast<uint32_t>(steps_ + 1);
  }

  void touch(uint64_t key) {  // a pull that makes rows
    const bool at_once = spec_.admission.kind == Admission::Kind::all || spec_.admission.kind == Admission::Kind::probability;
    if (at_once && drawn(key) && !rows_.contains(key)) make(key, rows_[key]);
  }

  void shrink(const Expiry& expiry, uint32_t now) {
    for (auto at = rows_.begin(); at != rows_.end();) {
      RowCounters& c = at->second.counters;
      c.show *= spec_.show_click.decay;
      c.click *= spec_.show_click.decay;
      const bool drop = (expiry.score != 0 && spec_.show_click.score(c.show, c.click) < expiry.score) ||
                        (expiry.unseen_steps != 0 && steps_ > uint64_t{c.seen_step} + expiry.unseen_steps) ||
                        (expiry.ttl_seconds != 0 && now > c.seen_seconds + expiry.ttl_seconds);
      at = drop ? rows_.erase(at) : std::next(at);
    }
  }

  const std::map<uint64_t, Row>& rows() const { return rows_; }
  TableProgress progress() const { return {.steps = steps_, .scalars = scalars_}; }

 private:
  bool drawn(uint64_t key) const {
    return spec_.admission.kind != Admission::Kind::probability ||
           Random(spec_.admission.seed, key).uniform() < spec_.admission.probability;
  }

  std::vector<float> initial(uint64_t key) const {
    std::vector<float> value(spec_.width);
    row_initial_value(spec_.initializer, key, value);
    return value;
  }

  void make(uint64_t key, Row& row) {
    row.admitted = true;
    row.value = initial(key);
    row.states.clear();
    if (!rule_) return;
    for (const optim::StateSlot& slot : rule_->states()) {
      if (slot.shape == optim::StateSlot::element) row.states.insert(row.states.end(), spec_.width, slot.initial);
    }
  }

  void count(Row& row, float show, float click) const {
    row.counters.seen_step = static_cast<uint32_t>(steps_);
    ++row.counters.pushes;
    if (spec_.keeps_seconds()) row.counters.seen_seconds = seconds_;
    if (!spec_.counts_show_click()) return;
    row.counters.show += show;
    row.counters.click += click;
  }

  bool reached(const Row& row) const {
    if (spec_.admission.kind == Admission::Kind::count) return row.counters.pushes >= spec_.admission.count;
    if (spec_.admission.kind != Admission::Kind::show_click) return true;
    return spec_.show_click.score(row.counters.show, row.counters.click) >= spec_.admission.score;
  }

  const SparseSpec spec_;
  std::unique_ptr<optim::Rule> rule_;
  std::vector<float> scalars_;
  uint64_t steps_ = 0;
  uint32_t seconds_ = 0;
  optim::Step step_{};
  std::map<uint64_t, Row> rows_;
};

// Everything that a table holds, by key; a key that comes twice fails.
inline std::map<uint64_t, Oracle::Row> contents(const SparseTable& table, size_t chunk_bytes = 1000,
                                                std::optional<uint64_t> changed_since = {}) {
  std::map<uint64_t, Oracle::Row> rows;
  auto all = table.begin_export(changed_since);
  for (std::string bytes; all.next(chunk_bytes, bytes).value(); bytes.clear()) {
    const size_t record = table.codec().record_bytes();
    for (size_t at = 0; at < bytes.size(); at += record) {
      const RowView row = table.codec().decode(std::string_view(bytes).substr(at, record)).value();
      const bool is_new = rows.try_emplace(row.key, Oracle::Row{.admitted = row.admitted,
                                                                .counters = row.counters,
                                                                .value = {row.value.begin(), row.value.end()},
                                                                .states = {row.states.begin(), row.states.end()}})
                              .second;
      ARGOSY_CHECK(is_new, "a row was exported twice");
    }
  }
  return rows;
}

inline void expect_equal(const std::map<uint64_t, Oracle::Row>& found, const std::map<uint64_t, Oracle::Row>& expected) {
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

}  // namespace argosy::table
