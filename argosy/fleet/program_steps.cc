#include "argosy/fleet/program_steps.h"

#include "argosy/graph/build.h"
#include "argosy/graph/layer_helper.h"
#include "argosy/graph/layers/control_flow.h"

namespace argosy::fleet {
namespace {

using graph::DType;
using graph::OpDesc;
using graph::Variable;

constexpr int32_t kUses = graph::kRoleBackward | graph::kRoleOptimize;

Variable zeros(const std::string& name, std::vector<int64_t> shape, DType dtype) {
  graph::LayerHelper helper("step_state", name);
  return helper.create_state(name, std::move(shape), dtype, graph::constant_initializer(0));
}

OpDesc with_role(OpDesc op, int32_t role) {
  op.attributes[std::string(graph::kRoleAttribute)] = role;
  return op;
}

// The operator that adds up, with one sum for each gradient, and the variable that says when an update is due.
std::pair<OpDesc, Variable> merge_op(graph::Program& main, const std::vector<std::string>& gradients,
                                     const MergeOptions& options) {
  graph::Block& block = main.global_block();
  OpDesc op{.type = std::string(engine::kMergeOp)};
  op.attributes = {{"k_steps", options.steps}, {"avg", options.average}};
  op.inputs["X"] = op.outputs["Out"] = gradients;
  for (const std::string& name : gradients) {
    graph::VarDesc& gradient = *block.find_var(name);
    const Variable sum = zeros(name + "@GradientMerge", gradient.shape, gradient.dtype);
    gradient.kind = graph::VarKind::lod_tensor;
    op.inputs["Sums"].push_back(sum.name());
    op.outputs["SumsOut"].push_back(sum.name());
  }
  const Variable step = zeros(graph::unique_name("gradient_merge_step"), {1}, DType::int64);
  op.inputs["Step"] = op.outputs["StepOut"] = {step.name()};
  graph::VarDesc due;
  due.name = graph::unique_name("gradient_merge_due");
  due.dtype = DType::boolean;
  due.shape = {1};
  due.stop_gradient = true;
  op.outputs["Due"] = {due.name};
  return {with_role(std::move(op), graph::kRoleBackward),
          Variable(main.shared_from_this(), block, block.put_var(std::move(due)))};
}

}  // namespace

void merge_steps(graph::Program& main, graph::Program& startup, size_t backward, const std::vector<std::string>& gradients,
                 const MergeOptions& options, OpDesc first) {
  const graph::ProgramGuard programs(main.shared_from_this(), startup.shared_from_this());
  graph::Block& block = main.global_block();
  auto [merge, due] = merge_op(main, gradients, options);
  graph::Block& body = main.create_block(block.index());
  body.append_op_unchecked(std::move(first));
  for (size_t i = backward + 1; i < block.ops().size();) {
    if ((block.ops()[i]->role() & kUses) == 0) {
      ++i;
      continue;
    }
    body.append_op_unchecked(*block.ops()[i]);
    block.remove_op(i);
  }
  main.rollback();
  block.insert_op_unchecked(backward + 1, std::move(merge));
  const graph::RoleGuard role(graph::kRoleOptimize);
  layers::run_if(due, body);
}

void average_copies(graph::Program& main, graph::Program& startup, const CopyOptions& options,
                    const engine::AverageOptions& average) {
  const graph::ProgramGuard programs(main.shared_from_this(), startup.shared_from_this());
  OpDesc op{.type = std::string(engine::kAverageParametersOp)};
  for (const graph::VarDesc* parameter : main.parameters()) {
    if (parameter->parameter->trainable) op.inputs["X"].push_back(parameter->name);
  }
  op.outputs["Out"] = *op.inputs.find("X");
  const Variable step = zeros(graph::unique_name("local_sgd_step"), {2}, DType::int64);
  op.inputs["Step"] = op.outputs["StepOut"] = {step.name()};
  op.attributes = {
      {"k_steps", options.steps}, {"begin_step", options.begin}, {"fuse_grad_size_in_MB", static_cast<float>(average.piece_mb)}};
  main.global_block().append_op_unchecked(with_role(std::move(op), graph::kRoleOptimize));
}

}  // namespace argosy::fleet
