// The gradient of a whole program in one operator: libtorch's autograd from the targets to the inputs.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/program/row_tables.h"

namespace argosy::engine {
namespace {

bool is_last_backward(const OpContext& op) {
  const auto& instructions = op.frame().program().instructions();
  for (auto at = instructions.rbegin(); at != instructions.rend(); ++at) {
    if (at->desc.type == op.desc().type) return &*at == &op.instruction();
  }
  return true;
}

struct Wanted {
  std::vector<at::Tensor> tensors;     // what autograd differentiates to
  std::vector<int64_t> output;         // for each: the output that it fills, or -1 for a row leaf
  std::vector<size_t> row_leaf;        // for each: the index of the row leaf where output is -1
};

bool is_sparse_output(const OpContext& op, size_t i) {
  const int32_t value = op.instruction().find_output("InputGradients")->values[i];
  const graph::VarDesc* desc = op.frame().program().values()[static_cast<size_t>(value)].desc;
  return desc != nullptr && desc->kind == graph::VarKind::selected_rows;
}

bool is_row_output(const OpContext& op, size_t i) {
  return is_sparse_output(op, i) ||
         is_summed_by_rows(op.frame(), op.instruction().find_input("Inputs")->values[i], op.tensor("Inputs", i));
}

Wanted collect(const OpContext& op) {
  Wanted wanted;
  for (size_t i = 0; i < op.input_count("Inputs"); ++i) {
    if (is_row_output(op, i)) continue;
    const at::Tensor& tensor = op.tensor("Inputs", i);
    if (!tensor.requires_grad())
      op.fail("variable '{}' takes no gradient: nothing leads from it to the loss", op.input_name("Inputs", i));
    wanted.tensors.push_back(tensor);
    wanted.output.push_back(static_cast<int64_t>(i));
    wanted.row_leaf.push_back(0);
  }
  const auto& leaves = op.frame().pending_lookups();
  for (size_t i = 0; i < leaves.size(); ++i) {
    wanted.tensors.push_back(leaves[i].leaf);
    wanted.output.push_back(-1);
    wanted.row_leaf.push_back(i);
  }
  return wanted;
}

at::Tensor times_loss(const at::Tensor& rows, const at::Tensor& loss_gradient) {
  const float factor = loss_gradient.item<float>();
  return factor == 1.0f ? rows : rows * factor;
}

void set_row_gradients(const OpContext& op, const std::vector<at::Tensor>& leaf_gradients) {
  const auto& leaves = op.frame().pending_lookups();
  const auto& tables = op.instruction().find_input("Inputs")->values;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (!is_row_output(op, i)) continue;
    auto rows = std::make_shared<LookupGradient>();
    const at::Tensor& table = op.tensor("Inputs", i);
    rows->height = table.size(0);
    rows->width = table.size(1);
    rows->dense = !is_sparse_output(op, i);
    for (size_t k = 0; k < leaves.size(); ++k) {
      if (leaves[k].table != tables[i] || !leaf_gradients[k].defined()) continue;
      for (LookupGradient::Piece piece : leaves[k].pieces) {
        piece.gradient = piece.gradient.defined() ? times_loss(piece.gradient, leaf_gradients[k]) : leaf_gradients[k];
        rows->pieces.push_back(std::move(piece));
      }
    }
    op.set_value("InputGradients", Value{.rows = std::move(rows)}, i);
  }
}

ARGOSY_OP("backward",
          [](const OpContext& op) {
            const Wanted wanted = collect(op);
            const std::vector<at::Tensor> targets = op.tensors("Targets");
            std::vector<at::Tensor> seeds = op.tensors("TargetGradients");
            for (size_t i = seeds.size(); i < targets.size(); ++i) seeds.push_back(at::ones_like(targets[i]));
            for (size_t i = 0; i < targets.size(); ++i) {
              if (!targets[i].requires_grad()) op.fail("'{}' depends on no trainable variable", op.input_name("Targets", i));
            }
            std::vector<at::Tensor> leaf_gradients(op.frame().pending_lookups().size());
            const auto grads = torch::autograd::grad(targets, wanted.tensors, seeds, !is_last_backward(op), false, true);
            for (size_t i = 0; i < grads.size(); ++i) {
              if (wanted.output[i] < 0) {
                if (grads[i].defined()) leaf_gradients[wanted.row_leaf[i]] = grads[i].contiguous();
                continue;
              }
              at::Tensor grad = grads[i].defined() ? grads[i].contiguous() : at::zeros_like(wanted.tensors[i]);
              op.set_output("InputGradients", std::move(grad), nullptr, static_cast<size_t>(wanted.output[i]));
            }
            set_row_gradients(op, leaf_gradients);
          })
    .doc("The gradients of the targets with respect to the inputs, by autograd over everything that ran before.")
    .input_list("Targets", "what is differentiated")
    .optional_input_list("TargetGradients", "weights of the targets; ones without them")
    .input_list("Inputs", "parameters and other variables")
    .output_list("InputGradients", "a gradient for each input; rows only for a table that was looked up sparsely")
    .attr("checkpoints", std::vector<std::string>{}, "variables between which the forward is computed again; recompute.h")
    .attr("no_grad_set", std::vector<std::string>{}, "variables that let no gradient through")
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
