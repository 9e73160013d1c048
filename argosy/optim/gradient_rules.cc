#include "argosy/optim/kernel_rule.h"

namespace argosy::optim::internal {
namespace {

struct Sgd {
  static constexpr size_t kStates = 0;
  float rate;

  static Sgd begin(std::span<const float>, float rate, std::span<float>) { return {rate}; }

  void operator()(float& p, float g) const { p -= rate * g; }
};

struct Momentum {
  static constexpr size_t kStates = 1;
  static constexpr HyperParameter kHyper[] = {{"mu", 0.9f}, {"use_nesterov", 0, HyperParameter::boolean}};
  static constexpr StateSlot kSlots[] = {{"Velocity", "VelocityOut", "velocity"}};
  float rate, mu;
  bool nesterov;

  static Momentum begin(std::span<const float> hyper, float rate, std::span<float>) { return {rate, hyper[0], hyper[1] != 0}; }

  void operator()(float& p, float g, float& velocity) const {
    velocity = mu * velocity + g;
    p -= rate * (nesterov ? g + mu * velocity : velocity);
  }
};

}  // namespace

std::span<const RuleEntry> gradient_rules() {
  static const RuleEntry rules[] = {
      {{.op_type = "sgd"}, KernelRule<Sgd>::make},
      {{.op_type = "momentum", .hyper_parameters = Momentum::kHyper, .states = Momentum::kSlots}, KernelRule<Momentum>::make},
  };
  return rules;
}

}  // namespace argosy::optim::internal
