#include "argosy/optim/regularize.h"

#include <cmath>

#include "argosy/optim/simd.h"

namespace argosy::optim {
namespace {

ARGOSY_SIMD_CLONES void add_sign(float coeff, const float* __restrict p, float* __restrict g, size_t n) {
  for (size_t i = 0; i < n; ++i) g[i] += p[i] > 0 ? coeff : p[i] < 0 ? -coeff : 0;
}

ARGOSY_SIMD_CLONES void add_scaled(float coeff, const float* __restrict p, float* __restrict g, size_t n) {
  for (size_t i = 0; i < n; ++i) g[i] += coeff * p[i];
}

}  // namespace

Status Regularization::check() const {
  if (std::isfinite(coeff)) return {};
  return Status::invalid_argument("{}: regularization_coeff is {}; expected a finite number", kind == l1 ? "L1Decay" : "L2Decay",
                                  coeff);
}

void regularize(const Regularization& regularization, std::span<const float> param, std::span<float> grad) {
  ARGOSY_CHECK(param.size() == grad.size());
  const auto add = regularization.kind == Regularization::l1 ? add_sign : add_scaled;
  add(regularization.coeff, param.data(), grad.data(), grad.size());
}

}  // namespace argosy::optim
