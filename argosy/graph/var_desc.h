#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "argosy/graph/dtype.h"
#include "argosy/optim/clip.h"
#include "argosy/optim/regularize.h"

namespace argosy::graph {

// What a variable holds, with the numbers of Paddle's wire format.
enum class VarKind : int {
  lod_tensor = 7,
  selected_rows = 8,
  feed_minibatch = 9,
  fetch_list = 10,
  step_scopes = 11,
  lod_rank_table = 12,
  lod_tensor_array = 13,
  place_list = 14,
  reader = 15,
  raw = 17,
};

// What makes a variable a parameter.
struct ParameterInfo {
  float learning_rate = 1.0f;  // a factor on the optimizer's rate
  bool trainable = true;
  std::optional<optim::Regularization> regularizer;
  std::optional<optim::GradientClip> gradient_clip;
  bool need_clip = true;
};

// A variable of a block. A plain value; -1 in the shape is a size that only a run knows.
struct VarDesc {
  std::string name;
  VarKind kind = VarKind::lod_tensor;
  DType dtype = DType::float32;
  std::vector<int64_t> shape;
  int32_t lod_level = 0;
  bool persistable = false;
  bool stop_gradient = false;
  bool is_data = false;  // fed, or bound to a slot of a dataset
  std::optional<ParameterInfo> parameter;

  bool is_parameter() const { return parameter.has_value(); }
};

std::string shape_to_string(const std::vector<int64_t>& shape);  // "[-1, 32]"
// Whether a value of shape `found` can be that of a variable declared with `declared`: -1 is any size.
bool shape_fits(std::span<const int64_t> declared, std::span<const int64_t> found);

}  // namespace argosy::graph
