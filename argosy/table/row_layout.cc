#include "argosy/table/row_layout.h"

#include <algorithm>
#include <bit>

#include "argosy/optim/initial_states.h"

namespace argosy::table {

RowLayout::RowLayout(const SparseSpec& spec, const optim::Rule* rule)
    : width_(spec.width), element_states_(rule ? rule->element_states() : 0) {
  size_t at = sizeof(RowHeader) / sizeof(float);
  if (spec.keeps_seconds()) seconds_ = at++;
  if (spec.counts_show_click()) {
    show_ = at;
    at += 2;
  }
  value_ = at;
  words_ = (value_ + width_ * (1 + element_states_) + 1) & ~size_t{1};
  if (rule) initial_states_ = optim::initial_element_states(*rule, width_);
}

RowCounters RowLayout::counters(const float* row) const {
  RowCounters counters{.seen_step = header(row).seen_step, .pushes = header(row).pushes};
  if (seconds_) counters.seen_seconds = std::bit_cast<uint32_t>(row[seconds_]);
  if (show_) {
    counters.show = row[show_];
    counters.click = row[show_ + 1];
  }
  return counters;
}

void RowLayout::set_counters(float* row, const RowCounters& counters) const {
  header(row).seen_step = counters.seen_step;
  header(row).pushes = std::min(counters.pushes, kMaxPushes);
  if (seconds_) row[seconds_] = std::bit_cast<float>(counters.seen_seconds);
  if (show_) {
    row[show_] = counters.show;
    row[show_ + 1] = counters.click;
  }
}

void RowLayout::count(float* row, const RowCounters& gradient) const {
  RowHeader& head = header(row);
  head.seen_step = gradient.seen_step;
  if (head.pushes < kMaxPushes) head.pushes = head.pushes + 1;
  if (seconds_) row[seconds_] = std::bit_cast<float>(gradient.seen_seconds);
  if (show_) {
    row[show_] += gradient.show;
    row[show_ + 1] += gradient.click;
  }
}

void RowLayout::reset(float* row, uint64_t key) const {
  header(row) =
      RowHeader{.key = key, .seen_step = 0, .pushes = 0, .flags = RowHeader::kLive | RowHeader::kUsed | RowHeader::kChanged};
  set_counters(row, {});
  std::copy(initial_states_.begin(), initial_states_.end(), row + value_ + width_);
}

RowView RowLayout::view(const float* row) const {
  return {.key = header(row).key, .counters = counters(row), .value = value(row), .states = states(row)};
}

void count_gradient(RowCounters& counters, const RowCounters& gradient) {
  counters.seen_step = gradient.seen_step;
  counters.seen_seconds = gradient.seen_seconds;
  counters.pushes = std::min(counters.pushes + 1, kMaxPushes);
  counters.show += gradient.show;
  counters.click += gradient.click;
}

}  // namespace argosy::table
