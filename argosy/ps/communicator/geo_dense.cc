#include "argosy/ps/communicator/geo_dense.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "argosy/optim/initial_states.h"

namespace argosy::ps {

void GeoDense::begin(std::span<float> values, const optim::Rule& rule) {
  const MutexLock lock(mutex_);
  values_ = values;
  rule_ = &rule;
  base_.assign(values.begin(), values.end());
  received_.resize(values.size());
  forget_states_locked();
}

void GeoDense::forget_states() {
  const MutexLock lock(mutex_);
  forget_states_locked();
}

void GeoDense::forget_states_locked() {
  if (rule_ != nullptr) states_ = optim::initial_element_states(*rule_, values_.size());
}

void GeoDense::train(std::span<const float> gradient, std::span<const Range> wanted, const optim::Step& step,
                     const std::optional<optim::Regularization>& regularization) {
  MutexLock lock(mutex_);
  for (const Range& range : wanted) {
    const auto param = values_.subspan(range.begin, range.size());
    const auto values = gradient.subspan(range.begin, range.size());
    std::array<float*, optim::kMaxElementStates> states{};
    for (size_t k = 0; k < rule_->element_states(); ++k) states[k] = states_.data() + k * values_.size() + range.begin;
    if (!regularization) {
      rule_->apply(step, param.data(), values.data(), states.data(), param.size());
      continue;
    }
    std::vector<float> regularized(values.begin(), values.end());
    optim::regularize(*regularization, param, regularized);
    rule_->apply(step, param.data(), regularized.data(), states.data(), param.size());
  }
}

void GeoDense::collect(float share, std::vector<float>& differences) {
  const MutexLock lock(mutex_);
  differences.resize(values_.size());
  for (size_t k = 0; k < differences.size(); ++k) {
    differences[k] = share * (values_[k] - base_[k]);
    base_[k] += differences[k];
  }
}

void GeoDense::receive() {
  const MutexLock lock(mutex_);
  for (size_t k = 0; k < values_.size(); ++k) {
    std::atomic_ref<float> value(values_[k]);
    // In this order of sums a parameter of which nothing is unsent becomes the servers', to the bit.
    const float unsent = value.load(std::memory_order_relaxed) - base_[k];
    value.store(received_[k] + unsent, std::memory_order_relaxed);
    base_[k] = received_[k];
  }
}

void GeoDense::settle(std::span<const float> values) {
  const MutexLock lock(mutex_);
  std::ranges::copy(values, base_.begin());
}

double GeoDense::unsent() const {
  const MutexLock lock(mutex_);
  double sum = 0;
  for (size_t k = 0; k < base_.size(); ++k) sum += std::abs(double{values_[k]} - double{base_[k]});
  return sum;
}

}  // namespace argosy::ps
