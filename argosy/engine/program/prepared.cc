#include "argosy/engine/program/prepared.h"

#include <algorithm>
#include <set>

#include "argosy/base/text.h"
#include "argosy/engine/program/passes.h"
#include "argosy/engine/remote/peers.h"
#include "argosy/engine/remote/remote_rows.h"
#include "argosy/graph/backward.h"
#include "argosy/graph/op_schema.h"

namespace argosy::engine {
namespace {

const SlotBinding* find_slot(const std::vector<SlotBinding>& bindings, std::string_view slot) {
  for (const SlotBinding& binding : bindings) {
    if (binding.slot == slot) return &binding;
  }
  return nullptr;
}

bool is_feed_or_fetch(const graph::OpDesc& op) { return op.type == "feed" || op.type == "fetch"; }

// All operators, also those that lead to nothing that is fetched or kept. Feeding and fetching is done by its caller.
std::vector<graph::OpDesc> operators_to_run(const graph::Program& program) {
  std::vector<graph::OpDesc> ops;
  for (const auto& op : program.global_block().ops()) {
    if (!is_feed_or_fetch(*op)) ops.push_back(*op);
  }
  return ops;
}

template <typename Visit>
void for_each_value(const std::vector<SlotBinding>& bindings, Visit visit) {
  for (const SlotBinding& binding : bindings) {
    for (int32_t value : binding.values) visit(value);
  }
}

bool any_value(const std::vector<SlotBinding>& bindings, const std::vector<bool>& set) {
  bool found = false;
  for_each_value(bindings, [&](int32_t value) { found = found || set[static_cast<size_t>(value)]; });
  return found;
}

}  // namespace

const SlotBinding* Instruction::find_input(std::string_view slot) const { return find_slot(inputs, slot); }
const SlotBinding* Instruction::find_output(std::string_view slot) const { return find_slot(outputs, slot); }

Result<std::shared_ptr<const PreparedProgram>> PreparedProgram::create(const graph::Program& program,
                                                                       const PrepareOptions& options) {
  std::shared_ptr<PreparedProgram> prepared(new PreparedProgram);
  prepared->program_ = program.clone(false);
  std::vector<graph::OpDesc> ops = operators_to_run(*prepared->program_);
  if (options.remote != nullptr) pull_remote_rows(ops, *prepared->program_, *options.remote);
  if (options.fuse) run_passes(ops, *prepared->program_, options.fetches);
  RETURN_IF_ERROR(prepared->bind(ops));
  if (options.remote != nullptr) prepared->unbind_remote_rows(*options.remote);
  for (const std::string& name : options.fetches) {
    if (prepared->program_->global_block().find_var(name) == nullptr) {
      return Status::not_found("fetch_list: the program has no variable '{}'", name);
    }
    prepared->values_[static_cast<size_t>(prepared->value_index(name))].fetched = true;
  }
  for (const std::string& name : options.feeds) prepared->value_index(name);
  prepared->mark_gradients();
  prepared->mark_last_uses();
  return std::shared_ptr<const PreparedProgram>(prepared);
}

// A remote table's value is the rows of a batch, made and dropped by every run.
void PreparedProgram::unbind_remote_rows(const RemoteParameters& remote) {
  for (ValueInfo& value : values_) {
    const RemoteVariable* variable = remote.find(value.name);
    if (variable != nullptr && variable->kind == RemoteVariable::rows) value.persistable = false;
  }
}

int32_t PreparedProgram::find_value(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? -1 : found->second;
}

int32_t PreparedProgram::value_index(const std::string& name) {
  const auto [at, added] = index_.emplace(name, static_cast<int32_t>(values_.size()));
  if (added) {
    const graph::VarDesc* desc = program_->global_block().find_var(name);
    values_.push_back({.name = name, .desc = desc, .persistable = desc != nullptr && desc->persistable});
  }
  return at->second;
}

std::vector<int32_t> PreparedProgram::bind_names(const std::vector<std::string>& names) {
  std::vector<int32_t> indices;
  for (const std::string& name : names) indices.push_back(value_index(name));
  return indices;
}

Status PreparedProgram::bind(const std::vector<graph::OpDesc>& ops) {
  for (const graph::OpDesc& op : ops) {
    const KernelInfo* kernel = find_kernel(op.type);
    if (kernel == nullptr) {
      const auto near = nearest_name(op.type, graph::OpSchemas::instance().types());
      return Status::unimplemented("the program uses operator '{}', which this version cannot run{}", op.type,
                                   near ? fmt::format(" (the nearest is '{}')", *near) : "");
    }
    Instruction instruction{
        .desc = op, .kernel = kernel->kernel, .differentiable = kernel->differentiable, .state = state_count_++};
    graph::complete(instruction.desc, *graph::OpSchemas::instance().find(op.type));
    for (const auto& [slot, names] : op.inputs) instruction.inputs.push_back({slot, bind_names(names)});
    for (const auto& [slot, names] : op.outputs) instruction.outputs.push_back({slot, bind_names(names)});
    sends_ = sends_ || op.type == kSendOp;
    averages_ = averages_ || op.type == kAverageOp;
    instructions_.push_back(std::move(instruction));
  }
  return {};
}

// Finds which instructions must record for autograd, which values are leaves, and where a gradient path is cut.
void PreparedProgram::mark_gradients() {
  std::vector<bool> reached(values_.size(), false), produced(values_.size(), false), cut(values_.size(), false);
  for (size_t i = 0; i < values_.size(); ++i) {
    cut[i] = values_[i].desc != nullptr && values_[i].desc->stop_gradient;
  }
  std::set<int32_t> row_tables;
  for (const Instruction& instruction : instructions_) {
    if (instruction.desc.type != graph::kBackwardOp) continue;
    trains_ = true;
    for (const std::string& name : instruction.desc.attribute_or<std::vector<std::string>>("no_grad_set", {})) {
      if (const int32_t value = find_value(name); value >= 0) cut[static_cast<size_t>(value)] = true;
    }
    const auto& inputs = instruction.find_input("Inputs")->values;
    const auto& grads = instruction.find_output("InputGradients")->values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const graph::VarDesc* grad = values_[static_cast<size_t>(grads[i])].desc;
      if (grad != nullptr && grad->kind == graph::VarKind::selected_rows)
        row_tables.insert(inputs[i]);
      else
        values_[static_cast<size_t>(inputs[i])].wants_gradient = true;
    }
  }
  for (auto at = instructions_.rbegin(); at != instructions_.rend(); ++at) {
    Instruction& instruction = *at;
    if (instruction.desc.type == graph::kBackwardOp) {
      for (int32_t target : instruction.find_input("Targets")->values) reached[static_cast<size_t>(target)] = true;
      continue;
    }
    if (!instruction.differentiable || !any_value(instruction.outputs, reached)) continue;
    instruction.records_gradient = true;
    for_each_value(instruction.inputs, [&](int32_t value) {
      instruction.uses_rows |= row_tables.contains(value);
      if (!cut[static_cast<size_t>(value)]) reached[static_cast<size_t>(value)] = true;
    });
  }
  for (Instruction& instruction : instructions_) {
    for_each_value(instruction.outputs, [&](int32_t value) {
      produced[static_cast<size_t>(value)] = true;
      if (cut[static_cast<size_t>(value)] && instruction.records_gradient) instruction.detached.push_back(value);
    });
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    if (produced[i] && !values_[i].persistable) values_[i].wants_gradient = false;  // not a leaf: autograd reaches it by itself
  }
}

void PreparedProgram::mark_last_uses() {
  std::vector<int32_t> last(values_.size(), -1);
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const auto note = [&](int32_t value) { last[static_cast<size_t>(value)] = static_cast<int32_t>(i); };
    for_each_value(instructions_[i].inputs, note);
    for_each_value(instructions_[i].outputs, note);
  }
  for (size_t value = 0; value < values_.size(); ++value) {
    if (last[value] < 0 || values_[value].persistable || values_[value].fetched) continue;
    instructions_[static_cast<size_t>(last[value])].last_uses.push_back(static_cast<int32_t>(value));
  }
}

}  // namespace argosy::engine
