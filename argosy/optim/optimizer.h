#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "argosy/optim/clip.h"
#include "argosy/optim/regularize.h"
#include "argosy/optim/rule.h"
#include "argosy/optim/schedule.h"

// The optimizers as a user writes them: names, arguments and defaults of fluid.optimizer (AdamW: of paddle.optimizer).
//
//   optim::Adam{.learning_rate = 1e-4, .lazy_mode = true}
//   optim::SGD{.learning_rate = optim::exponential_decay(1.0, 100'000, 0.999, true), .regularization = optim::L2Decay{1e-4}}
//
// Each converts to the one value type `Optimizer`, which the rest of the project takes. A learning rate without a default
// cannot be left out.
namespace argosy::optim {

// Thread-compatible.
struct Optimizer {
  std::string rule;                  // of make_rule
  HyperParameters hyper_parameters;  // by attribute name
  LearningRate learning_rate;
  std::optional<Regularization> regularization = {};  // of the parameters that have none of their own
  std::optional<GradientClip> grad_clip = {};
  bool lazy_mode = false;
  ParameterFilter has_weight_decay = {};  // for adamw, lamb and lars_momentum; empty: all parameters

  // Whether the rule can be made and the rest is usable.
  Status check() const;

  // The hyper-parameters for one parameter: without weight decay where has_weight_decay says so.
  HyperParameters hyper_parameters_of(std::string_view parameter) const;
};

struct SGD {
  LearningRate learning_rate;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  operator Optimizer() const;
};

struct Momentum {
  LearningRate learning_rate;
  Required<double> momentum;
  bool use_nesterov = false;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  operator Optimizer() const;
};

// Momentum whose rate is scaled, for each parameter that has weight decay, to the norms of the parameter and its gradient.
struct LarsMomentum {
  LearningRate learning_rate;
  Required<double> momentum;
  double lars_coeff = 0.001;
  double lars_weight_decay = 0.0005;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  ParameterFilter exclude_from_weight_decay_fn;  // true: this parameter has no weight decay, and the rate as given
  double epsilon = 0;
  operator Optimizer() const;
};

struct Adagrad {
  LearningRate learning_rate;
  double epsilon = 1e-6;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  double initial_accumulator_value = 0;
  operator Optimizer() const;
};

struct DecayedAdagrad {
  LearningRate learning_rate;
  double decay = 0.95;
  double epsilon = 1e-6;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  operator Optimizer() const;
};

// The rule does not use the learning rate; as in fluid it is asked for all the same.
struct Adadelta {
  LearningRate learning_rate;
  double epsilon = 1e-6;
  double rho = 0.95;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  operator Optimizer() const;
};

struct Adam {
  LearningRate learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  bool lazy_mode = false;
  bool corrected_epsilon = false;  // epsilon is added to the corrected root, as in paddle.optimizer.Adam and torch
  operator Optimizer() const;
};

struct AdamW {
  LearningRate learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  ParameterFilter apply_decay_param_fun;  // true: this parameter has weight decay
  std::optional<GradientClip> grad_clip;
  bool lazy_mode = false;
  operator Optimizer() const;
};

struct Adamax {
  LearningRate learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  operator Optimizer() const;
};

struct RMSProp {
  LearningRate learning_rate;
  double rho = 0.95;
  double epsilon = 1e-6;
  double momentum = 0;
  bool centered = false;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  operator Optimizer() const;
};

struct Ftrl {
  LearningRate learning_rate;
  double l1 = 0;
  double l2 = 0;
  double lr_power = -0.5;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  operator Optimizer() const;
};

struct Lamb {
  LearningRate learning_rate = 0.001;
  double lamb_weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  std::optional<Regularization> regularization;
  std::optional<GradientClip> grad_clip;
  ParameterFilter exclude_from_weight_decay_fn;  // true: this parameter has no weight decay
  operator Optimizer() const;
};

}  // namespace argosy::optim
