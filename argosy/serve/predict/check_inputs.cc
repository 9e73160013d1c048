#include <algorithm>

#include "argosy/base/text.h"
#include "argosy/graph/var_desc.h"
#include "argosy/serve/predict/predictor.h"

namespace argosy::serve {
namespace {

std::vector<std::string> names_of(const std::vector<TensorInfo>& infos) {
  std::vector<std::string> names;
  for (const TensorInfo& info : infos) names.push_back(info.name);
  return names;
}

Status check_names(const std::vector<TensorInfo>& expected, const Inputs& inputs) {
  const std::vector<std::string> known = names_of(expected);
  for (const auto& [name, tensor] : inputs) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = nearest_name(name, known);
    return Status::invalid_argument("the model has no input '{}'{}; its inputs are {}", name,
                                    near ? fmt::format(" (did you mean '{}'?)", *near) : "", join(known, ", "));
  }
  std::vector<std::string> missing;
  for (const std::string& name : known)
    if (!inputs.contains(name)) missing.push_back(name);
  if (missing.empty()) return {};
  return Status::invalid_argument("{} of the model's {} inputs {} not given: {}", missing.size(), known.size(),
                                  missing.size() == 1 ? "is" : "are", join(missing, ", "));
}

// Each level begins at 0, does not fall, and ends at the number of parts of the level below it.
Status check_lod(const Tensor& tensor) {
  for (size_t level = 0; level < tensor.lod.size(); ++level) {
    const auto& offsets = tensor.lod[level];
    const int64_t parts = level + 1 < tensor.lod.size() ? static_cast<int64_t>(tensor.lod[level + 1].size()) - 1
                          : tensor.shape.empty()        ? 0
                                                        : tensor.shape[0];
    if (offsets.empty() || offsets.front() != 0 || !std::is_sorted(offsets.begin(), offsets.end()))
      return Status::invalid_argument("level {} of its sequence boundaries must begin at 0 and not fall", level);
    if (offsets.back() != parts)
      return Status::invalid_argument("level {} of its sequence boundaries ends at {}, but there are {} parts below it", level,
                                      offsets.back(), parts);
  }
  return {};
}

Status check_one(const TensorInfo& info, const Tensor& tensor) {
  if (std::any_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t size) { return size < 0; }) ||
      (tensor.data == nullptr && tensor.size() > 0))
    return Status::invalid_argument("its value is empty: shape {} without data", graph::shape_to_string(tensor.shape));
  if (tensor.dtype != info.dtype)
    return Status::invalid_argument("got {}, expected {}", graph::dtype_name(tensor.dtype), graph::dtype_name(info.dtype));
  if (!graph::shape_fits(info.shape, tensor.shape))
    return Status::invalid_argument("got shape {}, expected {} (-1 is any size)", graph::shape_to_string(tensor.shape),
                                    graph::shape_to_string(info.shape));
  if (info.lod_level > 0 && static_cast<int>(tensor.lod.size()) != info.lod_level)
    return Status::invalid_argument(
        "it holds sequences of {} level{}, but boundaries of {} came with it; give the offsets, as lod", info.lod_level,
        info.lod_level == 1 ? "" : "s", tensor.lod.size());
  return check_lod(tensor);
}

int64_t samples_of(const Tensor& tensor) {
  if (!tensor.lod.empty()) return static_cast<int64_t>(tensor.lod[0].size()) - 1;
  return tensor.shape.empty() ? 1 : tensor.shape[0];
}

}  // namespace

Status check_inputs(const std::vector<TensorInfo>& expected, const Inputs& inputs) {
  RETURN_IF_ERROR(check_names(expected, inputs));
  for (const TensorInfo& info : expected)
    RETURN_IF_ERROR(check_one(info, inputs.at(info.name)).with_context("input '{}'", info.name));
  return {};
}

Result<int64_t> count_samples(const std::vector<TensorInfo>& expected, const Inputs& inputs) {
  const TensorInfo* first = nullptr;
  int64_t samples = 1;
  for (const TensorInfo& info : expected) {
    const Tensor& tensor = inputs.at(info.name);
    const bool batched = !tensor.lod.empty() || (!info.shape.empty() && info.shape[0] < 0);
    if (!batched) continue;
    if (first == nullptr) {
      first = &info;
      samples = samples_of(tensor);
    } else if (samples_of(tensor) != samples) {
      return Status::invalid_argument("input '{}' has {} samples and input '{}' has {}", first->name, samples, info.name,
                                      samples_of(tensor));
    }
  }
  return samples;
}

}  // namespace argosy::serve
