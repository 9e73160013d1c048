#include "argosy/serve/predict/sample_inputs.h"

#include <algorithm>
#include <map>
#include <random>

#include "argosy/graph/program.h"

namespace argosy::serve {
namespace {

// The height of the table that each variable's values are looked up in.
std::map<std::string, int64_t> table_heights(const graph::Program& program) {
  std::map<std::string, int64_t> heights;
  const graph::Block& block = program.global_block();
  for (const auto& op : block.ops()) {
    const auto* ids = op->inputs.find("Ids");
    const auto* table = op->inputs.find("W");
    if (ids == nullptr || table == nullptr || table->empty()) continue;
    const graph::VarDesc* variable = block.find_var(table->front());
    if (variable == nullptr || variable->shape.empty()) continue;
    for (const std::string& name : *ids) {
      const auto [at, added] = heights.emplace(name, variable->shape[0]);
      if (!added) at->second = std::min(at->second, variable->shape[0]);
    }
  }
  return heights;
}

// Boundaries of `samples` samples with `levels` levels of sequences.
std::vector<std::vector<int64_t>> draw_lod(int64_t samples, int levels, std::mt19937_64& random) {
  std::vector<std::vector<int64_t>> lod;
  int64_t parts = samples;
  for (int level = 0; level < levels; ++level) {
    lod.push_back({0});
    for (int64_t i = 0; i < parts; ++i) lod.back().push_back(lod.back().back() + 1 + static_cast<int64_t>(random() % 4));
    parts = lod.back().back();
  }
  return lod;
}

template <typename T>
void fill(Tensor& tensor, int64_t height, std::mt19937_64& random) {
  auto* values = static_cast<T*>(tensor.mutable_data());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>)
      values[i] = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    else
      values[i] = height > 0 ? static_cast<T>(random() % static_cast<uint64_t>(height)) : T{0};
  }
}

Status draw(Tensor& tensor, int64_t height, std::mt19937_64& random) {
  switch (tensor.dtype) {
    case graph::DType::float32: fill<float>(tensor, height, random); return {};
    case graph::DType::float64: fill<double>(tensor, height, random); return {};
    case graph::DType::int64: fill<int64_t>(tensor, height, random); return {};
    case graph::DType::int32: fill<int32_t>(tensor, height, random); return {};
    case graph::DType::uint8: fill<uint8_t>(tensor, height, random); return {};
    case graph::DType::int8: fill<int8_t>(tensor, height, random); return {};
    case graph::DType::int16: fill<int16_t>(tensor, height, random); return {};
    case graph::DType::boolean: fill<bool>(tensor, height, random); return {};
    default: return Status::unimplemented("samples of {} cannot be drawn; give some", graph::dtype_name(tensor.dtype));
  }
}

}  // namespace

Result<Inputs> sample_inputs(const Predictor& predictor, int64_t samples, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto heights = table_heights(predictor.program());
  Inputs inputs;
  for (const TensorInfo& info : predictor.inputs()) {
    std::vector<int64_t> shape = info.shape;
    auto lod = draw_lod(samples, info.lod_level, random);
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] < 0) shape[i] = i > 0 ? 1 : lod.empty() ? samples : lod.back().back();
    Tensor tensor = Tensor::uninitialised(info.dtype, std::move(shape), std::move(lod));
    const auto height = heights.find(info.name);
    RETURN_IF_ERROR(draw(tensor, height == heights.end() ? 0 : height->second, random).with_context("input '{}'", info.name));
    inputs.emplace(info.name, std::move(tensor));
  }
  return inputs;
}

}  // namespace argosy::serve
