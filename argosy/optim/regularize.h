#pragma once

#include <span>

#include "argosy/base/status.h"

// Penalties on the size of parameters, added to their gradients.
namespace argosy::optim {

struct Regularization {
  enum Kind { l1, l2 };

  Kind kind = l2;
  float coeff = 0;

  Status check() const;

  friend bool operator==(const Regularization&, const Regularization&) = default;
};

// fluid.regularizer's names.
struct L1Decay {
  double regularization_coeff = 0;
  operator Regularization() const { return {Regularization::l1, static_cast<float>(regularization_coeff)}; }
};

struct L2Decay {
  double regularization_coeff = 0;
  operator Regularization() const { return {Regularization::l2, static_cast<float>(regularization_coeff)}; }
};

// grad += coeff * sign(param) for l1, where sign(0) is 0; grad += coeff * param for l2. REQUIRES: equal sizes, no overlap.
void regularize(const Regularization& regularization, std::span<const float> param, std::span<float> grad);

}  // namespace argosy::optim
