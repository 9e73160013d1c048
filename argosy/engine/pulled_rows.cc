#include "argosy/engine/pulled_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "argosy/engine/prepared.h"
#include "argosy/engine/remote_rows.h"
#include "argosy/engine/tensor_pool.h"
#include "argosy/engine/trainer.h"

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
                                 const at::Tensor& before, bool create) {
  const int64_t width = table.shape.back();
  const auto keys = index.keys();
  at::Tensor rows = pooled_tensor({static_cast<int64_t>(keys.size()) + 1, width}, at::kFloat);
  float* data = rows.mutable_data_ptr<float>();
  const size_t kept = (known + 1) * static_cast<size_t>(width);
  if (known > 0)
    std::memcpy(data, before.const_data_ptr<float>(), kept * sizeof(float));
  else
    std::memset(data, 0, kept * sizeof(float));
  const RowPull pull{.table = table.table, .keys = keys.subspan(known), .rows = data + kept, .create = create};
  RETURN_IF_ERROR(remote.pull({&pull, 1}));
  return rows;
}

RowsAhead::RowsAhead(const PreparedProgram& program, const std::vector<data::SlotSpec>& slots, RemoteParameters& remote)
    : program_(program), remote_(remote) {
  std::set<int32_t> seen;
  for (const Instruction& instruction : program.instructions()) {
    if (instruction.desc.type != kPullRowsOp) continue;
    const int32_t table = instruction.find_output("W")->values[0];
    if (!seen.insert(table).second) continue;
    Pull pull{.instruction = &instruction,
              .table = remote.find(program.values()[static_cast<size_t>(table)].name),
              .paddings = instruction.desc.attribute_or<std::vector<int64_t>>("padding_ids", {})};
    for (const int32_t value : instruction.find_input("Ids")->values) {
      const auto slot = std::ranges::find(slots, program.values()[static_cast<size_t>(value)].name, &data::SlotSpec::name);
      if (slot == slots.end() || slot->type != data::SlotType::int64) break;
      pull.columns.push_back(static_cast<size_t>(slot - slots.begin()));
      pull.values.push_back(value);
    }
    const bool all = pull.values.size() == instruction.find_input("Ids")->values.size();
    if (all && pull.table != nullptr) pulls_.emplace(table, std::move(pull));
  }
}

Status RowsAhead::pull(const data::Batch& batch, Rows& rows) const {
  for (const auto& [table, pull] : pulls_) {
    PulledRows& pulled = rows[table];
    pulled.index.reset(0);
    pulled.numbers.clear();
    for (size_t i = 0; i < pull.columns.size(); ++i) {
      const graph::VarDesc& variable = *program_.values()[static_cast<size_t>(pull.values[i])].desc;
      const Value ids = column_value(batch.columns[pull.columns[i]], batch.size, variable);
      pulled.numbers.push_back(number_ids(ids.tensor, pull.paddings[i], pulled.index));
    }
    const bool create = pull.instruction->desc.attribute_or<bool>("create", true);
    ASSIGN_OR_RETURN(pulled.rows, pull_numbered(remote_, *pull.table, pulled.index, 0, at::Tensor(), create));
    pulled.ahead = true;
  }
  return {};
}

}  // namespace argosy::engine
