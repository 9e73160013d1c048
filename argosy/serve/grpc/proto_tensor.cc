#include "argosy/serve/grpc/proto_tensor.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "argosy/graph/var_desc.h"
#include "argosy/serve/grpc/predict.pb.h"

namespace argosy::serve {
namespace {

static_assert(std::endian::native == std::endian::little, "elements travel as they lie in memory");

// The bytes of a tensor of this shape, or nothing where the shape has a negative size or is larger than any message.
std::optional<size_t> bytes_of(const std::vector<int64_t>& shape, graph::DType dtype) {
  constexpr size_t kMost = size_t{1} << 40;
  size_t bytes = graph::dtype_size(dtype);
  for (const int64_t size : shape) {
    if (size < 0 || (size > 0 && bytes > kMost / static_cast<size_t>(size))) return std::nullopt;
    bytes *= static_cast<size_t>(size);
  }
  return bytes;
}

Result<Tensor> take_tensor(v1::Tensor& from) {
  const auto dtype = graph::parse_dtype(from.dtype());
  if (!dtype)
    return Status::invalid_argument("dtype '{}' is unknown; it is written as numpy does: float32, int64, …", from.dtype());
  Tensor tensor{.dtype = *dtype, .shape = {from.shape().begin(), from.shape().end()}, .lod = {}, .data = nullptr};
  const auto bytes = bytes_of(tensor.shape, *dtype);
  if (!bytes)
    return Status::invalid_argument("shape {} has a negative size, or is too large", graph::shape_to_string(tensor.shape));
  if (from.data().size() != *bytes)
    return Status::invalid_argument("its data has {} bytes, but {} of shape {} has {}", from.data().size(),
                                    graph::dtype_name(*dtype), graph::shape_to_string(tensor.shape), *bytes);
  for (const v1::Level& level : from.lod()) tensor.lod.emplace_back(level.offsets().begin(), level.offsets().end());
  const auto is_bool = [](char byte) { return byte == 0 || byte == 1; };
  if (*dtype == graph::DType::boolean && !std::all_of(from.data().begin(), from.data().end(), is_bool))
    return Status::invalid_argument("its data has bytes that are no bool, which is 0 or 1");
  const auto kept = std::make_shared<const std::string>(std::move(*from.mutable_data()));
  tensor.data = std::shared_ptr<const void>(kept, kept->data());
  return tensor;
}

}  // namespace

Result<Inputs> take_inputs(v1::PredictRequest& request) {
  Inputs inputs;
  for (v1::Tensor& given : *request.mutable_inputs()) {
    auto tensor = take_tensor(given);
    if (!tensor.ok()) return tensor.status().with_context("input '{}'", given.name());
    if (!inputs.emplace(given.name(), std::move(*tensor)).second)
      return Status::invalid_argument("input '{}' is given twice", given.name());
  }
  return inputs;
}

void write_tensor(const std::string& name, const Tensor& tensor, v1::Tensor& to) {
  to.set_name(name);
  to.set_dtype(std::string(graph::dtype_name(tensor.dtype)));
  to.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
  for (const auto& offsets : tensor.lod) to.add_lod()->mutable_offsets()->Add(offsets.begin(), offsets.end());
  to.set_data(tensor.data.get(), tensor.bytes());
}

void write_info(const TensorInfo& info, v1::TensorInfo& to) {
  to.set_name(info.name);
  to.set_dtype(std::string(graph::dtype_name(info.dtype)));
  to.mutable_shape()->Add(info.shape.begin(), info.shape.end());
  to.set_lod_level(info.lod_level);
}

}  // namespace argosy::serve
