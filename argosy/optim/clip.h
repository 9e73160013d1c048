#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "argosy/base/status.h"

// Limits on the size of gradients.
namespace argosy::optim {

// Says of a parameter, by name, whether something is done to it.
using ParameterFilter = std::function<bool(std::string_view parameter)>;

struct GradientClip {
  enum Kind { by_value, by_norm, by_global_norm };

  Kind kind = by_value;
  float min = 0, max = 0;     // by_value
  float clip_norm = 0;        // by_norm, by_global_norm
  std::string group_name;     // by_global_norm: the parameters whose gradients share one norm
  ParameterFilter need_clip;  // empty: all parameters

  Status check() const;
  bool applies_to(std::string_view parameter) const { return !need_clip || need_clip(parameter); }
};

// fluid.clip's names.
struct GradientClipByValue {
  double max = 0;
  std::optional<double> min;  // left out: -max
  ParameterFilter need_clip;
  operator GradientClip() const;
};

struct GradientClipByNorm {
  double clip_norm = 0;
  ParameterFilter need_clip;
  operator GradientClip() const;
};

struct GradientClipByGlobalNorm {
  double clip_norm = 0;
  std::string group_name = "default_group";
  ParameterFilter need_clip;
  operator GradientClip() const;
};

void clip_by_value(std::span<float> grad, float min, float max);

// In float64, with the same bits on every machine. The squared global norm is the sum over the gradients of a group.
double sum_of_squares(std::span<const float> grad);

// What to multiply a gradient with so that its norm, or its group's, is at most clip_norm: clip_norm / max(clip_norm, norm).
float clip_factor(double sum_of_squares, float clip_norm);

void scale(std::span<float> grad, float factor);

}  // namespace argosy::optim
