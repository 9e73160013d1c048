#include "argosy/engine/ops/image_window.h"

#include <ATen/ATen.h>

namespace argosy::engine {
namespace {

Result<std::array<int64_t, 2>> pair_of(const std::vector<int32_t>& values, const char* what) {
  if (values.size() == 1) return std::array<int64_t, 2>{values[0], values[0]};
  if (values.size() == 2) return std::array<int64_t, 2>{values[0], values[1]};
  return Status::invalid_argument("{} has {} values, expected 2", what, values.size());
}

Result<Edges> edges_of(const std::vector<int32_t>& paddings) {
  if (paddings.size() == 4) return Edges{paddings[0], paddings[1], paddings[2], paddings[3]};
  ASSIGN_OR_RETURN(const auto both, pair_of(paddings, "paddings"));
  return Edges{both[0], both[0], both[1], both[1]};
}

void make_same(ImageWindow& window, const std::array<int64_t, 2>& image) {
  for (size_t i : {0, 1}) {
    window.dilation[i] = 1;
    const int64_t positions = (image[i] + window.stride[i] - 1) / window.stride[i];
    const int64_t missing = std::max<int64_t>((positions - 1) * window.stride[i] + window.size[i] - image[i], 0);
    window.edges[2 * i] = missing / 2;
    window.edges[2 * i + 1] = missing - missing / 2;
  }
}

}  // namespace

Result<ImageWindow> make_window(const WindowRule& rule, int64_t height, int64_t width) {
  ImageWindow window{.size = rule.size};
  ASSIGN_OR_RETURN(window.stride, pair_of(rule.strides, "strides"));
  ASSIGN_OR_RETURN(window.dilation, pair_of(rule.dilations, "dilations"));
  ASSIGN_OR_RETURN(window.edges, edges_of(rule.paddings));
  for (size_t i : {0, 1}) {
    if (window.stride[i] < 1 || window.dilation[i] < 1) {
      return Status::invalid_argument("stride {} and dilation {} must be at least 1", window.stride[i], window.dilation[i]);
    }
  }
  if (rule.padding_algorithm == "SAME")
    make_same(window, {height, width});
  else if (rule.padding_algorithm == "VALID")
    window.edges = {0, 0, 0, 0};
  else if (rule.padding_algorithm != "EXPLICIT") {
    return Status::invalid_argument("padding '{}' is not known; expected numbers, SAME or VALID", rule.padding_algorithm);
  }
  return window;
}

int64_t window_positions(const ImageWindow& window, int64_t image, size_t dimension) {
  const int64_t covered = window.dilation[dimension] * (window.size[dimension] - 1) + 1;
  return (image + window.edges[2 * dimension] + window.edges[2 * dimension + 1] - covered) / window.stride[dimension] + 1;
}

bool is_channels_last(std::string_view data_format) { return data_format == "NHWC"; }
at::Tensor channels_first(const at::Tensor& x, bool last) { return last ? x.movedim(-1, 1) : x; }
at::Tensor channels_as_before(const at::Tensor& x, bool last) { return last ? x.movedim(1, -1) : x; }

Result<std::array<int64_t, 4>> image_shape(const graph::VarDesc& variable, bool last) {
  const auto& shape = variable.shape;
  if (shape.size() != 4) {
    return Status::invalid_argument("'{}' has shape {}, expected an image batch of 4 dimensions", variable.name,
                                    graph::shape_to_string(shape));
  }
  return last ? std::array<int64_t, 4>{shape[0], shape[3], shape[1], shape[2]}
              : std::array<int64_t, 4>{shape[0], shape[1], shape[2], shape[3]};
}

std::vector<int64_t> image_shape_in_layout(const std::array<int64_t, 4>& shape, bool last) {
  if (last) return {shape[0], shape[2], shape[3], shape[1]};
  return {shape.begin(), shape.end()};
}

}  // namespace argosy::engine
