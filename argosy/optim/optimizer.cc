#include "argosy/optim/optimizer.h"

#include <initializer_list>
#include <utility>

namespace argosy::optim {
namespace {

HyperParameters hyper(std::initializer_list<std::pair<const char*, double>> values) {
  HyperParameters map;
  for (const auto& [name, value] : values) map.emplace(name, static_cast<float>(value));
  return map;
}

// The filter of those that have weight decay, where `excluded` says which have none.
ParameterFilter all_but(const ParameterFilter& excluded) {
  if (!excluded) return {};
  return [excluded](std::string_view name) { return !excluded(name); };
}

}  // namespace

Status Optimizer::check() const {
  RETURN_IF_ERROR(make_rule(rule, hyper_parameters).status());
  RETURN_IF_ERROR(learning_rate.to_schedule().check());
  if (regularization) RETURN_IF_ERROR(regularization->check());
  if (grad_clip) RETURN_IF_ERROR(grad_clip->check());
  return {};
}

HyperParameters Optimizer::hyper_parameters_of(std::string_view parameter) const {
  HyperParameters own = hyper_parameters;
  if (!has_weight_decay || has_weight_decay(parameter)) return own;
  for (const char* decay : {"coeff", "weight_decay", "lars_weight_decay"}) {
    if (const auto found = own.find(decay); found != own.end()) found->second = 0;
  }
  return own;
}

SGD::operator Optimizer() const { return {"sgd", {}, learning_rate, regularization, grad_clip}; }

Momentum::operator Optimizer() const {
  return {"momentum", hyper({{"mu", momentum}, {"use_nesterov", use_nesterov}}), learning_rate, regularization, grad_clip};
}

LarsMomentum::operator Optimizer() const {
  Optimizer optimizer{
      "lars_momentum",
      hyper({{"mu", momentum}, {"lars_coeff", lars_coeff}, {"lars_weight_decay", lars_weight_decay}, {"epsilon", epsilon}}),
      learning_rate, regularization, grad_clip};
  optimizer.has_weight_decay = all_but(exclude_from_weight_decay_fn);
  return optimizer;
}

Adagrad::operator Optimizer() const {
  return {"adagrad", hyper({{"epsilon", epsilon}, {"initial_accumulator_value", initial_accumulator_value}}), learning_rate,
          regularization, grad_clip};
}

DecayedAdagrad::operator Optimizer() const {
  return {"decayed_adagrad", hyper({{"decay", decay}, {"epsilon", epsilon}}), learning_rate, regularization, grad_clip};
}

Adadelta::operator Optimizer() const {
  return {"adadelta", hyper({{"epsilon", epsilon}, {"rho", rho}}), learning_rate, regularization, grad_clip};
}

Adam::operator Optimizer() const {
  return {
      "adam",        hyper({{"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}, {"corrected_epsilon", corrected_epsilon}}),
      learning_rate, regularization,
      grad_clip,     lazy_mode};
}

AdamW::operator Optimizer() const {
  return {.rule = "adamw",
          .hyper_parameters = hyper({{"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}, {"coeff", weight_decay}}),
          .learning_rate = learning_rate,
          .grad_clip = grad_clip,
          .lazy_mode = lazy_mode,
          .has_weight_decay = apply_decay_param_fun};
}

Adamax::operator Optimizer() const {
  return {"adamax", hyper({{"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}}), learning_rate, regularization, grad_clip};
}

RMSProp::operator Optimizer() const {
  return {"rmsprop", hyper({{"decay", rho}, {"epsilon", epsilon}, {"momentum", momentum}, {"centered", centered}}), learning_rate,
          regularization, grad_clip};
}

Ftrl::operator Optimizer() const {
  return {"ftrl", hyper({{"l1", l1}, {"l2", l2}, {"lr_power", lr_power}}), learning_rate, regularization, grad_clip};
}

Lamb::operator Optimizer() const {
  Optimizer optimizer{"lamb",
                      hyper({{"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}, {"weight_decay", lamb_weight_decay}}),
                      learning_rate, regularization, grad_clip};
  optimizer.has_weight_decay = all_but(exclude_from_weight_decay_fn);
  return optimizer;
}

}  // namespace argosy::optim
