#include "argosy/engine/program/pulled_rows.h"

#include <ATen/ATen.h>

#include <cstring>

#include "argosy/engine/program/device.h"
#include "argosy/engine/program/tensor_pool.h"

namespace argosy::engine {

at::Tensor number_ids(const at::Tensor& ids, int64_t padding, KeyIndex& index) {
  at::Tensor numbers = at::empty(ids.sizes(), at::kLong);
  const int64_t* from = ids.const_data_ptr<int64_t>();
  auto* to = numbers.mutable_data_ptr<int64_t>();
  index.reserve_more(static_cast<size_t>(ids.numel()));
  for (int64_t i = 0; i < ids.numel(); ++i)
    to[i] = padding != -1 && from[i] == padding ? 0 : int64_t{index.add(static_cast<uint64_t>(from[i]))} + 1;
  return numbers;
}

Result<at::Tensor> pull_numbered(RemoteParameters& remote, const RemoteVariable& table, const KeyIndex& index, size_t known,
                                 const at::Tensor& before, bool create, const c10::Device& device) {
  const int64_t width = table.shape.back();
  const auto keys = index.keys();
  const std::vector<int64_t> shape = {static_cast<int64_t>(keys.size()) + 1, width};
  at::Tensor rows = device.is_cpu() ? pooled_tensor(shape, at::kFloat) : staging_tensor(shape, at::kFloat, device);
  float* data = rows.mutable_data_ptr<float>();
  const size_t kept = (known + 1) * static_cast<size_t>(width);
  if (known > 0)
    std::memcpy(data, before.const_data_ptr<float>(), kept * sizeof(float));
  else
    std::memset(data, 0, kept * sizeof(float));
  const RowRequest request{.table = table.table, .keys = keys.subspan(known), .rows = data + kept, .create = create};
  RETURN_IF_ERROR(remote.pull({&request, 1}));
  return rows;
}

}  // namespace argosy::engine
