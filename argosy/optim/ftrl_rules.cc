#include "argosy/optim/kernel_rule.h"

namespace argosy::optim::internal {
namespace {

// Follow the regularised leader: the parameter is a function of the two accumulators, exactly 0 within l1 of 0.
template <typename C>
struct Ftrl {
  static constexpr size_t kStates = 2;
  static constexpr HyperParameter kHyper[] = {{"l1", 0}, {"l2", 0}, {"lr_power", -0.5f}};
  static constexpr StateSlot kSlots[] = {{"SquaredAccumulator", "SquaredAccumOut", "squared"},
                                         {"LinearAccumulator", "LinearAccumOut", "linear"}};
  C per_rate;  // 1 / rate
  float l1, l2, exponent;

  static Ftrl begin(std::span<const float> hyper, const C& rate, std::span<C>) {
    return {1.0f / rate, hyper[0], hyper[1], -hyper[2]};
  }

  template <typename T>
  T scale(const T& squares) const {
    return power(squares, exponent);
  }

  template <typename T>
  void operator()(T& p, const T& g, T& squared, T& linear) const {
    update(*this, p, g, squared, linear);
  }

  template <typename Self, typename T>
  [[gnu::always_inline]] static inline void update(const Self& self, T& p, const T& g, T& squared, T& linear) {
    const T new_scale = self.scale(squared + g * g);
    linear += g - (new_scale - self.scale(squared)) * self.per_rate * p;
    squared += g * g;
    const T pull = self.l1 * sign(linear) - linear;
    p = mask_above(absolute(linear), self.l1, pull / (new_scale * self.per_rate + 2 * self.l2));
  }
};

// The usual power, -0.5, where the loop is vectorised.
template <typename C>
struct RootFtrl : Ftrl<C> {
  static RootFtrl begin(std::span<const float> hyper, const C& rate, std::span<C> scalars) {
    return {Ftrl<C>::begin(hyper, rate, scalars)};
  }

  template <typename T>
  T scale(const T& squares) const {
    return root(squares);
  }

  template <typename T>
  void operator()(T& p, const T& g, T& squared, T& linear) const {
    Ftrl<C>::update(*this, p, g, squared, linear);
  }
};

std::unique_ptr<Rule> make_ftrl(const RuleInfo& info, std::vector<float> hyper) {
  const bool usual = hyper[2] == -0.5f;
  return usual ? KernelRule<RootFtrl>::make(info, std::move(hyper)) : KernelRule<Ftrl>::make(info, std::move(hyper));
}

}  // namespace

std::span<const RuleEntry> ftrl_rules() {
  static const RuleEntry rules[] = {
      {{.op_type = "ftrl", .hyper_parameters = Ftrl<float>::kHyper, .states = Ftrl<float>::kSlots}, make_ftrl},
  };
  return rules;
}

}  // namespace argosy::optim::internal
