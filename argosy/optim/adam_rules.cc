#include "argosy/optim/kernel_rule.h"

// The rules that keep a mean of the gradients beside a measure of their size.
namespace argosy::optim::internal {
namespace {

struct Adam {
  static constexpr size_t kStates = 2;
  static constexpr HyperParameter kHyper[] = {{"beta1", 0.9f}, {"beta2", 0.999f}, {"epsilon", 1e-8f}};
  static constexpr StateSlot kSlots[] = {{"Moment1", "Moment1Out", "moment1"},
                                         {"Moment2", "Moment2Out", "moment2"},
                                         {"Beta1Pow", "Beta1PowOut", "beta1_pow_acc", StateSlot::scalar, 0, "beta1"},
                                         {"Beta2Pow", "Beta2PowOut", "beta2_pow_acc", StateSlot::scalar, 0, "beta2"}};
  float rate, beta1, beta2, epsilon;  // rate: with both bias corrections

  static Adam begin(std::span<const float> hyper, float rate, std::span<float> powers) {
    const float corrected = rate * root(1 - powers[1]) / (1 - powers[0]);
    powers[0] *= hyper[0];
    powers[1] *= hyper[1];
    return {corrected, hyper[0], hyper[1], hyper[2]};
  }

  template <typename T>
  void operator()(T& p, const T& g, T& m, T& v) const {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    p -= rate * (m / (root(v) + epsilon));
  }
};

// Adam with weight decay apart from the gradient. Unlike "adam", which is as in Paddle 1.8, epsilon is added to the corrected
// root, as in Paddle 2 and torch.
struct AdamW {
  static constexpr size_t kStates = 2;
  static constexpr HyperParameter kHyper[] = {{"beta1", 0.9f},  {"beta2", 0.999f}, {"epsilon", 1e-8f},
                                              {"coeff", 0.01f}, {"lr_ratio", 1},   {"with_decay", 1, HyperParameter::boolean}};
  float rate, beta1, beta2, epsilon, keep;  // keep: what the decay leaves of a parameter

  static AdamW begin(std::span<const float> hyper, float rate, std::span<float> powers) {
    rate *= hyper[4];
    const float unbiased = root(1 - powers[1]);
    const float corrected = rate * unbiased / (1 - powers[0]);
    powers[0] *= hyper[0];
    powers[1] *= hyper[1];
    return {corrected, hyper[0], hyper[1], hyper[2] * unbiased, hyper[5] != 0 ? 1 - rate * hyper[3] : 1};
  }

  template <typename T>
  void operator()(T& p, const T& g, T& m, T& v) const {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    p = keep * p - rate * (m / (root(v) + epsilon));
  }
};

struct Adamax {
  static constexpr size_t kStates = 2;
  static constexpr HyperParameter kHyper[] = {{"beta1", 0.9f}, {"beta2", 0.999f}, {"epsilon", 1e-8f}};
  static constexpr StateSlot kSlots[] = {{"Moment", "MomentOut", "moment"},
                                         {"InfNorm", "InfNormOut", "inf_norm"},
                                         {"Beta1Pow", "Beta1PowOut", "beta1_pow_acc", StateSlot::scalar, 0, "beta1"}};
  float rate, beta1, beta2, epsilon;

  static Adamax begin(std::span<const float> hyper, float rate, std::span<float> powers) {
    const float corrected = rate / (1 - powers[0]);
    powers[0] *= hyper[0];
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
      {{.op_type = "adam", .hyper_parameters = Adam::kHyper, .states = Adam::kSlots}, KernelRule<Adam>::make},
      {{.op_type = "adamw", .hyper_parameters = AdamW::kHyper, .states = Adam::kSlots}, KernelRule<AdamW>::make},
      {{.op_type = "adamax", .hyper_parameters = Adamax::kHyper, .states = Adamax::kSlots}, KernelRule<Adamax>::make},
  };
  return rules;
}

}  // namespace argosy::optim::internal
