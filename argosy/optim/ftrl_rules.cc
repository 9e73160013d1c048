#include <cmath>

#include "argosy/optim/kernel_rule.h"

namespace argosy::optim::internal {
namespace {

// Follow the regularised leader: the parameter is a function of the two accumulators, exactly 0 within l1 of 0.
struct Ftrl {
  static constexpr size_t kStates = 2;
  static constexpr HyperParameter kHyper[] = {{"l1", 0}, {"l2", 0}, {"lr_power", -0.5f}};
  static constexpr StateSlot kSlots[] = {{"SquaredAccumulator", "SquaredAccumOut", "squared"},
                                         {"LinearAccumulator", "LinearAccumOut", "linear"}};
  float per_rate, l1, l2, power;  // per_rate: 1 / rate

  static Ftrl begin(std::span<const float> hyper, float rate, std::span<float>) {
    return {1 / rate, hyper[0], hyper[1], -hyper[2]};
  }

  float root(float squares) const { return std::pow(squares, power); }

  void operator()(float& p, float g, float& squared, float& linear) const { update(*this, p, g, squared, linear); }

  template <typename Self>
  [[gnu::always_inline]] static inline void update(const Self& self, float& p, float g, float& squared, float& linear) {
    const float new_root = self.root(squared + g * g);
    linear += g - (new_root - self.root(squared)) * self.per_rate * p;
    squared += g * g;
    const float pull = (linear > 0 ? self.l1 : linear < 0 ? -self.l1 : 0) - linear;
    const float moved = pull / (new_root * self.per_rate + 2 * self.l2);
    p = std::abs(linear) > self.l1 ? moved : 0;
  }
};

// The usual power, -0.5, where the loop is vectorised.
struct RootFtrl : Ftrl {
  static RootFtrl begin(std::span<const float> hyper, float rate, std::span<float> scalars) {
    return {Ftrl::begin(hyper, rate, scalars)};
  }

  float root(float squares) const { return std::sqrt(squares); }

  void operator()(float& p, float g, float& squared, float& linear) const { update(*this, p, g, squared, linear); }
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
