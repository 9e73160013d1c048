#pragma once

#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "argosy/optim/array.h"
#include "argosy/optim/rule.h"
#include "argosy/optim/simd.h"

// How a formula for one element becomes a Rule. Included by the files that define rules, not by users of the room.

namespace argosy::optim::internal {

struct RuleEntry {
  RuleInfo info;
  std::unique_ptr<Rule> (*make)(const RuleInfo& info, std::vector<float> hyper_parameters);
};

// The entries of each file; rule_list.cc has them all.
std::span<const RuleEntry> gradient_rules();
std::span<const RuleEntry> adagrad_rules();
std::span<const RuleEntry> adam_rules();
std::span<const RuleEntry> ftrl_rules();
std::span<const RuleEntry> lamb_rules();
std::span<const RuleEntry> lars_rules();

template <typename Kernel>
Step pack(const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel> && sizeof(Kernel) <= sizeof(Step));
  Step step{};
  std::memcpy(step.constants.data(), &kernel, sizeof(Kernel));
  return step;
}

template <typename Kernel>
Kernel unpack(const Step& step) {
  Kernel kernel;
  std::memcpy(&kernel, step.constants.data(), sizeof(Kernel));
  return kernel;
}

// The parameters' restrict is what lets the compiler vectorise; so the states are parameters, used or not.
template <typename Kernel>
[[gnu::always_inline]] inline void update_span(const Kernel kernel, float* __restrict p, const float* __restrict g,
                                               float* __restrict s0, float* __restrict s1, float* __restrict s2, size_t n) {
  static_assert(Kernel::kStates <= kMaxElementStates);
  constexpr size_t kStates = Kernel::kStates;
  for (size_t i = 0; i < n; ++i) {
    // All loads, the formula on locals, all stores: a value that is stored and loaded again waits for the store.
    float value = p[i], a = 0, b = 0, c = 0;
    if constexpr (kStates > 0) a = s0[i];
    if constexpr (kStates > 1) b = s1[i];
    if constexpr (kStates > 2) c = s2[i];
    if constexpr (kStates == 0) kernel(value, g[i]);
    if constexpr (kStates == 1) kernel(value, g[i], a);
    if constexpr (kStates == 2) kernel(value, g[i], a, b);
    if constexpr (kStates == 3) kernel(value, g[i], a, b, c);
    p[i] = value;
    if constexpr (kStates > 0) s0[i] = a;
    if constexpr (kStates > 1) s1[i] = b;
    if constexpr (kStates > 2) s2[i] = c;
  }
}

template <typename Kernel>
ARGOSY_SIMD_CLONES void update_elements(Kernel kernel, float* p, const float* g, float* s0, float* s1, float* s2, size_t n) {
  update_span(kernel, p, g, s0, s1, s2, n);
}

[[gnu::always_inline]] inline void prefetch_row(const float* row, size_t width) {
  constexpr size_t kLine = 64 / sizeof(float);
  constexpr size_t kMost = 4 * kLine;  // beyond this the processor's own prefetcher has seen the pattern
  const size_t ahead = width < kMost ? width : kMost;
  for (size_t i = 0; i < ahead; i += kLine) __builtin_prefetch(row + i, 1);
  __builtin_prefetch(row + ahead - 1, 1);
}

template <typename Kernel>
ARGOSY_SIMD_CLONES void update_rows(Kernel kernel, Rows rows, float* s0, float* s1, float* s2) {
  constexpr size_t kAhead = 8;  // rows; from 4 to 64 there is little difference
  const size_t count = rows.index.size();
  for (size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      const size_t next = static_cast<size_t>(rows.index[i + kAhead]) * rows.stride;
      prefetch_row(rows.param + next, rows.width);
      if constexpr (Kernel::kStates > 0) prefetch_row(s0 + next, rows.width);
      if constexpr (Kernel::kStates > 1) prefetch_row(s1 + next, rows.width);
      if constexpr (Kernel::kStates > 2) prefetch_row(s2 + next, rows.width);
    }
    const size_t at = static_cast<size_t>(rows.index[i]) * rows.stride;
    update_span(kernel, rows.param + at, rows.grad + i * rows.width, s0 + at, s1 + at, s2 + at, rows.width);
  }
}

// A rule whose elements are independent. A Kernel<C> holds the constants of a step and has
//   static constexpr size_t kStates;                                                                its element states
//   static Kernel begin(std::span<const float> hyper, const C& rate, std::span<C> scalars);   the first phase
//   template <typename T> void operator()(T& p, const T& g, T& s0, …) const;                     the second
//   AdamStep as_adam() const;                                         where it is Adam's, with C = float; may be absent
//
// T is float, for one element of a span, or Array, for lists of arrays at once: the formula is written once, with the
// functions of array.h. So is C for the constants that change from step to step: Array where they are numbers of a device.
template <template <typename> class Kernel>
class KernelRule final : public Rule {
 public:
  KernelRule(const RuleInfo& info, std::vector<float> hyper) : Rule(info, std::move(hyper)) {}

  static std::unique_ptr<Rule> make(const RuleInfo& info, std::vector<float> hyper) {
    return std::make_unique<KernelRule>(info, std::move(hyper));
  }

  Step begin_step(float learning_rate, std::span<float> scalars) const override {
    ARGOSY_CHECK(scalars.size() == scalar_states());
    return pack(Kernel<float>::begin(hyper(), learning_rate, scalars));
  }

  void apply(const Step& step, float* param, const float* grad, float* const* states, size_t n) const override {
    update_elements(unpack<Kernel<float>>(step), param, grad, state(states, 0), state(states, 1), state(states, 2), n);
  }

  void apply_rows(const Step& step, const Rows& rows) const override {
    if (rows.width == 0) return;
    float* const* states = rows.element_states;
    update_rows(unpack<Kernel<float>>(step), rows, state(states, 0), state(states, 1), state(states, 2));
  }

  void apply(const Step& step, Array& param, const Array& grad, std::span<Array> states) const override {
    move_arrays(unpack<Kernel<float>>(step), param, grad, states);
  }

  std::optional<AdamStep> as_adam(const Step& step) const override {
    if constexpr (requires(const Kernel<float>& kernel) { kernel.as_adam(); }) {
      return unpack<Kernel<float>>(step).as_adam();
    } else {
      return std::nullopt;
    }
  }

  void step(const Array& rate, std::span<Array> scalars, Array& param, const Array& grad,
            std::span<Array> states) const override {
    ARGOSY_CHECK(scalars.size() == scalar_states());
    move_arrays(Kernel<Array>::begin(hyper(), rate, scalars), param, grad, states);
  }

 private:
  static constexpr size_t kStates = Kernel<float>::kStates;

  template <typename C>
  static void move_arrays(const Kernel<C>& kernel, Array& param, const Array& grad, std::span<Array> states) {
    ARGOSY_CHECK(states.size() == kStates);
    if constexpr (kStates == 0) kernel(param, grad);
    if constexpr (kStates == 1) kernel(param, grad, states[0]);
    if constexpr (kStates == 2) kernel(param, grad, states[0], states[1]);
    if constexpr (kStates == 3) kernel(param, grad, states[0], states[1], states[2]);
  }

  static float* state(float* const* states, size_t k) { return k < kStates ? states[k] : nullptr; }
};

}  // namespace argosy::optim::internal
