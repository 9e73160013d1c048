#include "argosy/engine/program/pulled_rows.h"

#include <ATen/ATen.h>

#include <cstring>

#include "argosy/engine/program/device.h"
#include "argosy/engine/program/tensor_pool.h"

namespace argosy::engine {
namespace {

// From so many on a message of its own costs nothing, and several tables' would be a very large answer.
constexpr size_t kFloatsTogether = 4 << 20;

}  // namespace

Result<at::Tensor> number_ids(const at::Tensor& ids, int64_t padding, KeyIndex& index) {
  at::Tensor numbers = at::empty(ids.sizes(), at::kLong);
  const int64_t* from = ids.const_data_ptr<int64_t>();
  auto* to = numbers.mutable_data_ptr<int64_t>();
  index.reserve_more(static_cast<size_t>(ids.numel()));
  for (int64_t i = 0; i < ids.numel(); ++i) {
    if (padding != -1 && from[i] == padding) {
      to[i] = 0;
    } else if (from[i] == -1) {
      return Status::invalid_argument(
          "id -1 at position {} is the key of no row; name the id that stands for none as padding_idx of the embedding, or leave "
          "it out "
          "of the data",
          i);
    } else {
      to[i] = int64_t{index.add(static_cast<uint64_t>(from[i]))} + 1;
    }
  }
  return numbers;
}

RowsToPull rows_to_pull(const RemoteVariable& table, const KeyIndex& index, size_t known, const at::Tensor& before, bool create,
                        const c10::Device& device) {
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
  return {.rows = rows, .request = {.table = table.table, .keys = keys.subspan(known), .rows = data + kept, .create = create}};
}

Status pull_together(RemoteParameters& remote, std::span<const RowsToPull> pulls) {
  std::vector<RowRequest> requests;
  size_t floats = 0;
  for (const RowsToPull& pull : pulls) {
    const auto more = static_cast<size_t>(pull.rows.numel());
    if (!requests.empty() && floats + more > kFloatsTogether) {
      RETURN_IF_ERROR(remote.pull(requests));
      requests.clear();
      floats = 0;
    }
    requests.push_back(pull.request);
    floats += more;
  }
  return remote.pull(requests);
}

}  // namespace argosy::engine
