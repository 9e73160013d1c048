#include "argosy/graph/backward.h"

#include <fmt/format.h>

#include <algorithm>

#include "argosy/base/error.h"
#include "argosy/base/text.h"
#include "argosy/graph/build.h"

namespace argosy::graph {
namespace {

using Names = std::set<std::string>;

bool any_of(const std::vector<std::string>& names, const Names& set) {
  return std::any_of(names.begin(), names.end(), [&](const auto& name) { return set.contains(name); });
}

// The variables from which a gradient path leads to `targets`: backwards over the forward operators, stopping at variables
// that let no gradient through.
Names ancestors_of(const Block& block, const Names& targets, const Names& no_grad) {
  Names reached = targets;
  for (auto op = block.ops().rbegin(); op != block.ops().rend(); ++op) {
    if (((*op)->role() & (kRoleBackward | kRoleOptimize)) != 0 || !any_of((*op)->output_names(), reached)) continue;
    for (const std::string& name : (*op)->input_names()) {
      const VarDesc* variable = block.find_var_recursive(name);
      if (variable == nullptr || no_grad.contains(name) || !is_floating(variable->dtype)) continue;
      if (!variable->stop_gradient) reached.insert(name);
    }
  }
  return reached;
}

// True where `op` reads some rows of `parameter` only.
bool is_row_input(const OpDesc& op, const std::string& parameter) {
  const auto reads = [&](std::string_view slot) {
    const auto* names = op.inputs.find(slot);
    return names != nullptr && std::find(names->begin(), names->end(), parameter) != names->end();
  };
  if (op.type.starts_with("lookup_table")) return reads("W");
  return op.type == "nce" && (reads("Weight") || reads("Bias")) && !reads("Input");
}

// A table that is only ever looked up row by row has a gradient of rows.
bool has_row_gradient(const Block& block, const std::string& parameter) {
  bool looked_up = false;
  for (const auto& op : block.ops()) {
    if (((*op).role() & (kRoleBackward | kRoleOptimize)) != 0) continue;
    const auto inputs = op->input_names();
    if (std::find(inputs.begin(), inputs.end(), parameter) == inputs.end()) continue;
    if (!is_row_input(*op, parameter) || !op->attribute_or<bool>("is_sparse", false)) return false;
    looked_up = true;
  }
  return looked_up;
}

// A second differentiation of the same variable must not write over the first one's result: it gets a name of its own.
Variable make_gradient(const Variable& of) {
  VarDesc desc;
  desc.name = gradient_name(of.name());
  while (of.program()->global_block().find_var(desc.name) != nullptr) desc.name = unique_name(gradient_name(of.name()));
  desc.dtype = of.dtype();
  desc.shape = of.shape();
  desc.lod_level = of.lod_level();
  desc.kind = has_row_gradient(of.program()->global_block(), of.name()) ? VarKind::selected_rows : VarKind::lod_tensor;
  Block& block = of.program()->global_block();
  return Variable(of.program(), block, block.put_var(std::move(desc)));
}

std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name());
  return names;
}

void append_backward_op(const std::vector<Variable>& targets, const std::vector<Variable>& target_gradients,
                        const std::vector<Variable>& inputs, const std::vector<Variable>& grads, const Names& no_grad,
                        const std::vector<std::string>& checkpoints = {}) {
  const RoleGuard role(kRoleBackward);
  OpDesc op;
  op.type = kBackwardOp;
  op.inputs["Targets"] = names_of(targets);
  if (!target_gradients.empty()) op.inputs["TargetGradients"] = names_of(target_gradients);
  op.inputs["Inputs"] = names_of(inputs);
  op.outputs["InputGradients"] = names_of(grads);
  op.attributes["no_grad_set"] = std::vector<std::string>(no_grad.begin(), no_grad.end());
  if (!checkpoints.empty()) op.attributes["checkpoints"] = checkpoints;
  value_or_throw(targets[0].program()->global_block().append_op(std::move(op)));
}

