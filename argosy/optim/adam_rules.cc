#include <concepts>

#include "argosy/optim/kernel_rule.h"

// The rules that keep a mean of the gradients beside a measure of their size.
namespace argosy::optim::internal {
namespace {

// As in Paddle 1.8, where epsilon is added to the root as it is; with corrected_epsilon to the corrected root, as in Paddle 2 and
// torch.
template <typename C>
struct Adam {
  static constexpr size_t kStates = 2;
  static constexpr HyperParameter kHyper[] = {
      {"beta1", 0.9f}, {"beta2", 0.999f}, {"epsilon", 1e-8f}, {"corrected_epsilon", 0, HyperParameter::boolean}};
  static constexpr StateSlot kSlots[] = {{"Moment1", "Moment1Out", "moment1"},
                                         {"Moment2", "Moment2Out", "moment2"},
                                         {"Beta1Pow", "Beta1PowOut", "beta1_pow_acc", StateSlot::scalar, 0, "beta1"},
                                         {"Beta2Pow", "Beta2PowOut", "beta2_pow_acc", StateSlot::scalar, 0, "beta2"}};
  C rate;  // with both bias corrections
  float beta1, beta2;
  C epsilon;

  static Adam begin(std::span<const float> hyper, const C& rate, std::span<C> powers) {
    const C unbiased = root(1.0f - powers[1]);
    const C corrected = rate * unbiased / (1.0f - powers[0]);
    powers[0] = powers[0] * hyper[0];
    powers[1] = powers[1] * hyper[1];
    return {corrected, hyper[0], hyper[1], hyper[2] * (hyper[3] != 0 ? unbiased : one_like(rate))};
  }

  template <typename T>
  void operator()(T& p, const T& g, T& m, T& v) const {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    p -= rate * (m / (root(v) + epsilon));
  }

  AdamStep as_adam() const
    requires std::same_as<C, float>
  {
    return {rate, beta1, beta2, epsilon, 1};
  }
};

// Adam with weight decay apart from the gradient; epsilon is added to the corrected root.
template <typename C>
struct AdamW {
  static constexpr size_t kStates = 2;
  static constexpr HyperParameter kHyper[] = {{"beta1", 0.9f},  {"beta2", 0.999f}, {"epsilon", 1e-8f},
                                              {"coeff", 0.01f}, {"lr_ratio", 1},   {"with_decay", 1, HyperParameter::boolean}};
  C rate;
  float beta1, beta2;
  C epsilon, keep;  // keep: what the decay leaves of a parameter

  static AdamW begin(std::span<const float> hyper, const C& given, std::span<C> powers) {
    const C rate = given * hyper[4], unbiased = root(1.0f - powers[1]);
    const C corrected = rate * unbiased / (1.0f - powers[0]);
    powers[0] = powers[0] * hyper[0];
    powers[1] = powers[1] * hyper[1];
    return {corrected, hyper[0], hyper[1], hyper[2] * unbiased, hyper[5] != 0 ? 1.0f - rate * hyper[3] : one_like(rate)};
  }

  template <typename T>
  void operator()(T& p, const T& g, T& m, T& v) const {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    p = keep * p - rate * (m / (root(v) + epsilon));
  }

  AdamStep as_adam() const
    requires std::same_as<C, float>
  {
    return {rate, beta1, beta2, epsilon, keep};
  }
};

template <typename C>
struct Adamax {
  static constexpr size_t kStates = 2;
  static constexpr HyperParameter kHyper[] = {{"beta1", 0.9f}, {"beta2", 0.999f}, {"epsilon", 1e-8f}};
  static constexpr StateSlot kSlots[] = {{"Moment", "MomentOut", "moment"},
                                         {"InfNorm", "InfNormOut", "inf_norm"},
                                         {"Beta1Pow", "Beta1PowOut", "beta1_pow_acc", StateSlot::scalar, 0, "beta1"}};
  C rate;
  float beta1, beta2, epsilon;

  static Adamax begin(std::span<const float> hyper, const C& rate, std::span<C> powers) {
    const C corrected = rate / (1.0f - powers[0]);
    powers[0] = powers[0] * hyper[0];
    return {corrected, hyper[0], hyper[1], hyper[2]};
  }

  template <typename T>
  void operator()(T& p, const T& g, T& m, T& norm) const {
    m = beta1 * m + (1 - beta1) * g;
    norm = larger(absolute(g), beta2 * norm + epsilon);
    p -= rate * (m / norm);
  }
};

}  // namespace

std::span<const RuleEntry> adam_rules() {
  static const RuleEntry rules[] = {
      {{.op_type = "adam", .hyper_parameters = Adam<float>::kHyper, .states = Adam<float>::kSlots}, KernelRule<Adam>::make},
      {{.op_type = "adamw", .hyper_parameters = AdamW<float>::kHyper, .states = Adam<float>::kSlots}, KernelRule<AdamW>::make},
      {{.op_type = "adamax", .hyper_parameters = Adamax<float>::kHyper, .states = Adamax<float>::kSlots},
       KernelRule<Adamax>::make},
  };
  return rules;
}

}  // namespace argosy::optim::internal
