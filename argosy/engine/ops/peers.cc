// Gradients that become their mean over the processes of a collective job, and parameters that begin equal.
#include "argosy/engine/remote/peers.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstring>

#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/program/row_merge.h"

namespace argosy::engine {
namespace {

template <typename T>
T value_or_fail(Result<T> result) {
  if (!result.ok()) throw KernelError(result.status());
  return std::move(result).value();
}

void fail_if_error(const Status& status) {
  if (!status.ok()) throw KernelError(status);
}

// Merged rows on their way: how many, their numbers, their gradients one after another.
std::string packed(const RowMerger& merger, int64_t width) {
  const auto index = merger.index();
  const size_t ids = index.size_bytes(), values = index.size() * static_cast<size_t>(width) * sizeof(float);
  std::string bytes(ids + values, '\0');
  if (ids > 0) std::memcpy(bytes.data(), index.data(), ids);
  if (values > 0) std::memcpy(bytes.data() + ids, merger.gradients(), values);
  return bytes;
}

LookupGradient::Piece unpacked(const OpContext& op, const std::string& bytes, int64_t width) {
  const size_t row = sizeof(int64_t) + static_cast<size_t>(width) * sizeof(float);
  if (bytes.size() % row != 0) op.fail("another process sent {} bytes of rows of {} values", bytes.size(), width);
  const auto count = static_cast<int64_t>(bytes.size() / row);
  LookupGradient::Piece piece{.ids = at::empty({count}, at::kLong), .gradient = at::empty({count, width}, at::kFloat)};
  const size_t ids = static_cast<size_t>(count) * sizeof(int64_t);
  if (count > 0) {
    std::memcpy(piece.ids.mutable_data_ptr(), bytes.data(), ids);
    std::memcpy(piece.gradient.mutable_data_ptr(), bytes.data() + ids, bytes.size() - ids);
  }
  return piece;
}

// The rows of all processes; the updates add up equal ones.
std::shared_ptr<LookupGradient> average_rows(const OpContext& op, Peers& peers, const LookupGradient& own, RowMerger& merger) {
  merger.merge(own.on_cpu());
  const auto all = value_or_fail(peers.gather(packed(merger, own.width)));
  auto rows = std::make_shared<LookupGradient>();
  rows->height = own.height;
  rows->width = own.width;
  rows->scale = 1.0f / static_cast<float>(all.size());
  for (const std::string& bytes : all) rows->pieces.push_back(unpacked(op, bytes, own.width));
  for (LookupGradient::Piece& piece : rows->pieces) {
    piece.ids = piece.ids.to(op.device());
    piece.gradient = piece.gradient.to(op.device());
  }
  return rows;
}

void average_gradients(const OpContext& op) {
  const auto others = value_or_fail(op.frame().context().peers());
  if (value_or_fail(others->count()) == 1) return;
  op.not_captured("exchanges gradients with other processes, which it waits for");
  RowMerger& merger = op.state<RowMerger>([] { return new RowMerger; });
  std::vector<at::Tensor> dense;
  for (size_t i = 0; i < op.input_count("X"); ++i) {
    const Value& value = op.input("X", i);
    if (value.rows != nullptr)
      op.set_value("Out", Value{.rows = average_rows(op, *others, *value.rows, merger)}, i);
    else
      dense.push_back(value.tensor);
  }
  const AverageOptions options{.piece_mb = op.attr<float>("fuse_grad_size_in_MB"), .half_precision = op.attr<bool>("fp16")};
  fail_if_error(others->average(dense, options));
}

ARGOSY_OP(std::string(kAverageOp), average_gradients)
    .doc("Gradients become their mean over all processes of a collective job.")
    .input_list("X", "gradients, dense or of rows; dense ones are changed in place")
    .output_list("Out", "the same variables")
    .attr("fuse_grad_size_in_MB", 32.0f, "of the pieces in which they are sent")
    .attr("fp16", false, "dense ones travel in 16 bits")
    .no_gradient();

// Step holds the steps so far, and those since the copies became one.
void average_parameters(const OpContext& op) {
  at::NoGradGuard no_grad;
  const at::Tensor counts = op.tensor("Step").cpu().clone();
  int64_t* count = counts.mutable_data_ptr<int64_t>();
  ++count[0], ++count[1];
  const bool due = count[0] <= op.attr<int32_t>("begin_step") || count[1] >= op.attr<int32_t>("k_steps");
  if (due) count[1] = 0;
  op.write_output("StepOut", counts.to(op.device()));
  if (!due) return;
  const auto others = value_or_fail(op.frame().context().peers());
  if (value_or_fail(others->count()) == 1) return;
  std::vector<at::Tensor> parameters;
  for (const at::Tensor& parameter : op.tensors("X")) parameters.push_back(parameter.detach());
  fail_if_error(others->average(parameters, {.piece_mb = op.attr<float>("fuse_grad_size_in_MB")}));
}

ARGOSY_OP(std::string(kAverageParametersOp), average_parameters)
    .doc("Processes that train copies of their own: every k_steps steps the copies become their mean.")
    .input_list("X", "parameters, which are changed in place")
    .input("Step", "two int64: the steps so far, and those since the last mean")
    .output_list("Out", "the parameters")
    .output("StepOut", "the same variable as Step")
    .attr("k_steps", 1, "steps between two means")
    .attr("begin_step", 1, "until it every step ends with one")
    .attr("fuse_grad_size_in_MB", 32.0f, "of the pieces in which they are sent")
    .no_gradient();

ARGOSY_OP(std::string(kTakeFromFirstOp),
          [](const OpContext& op) {
            const auto others = value_or_fail(op.frame().context().peers());
            if (value_or_fail(others->count()) > 1) fail_if_error(others->take_from_first(op.tensors("X")));
          })
    .doc("Variables become those of the first process of a collective job; the processes meet here.")
    .input_list("X", "what the startup program has filled")
    .output_list("Out", "the same variables")
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