void check_parameter_list(const Block& block, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const VarDesc* variable = block.find_var(name);
    if (variable == nullptr) throw Error(Status::not_found("parameter_list names '{}', which the program does not have", name));
    if (!variable->is_parameter())
      throw Error(Status::invalid_argument("parameter_list names '{}', which is not a parameter", name));
  }
}

void check_checkpoints(const Block& block, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool made = std::any_of(block.ops().begin(), block.ops().end(), [&](const auto& op) {
      const auto outputs = op->output_names();
      return std::find(outputs.begin(), outputs.end(), name) != outputs.end();
    });
    if (!made)
      throw Error(Status::invalid_argument(
          "checkpoints name '{}', which no operator of the program makes; give variables that layers return", name));
  }
}

void mark_as_loss(Block& block, const std::string& loss) {
  for (const auto& op : block.ops()) {
    const auto outputs = op->output_names();
    if (std::find(outputs.begin(), outputs.end(), loss) != outputs.end()) {
      op->attributes[std::string(kRoleAttribute)] = op->role() | kRoleLoss;
    }
  }
}

}  // namespace

std::string gradient_name(std::string_view variable) { return fmt::format("{}@GRAD", variable); }

std::vector<ParamGrad> append_backward(const Variable& loss, const std::vector<std::string>& parameter_list,
                                       const Names& no_grad_set, const std::vector<std::string>& checkpoints) {
  if (std::any_of(loss.shape().begin(), loss.shape().end(), [](int64_t size) { return size != 1; })) {
    throw Error(Status::invalid_argument("loss '{}' has shape {}; minimize needs one number: take its mean or sum first",
                                         loss.name(), shape_to_string(loss.shape())));
  }
  Block& block = loss.program()->global_block();
  check_parameter_list(block, parameter_list);
  check_checkpoints(block, checkpoints);
  mark_as_loss(block, loss.name());
  const Names reached = ancestors_of(block, {loss.name()}, no_grad_set);
  std::vector<Variable> params, grads;
  for (VarDesc* desc : block.vars()) {
    const bool listed =
        parameter_list.empty() || std::find(parameter_list.begin(), parameter_list.end(), desc->name) != parameter_list.end();
    if (!desc->is_parameter() || !desc->parameter->trainable || !listed || !reached.contains(desc->name)) continue;
    params.emplace_back(loss.program(), block, *desc);
  }
  if (params.empty()) {
    throw Error(Status::invalid_argument("no trainable parameter reaches loss '{}'{}", loss.name(),
                                         parameter_list.empty() ? "" : fmt::format(" among {}", join(parameter_list, ", "))));
  }
  std::vector<ParamGrad> pairs;
  for (const Variable& param : params) {
    grads.push_back(make_gradient(param));
    pairs.push_back({param, grads.back()});
  }
  append_backward_op({loss}, {}, params, grads, no_grad_set, checkpoints);
  return pairs;
}

std::vector<Variable> gradients(const std::vector<Variable>& targets, const std::vector<Variable>& inputs,
                                const std::vector<Variable>& target_gradients, const Names& no_grad_set) {
  if (targets.empty()) throw Error(Status::invalid_argument("gradients() needs at least one target"));
  if (!target_gradients.empty() && target_gradients.size() != targets.size()) {
    throw Error(
        Status::invalid_argument("gradients(): {} targets but {} target gradients", targets.size(), target_gradients.size()));
  }
  Names target_names;
  for (const Variable& target : targets) target_names.insert(target.name());
  const Names reached = ancestors_of(targets[0].program()->global_block(), target_names, no_grad_set);
  std::vector<Variable> results(inputs.size()), wanted, grads;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!reached.contains(inputs[i].name())) continue;
    results[i] = make_gradient(inputs[i]);
    wanted.push_back(inputs[i]);
    grads.push_back(results[i]);
  }
  if (!wanted.empty()) append_backward_op(targets, target_gradients, wanted, grads, no_grad_set);
  return results;
}

}  // namespace argosy::graph
