#include "argosy/optim/kernel_rule.h"

// The rules that divide by a running sum or mean of squared gradients.
namespace argosy::optim::internal {
namespace {

template <typename C>
struct Adagrad {
  static constexpr size_t kStates = 1;
  static constexpr HyperParameter kHyper[] = {{"epsilon", 1e-6f},
                                              {"initial_accumulator_value", 0, HyperParameter::number, /*is_attribute=*/false}};
  static constexpr StateSlot kSlots[] = {
      {"Moment", "MomentOut", "moment", StateSlot::element, 0, /*initial_from=*/"initial_accumulator_value"}};
  C rate;
  float epsilon;

  static Adagrad begin(std::span<const float> hyper, const C& rate, std::span<C>) { return {rate, hyper[0]}; }

  template <typename T>
  void operator()(T& p, const T& g, T& moment) const {
    moment += g * g;
    p -= rate * g / (root(moment) + epsilon);
  }
};

template <typename C>
struct DecayedAdagrad {
  static constexpr size_t kStates = 1;
  static constexpr HyperParameter kHyper[] = {{"decay", 0.95f}, {"epsilon", 1e-6f}};
  static constexpr StateSlot kSlots[] = {{"Moment", "MomentOut", "moment"}};
  C rate;
  float decay, epsilon;

  static DecayedAdagrad begin(std::span<const float> hyper, const C& rate, std::span<C>) { return {rate, hyper[0], hyper[1]}; }

  template <typename T>
  void operator()(T& p, const T& g, T& moment) const {
    moment = decay * moment + (1 - decay) * g * g;
    p -= rate * g / (root(moment) + epsilon);
  }
};

// The size of a step comes from the sizes of the steps before; there is no learning rate but where use_learning_rate asks for it.
template <typename C>
struct Adadelta {
  static constexpr size_t kStates = 2;
  static constexpr HyperParameter kHyper[] = {
      {"rho", 0.95f}, {"epsilon", 1e-6f}, {"use_learning_rate", 0, HyperParameter::boolean}};
  static constexpr StateSlot kSlots[] = {{"AvgSquaredGrad", "AvgSquaredGradOut", "_avg_squared_grad"},
                                         {"AvgSquaredUpdate", "AvgSquaredUpdateOut", "_avg_squared_update"}};
  float rho, epsilon;
  C rate;

  static Adadelta begin(std::span<const float> hyper, const C& rate, std::span<C>) {
    return {hyper[0], hyper[1], hyper[2] != 0 ? rate : one_like(rate)};
  }

  template <typename T>
  void operator()(T& p, const T& g, T& squared_grad, T& squared_update) const {
    squared_grad = rho * squared_grad + (1 - rho) * g * g;
    const T update = root((squared_update + epsilon) / (squared_grad + epsilon)) * g;
    squared_update = rho * squared_update + (1 - rho) * update * update;
    p -= rate * update;
  }
};

template <typename C>
struct RmsProp {
  static constexpr size_t kStates = 3;
  static constexpr HyperParameter kHyper[] = {
      {"decay", 0.95f}, {"epsilon", 1e-6f}, {"momentum", 0}, {"centered", 0, HyperParameter::boolean}};
  static constexpr StateSlot kSlots[] = {{"MeanSquare", "MeanSquareOut", "mean_square"},
                                         {"MeanGrad", "MeanGradOut", "mean_grad"},  // moves only if centered
                                         {"Moment", "MomentOut", "momentum"}};
  C rate;
  float decay, epsilon, momentum;
  bool centered;

  static RmsProp begin(std::span<const float> hyper, const C& rate, std::span<C>) {
    return {rate, hyper[0], hyper[1], hyper[2], hyper[3] != 0};
  }

  template <typename T>
  void operator()(T& p, const T& g, T& mean_square, T& mean_grad, T& moment) const {
    mean_square = decay * mean_square + (1 - decay) * g * g;
    mean_grad = centered ? decay * mean_grad + (1 - decay) * g : mean_grad;
    const T variance = centered ? mean_square - mean_grad * mean_grad : mean_square;
    moment = momentum * moment + rate * g / root(variance + epsilon);
    p -= moment;
  }
};

}  // namespace

std::span<const RuleEntry> adagrad_rules() {
  static const RuleEntry rules[] = {
      {{.op_type = "adagrad", .hyper_parameters = Adagrad<float>::kHyper, .states = Adagrad<float>::kSlots},
       KernelRule<Adagrad>::make},
      {{.op_type = "decayed_adagrad", .hyper_parameters = DecayedAdagrad<float>::kHyper, .states = DecayedAdagrad<float>::kSlots},
       KernelRule<DecayedAdagrad>::make},
      {{.op_type = "adadelta",
        .hyper_parameters = Adadelta<float>::kHyper,
        .states = Adadelta<float>::kSlots,
        .uses_learning_rate = false,
        .rate_switch = "use_learning_rate"},
       KernelRule<Adadelta>::make},
      {{.op_type = "rmsprop", .hyper_parameters = RmsProp<float>::kHyper, .states = RmsProp<float>::kSlots},
       KernelRule<RmsProp>::make},
  };
  return rules;
}

}  // namespace argosy::optim::internal
