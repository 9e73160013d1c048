#include "argosy/serve/predict/predict_tensor.h"

#include <fmt/format.h>

#include <cstdlib>

#include "argosy/graph/var_desc.h"

namespace argosy::serve {

int64_t Tensor::size() const {
  int64_t count = 1;
  for (const int64_t length : shape) count *= length;
  return count;
}

Tensor Tensor::uninitialised(graph::DType dtype, std::vector<int64_t> shape, std::vector<std::vector<int64_t>> lod) {
  Tensor tensor{.dtype = dtype, .shape = std::move(shape), .lod = std::move(lod), .data = nullptr};
  constexpr size_t kAlignment = 64;
  const size_t rounded = (tensor.bytes() + kAlignment) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  tensor.data = std::shared_ptr<const void>(memory, [](void* kept) { std::free(kept); });
  return tensor;
}

void Tensor::check_type(graph::DType asked) const {
  if (asked == dtype) return;
  throw Error(Status::invalid_argument("a tensor of {} was read as {}", graph::dtype_name(dtype), graph::dtype_name(asked)));
}

std::string describe(const Tensor& tensor) {
  std::string text = fmt::format("{} {}", graph::dtype_name(tensor.dtype), graph::shape_to_string(tensor.shape));
  if (!tensor.lod.empty()) text += fmt::format(" in {} sequences", tensor.lod[0].empty() ? 0 : tensor.lod[0].size() - 1);
  return text;
}

}  // namespace argosy::serve
