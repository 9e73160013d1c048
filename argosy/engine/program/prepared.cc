#include "argosy/engine/program/prepared.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "argosy/base/text.h"
#include "argosy/engine/program/passes.h"
#include "argosy/engine/program/recompute.h"
#include "argosy/engine/remote/peers.h"
#include "argosy/engine/remote/remote_rows.h"
#include "argosy/graph/backward.h"
#include "argosy/graph/op_schema.h"

namespace argosy::engine {
namespace {

bool is_feed_or_fetch(const graph::OpDesc& op) { return op.type == "feed" || op.type == "fetch"; }

// Of all backward operators.
std::vector<std::string> checkpoints_of(const std::vector<graph::OpDesc>& ops) {
  std::vector<std::string> all;
  for (const graph::OpDesc& op : ops) {
    const auto names = op.attribute_or<std::vector<std::string>>("checkpoints", {});
    if (op.type == graph::kBackwardOp) all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

// All operators, also those that lead to nothing that is fetched or kept. Feeding and fetching is done by its caller.
std::vector<graph::OpDesc> operators_to_run(const graph::Block& block) {
  std::vector<graph::OpDesc> ops;
  for (const auto& op : block.ops()) {
    if (!is_feed_or_fetch(*op)) ops.push_back(*op);
  }
  return ops;
}

bool any_value(const std::vector<SlotBinding>& bindings, const std::vector<bool>& set) {
  bool found = false;
  for_each_value(bindings, [&](int32_t value) { found = found || set[static_cast<size_t>(value)]; });
  return found;
}

// An instruction and those of its body, and of theirs.
template <typename AnyInstruction, typename Visit>
void for_each_inside(AnyInstruction& instruction, const Visit& visit) {
  visit(instruction);
  for (auto& inner : instruction.body) for_each_inside(inner, visit);
}

// Rows of tables on servers are pulled before the run, by the lookups of the global block.
Status check_no_remote_rows(const std::vector<Instruction>& body, const std::vector<ValueInfo>& values,
                            const RemoteParameters& remote) {
  for (const Instruction& instruction : body) {
    Status status;
    for_each_value(instruction.inputs, [&](int32_t value) {
      const std::string& name = values[static_cast<size_t>(value)].name;
      const RemoteVariable* variable = remote.find(name);
      if (variable == nullptr || variable->kind != RemoteVariable::rows) return;
      status = Status::unimplemented(
          "operator '{}' looks up table '{}', which is on parameter servers, inside the block of a condition or a loop; look the "
          "rows up before it",
          instruction.desc.type, name);
    });
    RETURN_IF_ERROR(status);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const PreparedProgram>> PreparedProgram::create(const graph::Program& program,
                                                                       const PrepareOptions& options) {
  std::shared_ptr<PreparedProgram> prepared(new PreparedProgram);
  prepared->program_ = program.clone(false);
  const graph::Block& block = prepared->program_->global_block();
  std::vector<graph::OpDesc> ops = operators_to_run(block);
  if (options.remote != nullptr) RETURN_IF_ERROR(pull_remote_rows(ops, *prepared->program_, *options.remote));
  const std::vector<std::string> checkpoints = checkpoints_of(ops);
  if (options.fuse) {
    std::vector<std::string> kept = options.fetches;
    kept.insert(kept.end(), checkpoints.begin(), checkpoints.end());
    run_passes(ops, *prepared->program_, kept);
  }
  ASSIGN_OR_RETURN(prepared->instructions_, prepared->bind(ops, block));
  if (options.remote != nullptr) RETURN_IF_ERROR(prepared->unbind_remote_rows(*options.remote));
  for (const std::string& name : options.fetches) {
    if (block.find_var(name) == nullptr) {
      return Status::not_found("fetch_list: the program has no variable '{}'", name);
    }
    prepared->values_[static_cast<size_t>(prepared->value_index(name, block))].fetched = true;
  }
  for (const std::string& name : options.feeds) prepared->value_index(name, block);
  prepared->mark_gradients();
  if (checkpoints.empty()) prepared->mark_looked_up();
  prepared->state_count_ += make_segments(prepared->instructions_, prepared->values_, checkpoints, prepared->state_count_);
  prepared->mark_last_uses();
  return std::shared_ptr<const PreparedProgram>(prepared);
}

// A remote table's value is the rows of a batch, made and dropped by every run; a dense parameter is the servers'.
Status PreparedProgram::unbind_remote_rows(const RemoteParameters& remote) {
  for (const Instruction& instruction : instructions_) RETURN_IF_ERROR(check_no_remote_rows(instruction.body, values_, remote));
  for (ValueInfo& value : values_) {
    const RemoteVariable* variable = remote.find(value.name);
    if (variable == nullptr) continue;
    if (variable->kind == RemoteVariable::rows) value.persistable = false;
    value.remote = variable->kind == RemoteVariable::dense;
  }
  return {};
}

Status PreparedProgram::check_kernels(const c10::Device& device) const {
  if (device.is_cpu()) return {};
  std::set<std::string> without;
  for (const Instruction& instruction : instructions_) {
    for_each_inside(instruction, [&](const Instruction& inner) {
      if (inner.cpu_only) without.insert(fmt::format("'{}'", inner.desc.type));
    });
  }
  if (without.empty()) return {};
  return Status::unimplemented("operator {} has no kernel on {}; run this program on the CPU (CPUPlace)",
                               fmt::join(without, ", "), device.is_cuda() ? "GPU" : device.str());
}

int32_t PreparedProgram::find_value(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? -1 : found->second;
}

// Names are unique in a program, so that one index does for all of its blocks.
int32_t PreparedProgram::value_index(const std::string& name, const graph::Block& block) {
  const auto [at, added] = index_.emplace(name, static_cast<int32_t>(values_.size()));
  if (added) {
    const graph::VarDesc* desc = block.find_var_recursive(name);
    values_.push_back({.name = name, .desc = desc, .persistable = desc != nullptr && desc->persistable});
  }
  return at->second;
}

std::vector<int32_t> PreparedProgram::bind_names(const std::vector<std::string>& names, const graph::Block& block) {
  std::vector<int32_t> indices;
  for (const std::string& name : names) indices.push_back(value_index(name, block));
  return indices;
}

Result<std::vector<Instruction>> PreparedProgram::bind(const std::vector<graph::OpDesc>& ops, const graph::Block& block) {
  std::vector<Instruction> instructions;
  for (const graph::OpDesc& op : ops) {
    const KernelInfo* kernel = find_kernel(op.type);
    if (kernel == nullptr) {
      const auto near = nearest_name(op.type, graph::OpSchemas::instance().types());
      return Status::unimplemented("the program uses operator '{}', which this version cannot run{}", op.type,
                                   near ? fmt::format(" (the nearest is '{}')", *near) : "");
    }
    Instruction instruction{.desc = op,
                            .kernel = kernel->kernel,
                            .differentiable = kernel->differentiable,
                            .cpu_only = kernel->cpu_only,
                            .state = state_count_++};
    graph::complete(instruction.desc, *graph::OpSchemas::instance().find(op.type));
    for (const auto& [slot, names] : op.inputs) instruction.inputs.push_back({slot, bind_names(names, block)});
    for (const auto& [slot, names] : op.outputs) instruction.outputs.push_back({slot, bind_names(names, block)});
    RETURN_IF_ERROR(bind_body(instruction));
    sends_ = sends_ || op.type == kSendOp;
    averages_ = averages_ || op.type == kAverageOp;
    instructions.push_back(std::move(instruction));
  }
  return instructions;
}

Status PreparedProgram::bind_body(Instruction& instruction) {
  const auto* ref = instruction.desc.attribute<graph::BlockRef>("sub_block");
  if (ref == nullptr) return {};
  const graph::Block& block = program_->block(static_cast<size_t>(ref->index));
  ASSIGN_OR_RETURN(instruction.body, bind(operators_to_run(block), block));
  std::set<int32_t> reads, writes;
  for (const Instruction& inner : instruction.body) {
    for_each_value(inner.inputs, [&](int32_t value) { reads.insert(value); });
    for_each_value(inner.outputs, [&](int32_t value) { writes.insert(value); });
  }
  instruction.inputs.push_back({"", {reads.begin(), reads.end()}});
  instruction.outputs.push_back({"", {writes.begin(), writes.end()}});
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
    // All of a body records: what one round of a loop computes may reach the loss through the next.
    for_each_inside(instruction, [&](Instruction& inner) {
      inner.records_gradient = inner.differentiable;
      for_each_value(inner.inputs, [&](int32_t value) {
        inner.uses_rows |= row_tables.contains(value);
        if (!cut[static_cast<size_t>(value)]) reached[static_cast<size_t>(value)] = true;
      });
    });
  }
  for (Instruction& instruction : instructions_) {
    for_each_inside(instruction, [&](Instruction& inner) {
      for_each_value(inner.outputs, [&](int32_t value) {
        produced[static_cast<size_t>(value)] = true;
        if (cut[static_cast<size_t>(value)] && inner.records_gradient) inner.detached.push_back(value);
      });
    });
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    if (produced[i] && !values_[i].persistable) values_[i].wants_gradient = false;  // not a leaf: autograd reaches it by itself
  }
}

// Whether lookups are all that reads the table before its update, that one alone writes it, and is all that reads the gradient.
// So nobody sees in what form the gradient is.
bool PreparedProgram::is_only_looked_up(int32_t table, int32_t gradient) const {
  const ValueInfo& parameter = values_[static_cast<size_t>(table)];
  const ValueInfo& made = values_[static_cast<size_t>(gradient)];
  if (!parameter.persistable || parameter.remote || made.fetched || made.persistable) return false;
  int updates = 0;
  for (const Instruction& instruction : instructions_) {
    const auto uses = [](const std::vector<SlotBinding>& bindings, int32_t wanted) {
      int count = 0;
      for_each_value(bindings, [&](int32_t value) { count += value == wanted; });
      return count;
    };
    const std::string& type = instruction.desc.type;
    const int reads = uses(instruction.inputs, table), writes = uses(instruction.outputs, table);
    const int takes = uses(instruction.inputs, gradient), makes = uses(instruction.outputs, gradient);
    if (reads + writes + takes + makes == 0) continue;
    if (type == graph::kBackwardOp) {
      if (reads != 1 || makes != 1 || writes + takes != 0) return false;
    } else if (type == "lookup_table" || type == "lookup_table_v2") {
      if (writes + takes + makes != 0 || updates > 0) return false;
    } else {
      const SlotBinding *param = instruction.find_input("Param"), *grad = instruction.find_input("Grad");
      const bool updates_it = param != nullptr && grad != nullptr && param->values[0] == table && grad->values[0] == gradient;
      if (!updates_it || reads != 1 || writes != 1 || takes != 1 || makes != 0) return false;
      ++updates;
    }
  }
  return updates == 1;
}

void PreparedProgram::mark_looked_up() {
  const Instruction* backward = nullptr;
  for (const Instruction& instruction : instructions_) {
    if (instruction.desc.type != graph::kBackwardOp) continue;
    if (backward != nullptr) return;
    backward = &instruction;
  }
  if (backward == nullptr) return;
  const auto& inputs = backward->find_input("Inputs")->values;
  const auto& grads = backward->find_output("InputGradients")->values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::VarDesc* grad = values_[static_cast<size_t>(grads[i])].desc;
    if (grad == nullptr || grad->kind != graph::VarKind::lod_tensor) continue;
    values_[static_cast<size_t>(inputs[i])].only_looked_up = is_only_looked_up(inputs[i], grads[i]);
  }
}

void PreparedProgram::mark_last_uses() {
  std::vector<int32_t> last(values_.size(), -1);
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const auto note = [&](int32_t value) { last[static_cast<size_t>(value)] = static_cast<int32_t>(i); };
    for_each_value(instructions_[i].inputs, note);
    for_each_value(instructions_[i].outputs, note);
  }
  for (Instruction& instruction : instructions_) {
    for_each_value(instruction.outputs, [&](int32_t value) {
      const ValueInfo& info = values_[static_cast<size_t>(value)];
      if (info.fetched && !info.persistable) instruction.fetched.push_back(value);
    });
  }
  for (size_t value = 0; value < values_.size(); ++value) {
    if (last[value] < 0 || values_[value].persistable || values_[value].fetched) continue;
    instructions_[static_cast<size_t>(last[value])].last_uses.push_back(static_cast<int32_t>(value));
  }
}

}  // namespace argosy::engine
