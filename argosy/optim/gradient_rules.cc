#include "argosy/optim/kernel_rule.h"

namespace argosy::optim::internal {
namespace {

template <typename C>
struct Sgd {
  static constexpr size_t kStates = 0;
  C rate;

  static Sgd begin(std::span<const float>, const C& rate, std::span<C>) { return {rate}; }

  template <typename T>
  void operator()(T& p, const T& g) const {
    p -= rate * g;
  }
};

template <typename C>
struct Momentum {
  static constexpr size_t kStates = 1;
  static constexpr HyperParameter kHyper[] = {{"mu", 0.9f}, {"use_nesterov", 0, HyperParameter::boolean}};
  static constexpr StateSlot kSlots[] = {{"Velocity", "VelocityOut", "velocity"}};
  C rate;
  float mu;
  bool nesterov;

  static Momentum begin(std::span<const float> hyper, const C& rate, std::span<C>) { return {rate, hyper[0], hyper[1] != 0}; }

  template <typename T>
  void operator()(T& p, const T& g, T& velocity) const {
    velocity = mu * velocity + g;
    p -= rate * (nesterov ? g + mu * velocity : velocity);
  }
};

// No optimizer's: what parameter servers do with a batch's statistic, which takes the place of a gradient.
template <typename C>
struct RunningMean {
  static constexpr size_t kStates = 0;
  static constexpr HyperParameter kHyper[] = {{"momentum", 0.9f}};
  float kept, taken;

  static RunningMean begin(std::span<const float> hyper, const C&, std::span<C>) { return {hyper[0], 1.0f - hyper[0]}; }

  template <typename T>
  void operator()(T& p, const T& g) const {
    p = kept * p + taken * g;
  }
};

}  // namespace

std::span<const RuleEntry> gradient_rules() {
  static const RuleEntry rules[] = {
      {{.op_type = "sgd"}, KernelRule<Sgd>::make},
      {{.op_type = "momentum", .hyper_parameters = Momentum<float>::kHyper, .states = Momentum<float>::kSlots},
       KernelRule<Momentum>::make},
      {{.op_type = kRunningMean, .hyper_parameters = RunningMean<float>::kHyper, .uses_learning_rate = false},
       KernelRule<RunningMean>::make},
  };
  return rules;
}

}  // namespace argosy::optim::internal
