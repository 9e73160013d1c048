#include "argosy/ps/spec/window.h"

#include <algorithm>
#include <limits>

#include "argosy/base/plant.h"

namespace argosy::ps {

Window::Window(uint32_t round, uint32_t through, std::span<const uint32_t> above) : round_(round), through_(through) {
  for (const uint32_t index : above) {
    if (index >= through) above_.insert(index);
  }
  extend_run();
}

bool Window::contains(uint64_t batch) const {
  if (round_of(batch) != round_) return round_of(batch) < round_;
  return index_of(batch) < through_ + (ARGOSY_PLANTED("window_off_by_one") ? 1u : 0u) || above_.contains(index_of(batch));
}

Window::Match Window::match(std::span<const uint64_t> batches) const {
  const auto here = std::ranges::count_if(batches, [this](uint64_t batch) { return contains(batch); });
  if (here == 0) return Match::none;
  return static_cast<size_t>(here) == batches.size() ? Match::all : Match::some;
}

void Window::add(std::span<const uint64_t> batches) {
  for (const uint64_t batch : batches) {
    if (contains(batch)) continue;
    if (round_of(batch) > round_) {
      round_ = round_of(batch);
      through_ = 0;
      above_.clear();
    }
    above_.insert(index_of(batch));
  }
  extend_run();
}

void Window::remove(std::span<const uint64_t> batches) {
  for (const uint64_t batch : batches) {
    const uint32_t index = index_of(batch);
    if (round_of(batch) != round_) continue;
    above_.erase(index);
    if (index >= through_) continue;
    for (uint32_t kept = index + 1; kept < through_; ++kept) above_.insert(kept);
    through_ = index;
  }
}

void Window::leave(uint32_t round) {
  if (round < round_) return;
  round_ = round + 1;
  through_ = 0;
  above_.clear();
}

std::vector<uint64_t> Window::lacks(const Window& other, bool& whole_rounds) const {
  whole_rounds = other.round_ > round_;
  std::vector<uint64_t> lacking;
  const auto look_at = [&](uint32_t index) {
    if (!contains(batch_id(other.round_, index))) lacking.push_back(batch_id(other.round_, index));
  };
  for (uint32_t index = other.round_ == round_ ? through_ : 0; index < other.through_ && other.round_ >= round_; ++index)
    look_at(index);
  for (const uint32_t index : other.above_) look_at(index);
  return lacking;
}

uint64_t Window::count_lacking(const Window& other, bool& whole_rounds) const {
  whole_rounds = other.round_ > round_;
  if (whole_rounds) return other.through_ + other.above_.size();
  if (other.round_ < round_) return 0;
  uint64_t count = 0;
  if (other.through_ > through_) {
    const auto here = std::distance(above_.begin(), above_.lower_bound(other.through_));
    count = other.through_ - through_ - static_cast<uint64_t>(here);
  }
  for (const uint32_t index : other.above_) count += contains(batch_id(round_, index)) ? 0 : 1;
  return count;
}

void Window::extend_run() {
  if (ARGOSY_PLANTED("window_forgets_gaps") && !above_.empty()) through_ = *above_.begin();
  while (!above_.empty() && *above_.begin() == through_ && through_ < std::numeric_limits<uint32_t>::max()) {
    above_.erase(above_.begin());
    ++through_;
  }
}

}  // namespace argosy::ps
