#include "argosy/optim/kernel_rule.h"

namespace argosy::optim::internal {
namespace {

// Follow the regularised leader: the parameter is a function of the two accumulators, exactly 0 within l1 of 0.
struct Ftrl {
  static constexpr size_t kStates = 2;
  static constexpr HyperParameter kHyper[] = {{"l1", 0}, {"l2", 0}, {"lr_power", -0.5f}};
  static constexpr StateSlot kSlots[] = {{"SquaredAccumulator", "SquaredAccumOut", "squared"},
                                         {"LinearAccumulator", "LinearAccumOut", "linear"}};
  float per_rate, l1, l2, exponent;  // per_rate: 1 / rate

  static Ftrl begin(std::span<const float> hyper, float rate, std::span<float>) {
    return {1 / rate, hyper[0], hyper[1], -hyper[2]};
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
struct RootFtrl : Ftrl {
  static RootFtrl begin(std::span<const float> hyper, float rate, std::span<float> scalars) {
    return {Ftrl::begin(hyper, rate, scalars)};
  }

  template <typename T>
  T scale(const T& squares) const {
    return root(squares);
  }

  template <typename T>
  void operator()(T& p, const T& g, T& squared, T& linear) const {
    update(*this, p, g, squared, linear);
  }
};

std::unique_ptr<Rule> make_ftrl(const RuleInfo& info, std::vector<float> hyper) {
  const bool usual = hyper[2] == -0.5f;
  return usual ? KernelRule<RootFtrl>::make(info, std::move(hyper)) : KernelRule<Ftrl>::make(info, std::move(hyper));
}

}  // namespace

std::span<const RuleEntry> ftrl_rules() {
  static const RuleEntry rules[] = {
      {{.op_type = "ftrl", .hyper_parameters = Ftrl::kHyper, .states = Ftrl::kSlots}, make_ftrl},
  };
  return rules;
}

}  // namespace argosy::optim::internal
