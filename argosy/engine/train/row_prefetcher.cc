#include "argosy/engine/train/row_prefetcher.h"

#include <algorithm>
#include <set>

#include "argosy/engine/remote/remote_rows.h"
#include "argosy/engine/train/column_value.h"

namespace argosy::engine {

RowPrefetcher::RowPrefetcher(const PreparedProgram& program, const std::vector<data::SlotSpec>& slots, RemoteParameters& remote,
                             const c10::Device& device)
    : program_(program), remote_(remote), device_(device) {
  std::set<int32_t> seen;
  for (const Instruction& instruction : program.instructions()) {
    if (instruction.desc.type != kPullRowsOp) continue;
    const int32_t table = instruction.find_output("W")->values[0];
    if (!seen.insert(table).second) continue;
    Pull pull{.instruction = &instruction,
              .table = remote.find(program.values()[static_cast<size_t>(table)].name),
              .paddings = instruction.desc.attribute_or<std::vector<int64_t>>("padding_ids", {})};
    for (const int32_t value : instruction.find_input("Ids")->values) {
      const int32_t fed = before_reshapes(value);
      const auto slot = std::ranges::find(slots, program.values()[static_cast<size_t>(fed)].name, &data::SlotSpec::name);
      if (slot == slots.end() || slot->type != data::SlotType::int64) break;
      pull.columns.push_back(static_cast<size_t>(slot - slots.begin()));
      pull.values.push_back(fed);
    }
    const bool all = pull.values.size() == instruction.find_input("Ids")->values.size();
    if (all && pull.table != nullptr) pulls_.emplace(table, std::move(pull));
  }
}

// What a value was before operators that only reshape it.
int32_t RowPrefetcher::before_reshapes(int32_t value) const {
  for (bool found = true; found;) {
    found = false;
    for (const Instruction& instruction : program_.instructions()) {
      const SlotBinding *out = instruction.find_output("Out"), *x = instruction.find_input("X");
      if (!only_reshapes(instruction.desc) || out == nullptr || x == nullptr || out->values[0] != value) continue;
      value = x->values[0];
      found = true;
      break;
    }
  }
  return value;
}

Status RowPrefetcher::pull(const data::Batch& batch, PulledTables& rows) const {
  RETURN_IF_ERROR(remote_.before_prefetch());
  std::vector<PulledRows*> tables;
  std::vector<RowsToPull> pulls;
  for (const auto& [table, pull] : pulls_) {
    PulledRows& pulled = rows[table];
    pulled.index.reset(0);
    pulled.numbers.clear();
    for (size_t i = 0; i < pull.columns.size(); ++i) {
      const graph::VarDesc& variable = *program_.values()[static_cast<size_t>(pull.values[i])].desc;
      const Value ids = column_value(batch.columns[pull.columns[i]], batch.size, variable);
      Result<at::Tensor> numbers = number_ids(ids.tensor, pull.paddings[i], pulled.index);
      if (!numbers.ok())
        return numbers.status().with_context("variable '{}', table '{}'", variable.name,
                                             program_.values()[static_cast<size_t>(table)].name);
      pulled.numbers.push_back(*std::move(numbers));
    }
    const bool create = pull.instruction->desc.attribute_or<bool>("create", true);
    tables.push_back(&pulled);
    pulls.push_back(rows_to_pull(*pull.table, pulled.index, 0, at::Tensor(), create, device_));
  }
  if (pulls.empty()) return {};
  RETURN_IF_ERROR(pull_together(remote_, pulls));
  for (size_t i = 0; i < tables.size(); ++i) {
    tables[i]->rows = std::move(pulls[i].rows);
    tables[i]->prefetched = true;
  }
  return {};
}

}  // namespace argosy::engine
