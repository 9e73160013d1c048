#include "argosy/optim/clip.h"

#include <algorithm>
#include <cmath>

#include "argosy/optim/simd.h"

namespace argosy::optim {
namespace {

ARGOSY_SIMD_CLONES void clip_elements(float* g, float min, float max, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const float low = g[i] < min ? min : g[i];
    g[i] = low > max ? max : low;
  }
}

// Lane by lane, so that the order of additions does not depend on the width of the processor's vectors.
ARGOSY_SIMD_CLONES double sum_squares(const float* g, size_t n) {
  constexpr size_t kLanes = 16;
  double sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += static_cast<double>(g[i + lane]) * g[i + lane];
  }
  for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += static_cast<double>(g[i]) * g[i];
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

ARGOSY_SIMD_CLONES void scale_elements(float* g, float factor, size_t n) {
  for (size_t i = 0; i < n; ++i) g[i] *= factor;
}

}  // namespace

Status GradientClip::check() const {
  if (kind == by_value && !(min <= max)) {
    return Status::invalid_argument(
        "GradientClipByValue: min is {} and max {}; expected min <= max (min is -max where it is left out)", min, max);
  }
  if (kind != by_value && !(clip_norm > 0 && std::isfinite(clip_norm))) {
    return Status::invalid_argument("{}: clip_norm is {}; expected a finite number above 0",
                                    kind == by_norm ? "GradientClipByNorm" : "GradientClipByGlobalNorm", clip_norm);
  }
  return {};
}

GradientClipByValue::operator GradientClip() const {
  return {.kind = GradientClip::by_value,
          .min = static_cast<float>(min.value_or(-max)),
          .max = static_cast<float>(max),
          .need_clip = need_clip};
}

GradientClipByNorm::operator GradientClip() const {
  return {.kind = GradientClip::by_norm, .clip_norm = static_cast<float>(clip_norm), .need_clip = need_clip};
}

GradientClipByGlobalNorm::operator GradientClip() const {
  return {.kind = GradientClip::by_global_norm,
          .clip_norm = static_cast<float>(clip_norm),
          .group_name = group_name,
          .need_clip = need_clip};
}

void clip_by_value(std::span<float> grad, float min, float max) { clip_elements(grad.data(), min, max, grad.size()); }

double sum_of_squares(std::span<const float> grad) { return sum_squares(grad.data(), grad.size()); }

float clip_factor(double sum_of_squares, float clip_norm) {
  return clip_norm / std::max(clip_norm, static_cast<float>(std::sqrt(sum_of_squares)));
}

void scale(std::span<float> grad, float factor) { scale_elements(grad.data(), factor, grad.size()); }

}  // namespace argosy::optim
