#include "argosy/serve/predict/join_inputs.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace argosy::serve {
namespace {

bool alike(const Tensor& one, const Tensor& other) {
  return one.dtype == other.dtype && one.lod.size() == other.lod.size() && !one.shape.empty() &&
         one.shape.size() == other.shape.size() && std::equal(one.shape.begin() + 1, one.shape.end(), other.shape.begin() + 1);
}

// Appends the boundaries of a part, moved behind what is there.
void append_lod(std::vector<std::vector<int64_t>>& lod, const std::vector<std::vector<int64_t>>& part) {
  for (size_t level = 0; level < part.size(); ++level) {
    const int64_t start = lod[level].back();
    for (size_t i = 1; i < part[level].size(); ++i) lod[level].push_back(start + part[level][i]);
  }
}

Tensor join_tensors(const std::vector<const Tensor*>& parts) {
  std::vector<int64_t> shape = parts[0]->shape;
  shape[0] = 0;
  std::vector<std::vector<int64_t>> lod(parts[0]->lod.size(), {0});
  for (const Tensor* part : parts) {
    shape[0] += part->shape[0];
    append_lod(lod, part->lod);
  }
  Tensor joined = Tensor::uninitialised(parts[0]->dtype, std::move(shape), std::move(lod));
  auto* at = static_cast<char*>(joined.mutable_data());
  for (const Tensor* part : parts) {
    if (part->bytes() > 0) std::memcpy(at, part->data.get(), part->bytes());
    at += part->bytes();
  }
  return joined;
}

// Samples [begin, end) of a tensor, over the same memory.
Tensor samples_of(const Tensor& tensor, int64_t begin, int64_t end) {
  Tensor part{.dtype = tensor.dtype, .shape = tensor.shape, .lod = {}, .data = nullptr};
  for (const auto& level : tensor.lod) {
    part.lod.emplace_back();
    for (int64_t i = begin; i <= end; ++i)
      part.lod.back().push_back(level[static_cast<size_t>(i)] - level[static_cast<size_t>(begin)]);
    std::tie(begin, end) = std::pair(level[static_cast<size_t>(begin)], level[static_cast<size_t>(end)]);
  }
  const size_t row = tensor.shape[0] == 0 ? 0 : tensor.bytes() / static_cast<size_t>(tensor.shape[0]);
  part.shape[0] = end - begin;
  part.data =
      std::shared_ptr<const void>(tensor.data, static_cast<const char*>(tensor.data.get()) + static_cast<size_t>(begin) * row);
  return part;
}

int64_t samples_in(const Tensor& tensor) {
  if (!tensor.lod.empty()) return static_cast<int64_t>(tensor.lod[0].size()) - 1;
  return tensor.shape.empty() ? -1 : tensor.shape[0];
}

}  // namespace

bool can_join(const Inputs& one, const Inputs& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const auto& a, const auto& b) { return a.first == b.first && alike(a.second, b.second); });
}

Inputs join(std::span<const Inputs* const> parts) {
  if (parts.size() == 1) return *parts[0];
  Inputs joined;
  for (const auto& [name, first] : *parts[0]) {
    std::vector<const Tensor*> tensors;
    for (const Inputs* part : parts) tensors.push_back(&part->at(name));
    joined.emplace(name, join_tensors(tensors));
  }
  return joined;
}

Result<std::vector<std::vector<Tensor>>> split(const std::vector<TensorInfo>& infos, const std::vector<Tensor>& outputs,
                                               std::span<const int64_t> samples) {
  const int64_t all = std::accumulate(samples.begin(), samples.end(), int64_t{0});
  std::vector<std::vector<Tensor>> parts(samples.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (samples_in(outputs[i]) != all)
      return Status::failed_precondition("output '{}' is {} for {} samples: it has no value for each of them", infos[i].name,
                                         describe(outputs[i]), all);
    int64_t at = 0;
    for (size_t part = 0; part < samples.size(); ++part) {
      parts[part].push_back(samples_of(outputs[i], at, at + samples[part]));
      at += samples[part];
    }
  }
  return parts;
}

}  // namespace argosy::serve
