// batch_norm and layer_norm.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/remote/peers.h"

namespace argosy::engine {
namespace {

bool channels_last(std::string_view layout, int64_t rank) { return layout == "NHWC" && rank > 2; }

double momentum_of(const OpContext& op) {
  return op.has_input("MomentumTensor") ? op.tensor("MomentumTensor").item<double>() : op.attr<float>("momentum");
}

// The running statistics are shared by all trainer threads and move in place, or are left to who reads the batch's. The batch's
// variance is the biased one.
void move_statistics(const OpContext& op, const at::Tensor& mean, const at::Tensor& inverse_deviation, double epsilon) {
  at::NoGradGuard no_grad;
  const double momentum = momentum_of(op);
  const at::Tensor variance = inverse_deviation.square().reciprocal() - epsilon;
  if (op.has_output("BatchMean")) {
    op.set_output("BatchMean", mean.detach());
    op.set_output("BatchVariance", variance);
    return;
  }
  const auto moved = [&](std::string_view slot, const at::Tensor& batch) {
    return op.tensor(slot).detach() * momentum + batch * (1 - momentum);
  };
  op.write_output("MeanOut", moved("Mean", mean));
  op.write_output("VarianceOut", moved("Variance", variance));
}

// One value in a channel has no deviation, and normalizing would leave the bias of it: as in Paddle it goes through as it is, the
// running statistics stay, and scale and bias have gradients of 0.
at::Tensor single_value(const OpContext& op, const at::Tensor& in) {
  const at::Tensor mean = op.tensor("Mean").detach(), variance = op.tensor("Variance").detach();
  const bool elsewhere = op.has_output("BatchMean");
  op.write_output(elsewhere ? "BatchMean" : "MeanOut", mean);
  op.write_output(elsewhere ? "BatchVariance" : "VarianceOut", variance);
  op.set_output("SavedMean", at::zeros_like(mean));
  op.set_output("SavedVariance", at::zeros_like(variance));
  std::vector<int64_t> shape(static_cast<size_t>(in.dim()), 1);
  shape[1] = -1;
  return in + ((op.tensor("Scale") + op.tensor("Bias")) * 0).reshape(shape);
}

void run_batch_norm(const OpContext& op) {
  const Value& x = op.input("X");
  const double epsilon = op.attr<float>("epsilon");
  const bool last = channels_last(op.attr<std::string>("data_layout"), x.tensor.dim());
  const at::Tensor in = last ? x.tensor.movedim(-1, 1) : x.tensor;
  const bool fixed = (op.attr<bool>("is_test") && !op.attr<bool>("trainable_statistics")) || op.attr<bool>("use_global_stats");
  at::Tensor out;
  if (fixed) {
    out = at::batch_norm(in, op.tensor("Scale"), op.tensor("Bias"), op.tensor("Mean"), op.tensor("Variance"), false, 0, epsilon,
                         false);
  } else {
    if (in.dim() < 2 || in.numel() / std::max<int64_t>(in.size(1), 1) < 1) op.fail("'{}' has no samples", op.input_name("X"));
    if (in.numel() == in.size(1)) {
      out = single_value(op, in);
    } else {
      auto [normed, mean, inverse_deviation] =
          at::native_batch_norm(in, op.tensor("Scale"), op.tensor("Bias"), {}, {}, true, 0, epsilon);
      out = normed;
      move_statistics(op, mean, inverse_deviation, epsilon);
      op.set_output("SavedMean", mean.detach());
      op.set_output("SavedVariance", inverse_deviation.detach());
    }
  }
  op.set_output("Y", last ? out.movedim(1, -1) : out, x.lod);
}

Status infer_batch_norm(graph::ShapeContext& context) {
  const auto& x = context.input("X");
  const auto layout = context.attribute<std::string>("data_layout");
  if (layout != "NCHW" && layout != "NHWC" && layout != "AnyLayout")
    return Status::invalid_argument("data_layout '{}' is not known; expected NCHW or NHWC", layout);
  if (x.shape.size() < 2)
    return Status::invalid_argument("'{}' has shape {}, expected at least 2 dimensions", x.name, graph::shape_to_string(x.shape));
  const int64_t channels = layout == "NHWC" ? x.shape.back() : x.shape[1];
  context.set_output_like("Y", x);
  for (const char* slot : {"MeanOut", "VarianceOut", "SavedMean", "SavedVariance", "BatchMean", "BatchVariance"})
    context.set_output(slot, {channels}, x.dtype);
  return {};
}

// The other processes of the job, where there are some.
std::shared_ptr<Peers> others_of(const OpContext& op) {
  const auto peers = op.frame().context().peers();
  if (!peers.ok()) return nullptr;
  const auto count = (*peers)->count();
  if (!count.ok()) throw KernelError(count.status());
  return *count > 1 ? *peers : nullptr;
}

void run_sync_batch_norm(const OpContext& op) {
  const bool fixed = (op.attr<bool>("is_test") && !op.attr<bool>("trainable_statistics")) || op.attr<bool>("use_global_stats");
  const auto others = fixed ? nullptr : others_of(op);
  if (others == nullptr) return run_batch_norm(op);
  op.not_captured("normalizes with other processes, which it waits for");
  const Value& x = op.input("X");
  const bool last = channels_last(op.attr<std::string>("data_layout"), x.tensor.dim());
  const at::Tensor mean = op.tensor("Mean").detach().clone(), variance = op.tensor("Variance").detach().clone();
  const at::Tensor out = others->batch_norm(last ? x.tensor.movedim(-1, 1) : x.tensor, {.scale = op.tensor("Scale"),
                                                                                        .bias = op.tensor("Bias"),
                                                                                        .mean = mean,
                                                                                        .variance = variance,
                                                                                        .momentum = momentum_of(op),
                                                                                        .epsilon = op.attr<float>("epsilon")});
  op.write_output("MeanOut", mean);
  op.write_output("VarianceOut", variance);
  op.set_output("Y", last ? out.movedim(1, -1) : out, x.lod);
}

OpRegistration described_batch_norm(OpRegistration op, const char* text) {
  return op.doc(text)
      .input("X", "[batch, channels, ...]")
      .input("Scale", "one value a channel")
      .input("Bias", "one value a channel")
      .input("Mean", "the running mean")
      .input("Variance", "the running variance")
      .optional_input("MomentumTensor", "instead of the attribute")
      .output("Y", "like X")
      .output("MeanOut", "the same variable as Mean")
      .output("VarianceOut", "the same variable as Variance")
      .optional_output("SavedMean", "the batch's mean")
      .optional_output("SavedVariance", "one over the batch's deviation")
      .optional_output("ReserveSpace", "not made")
      .optional_output("BatchMean", "what a worker sends to parameter servers; MeanOut and VarianceOut are then theirs to move")
      .optional_output("BatchVariance", "as BatchMean")
      .attr("momentum", 0.9f, "what remains of the running statistics in a step")
      .attr("epsilon", 1e-5f, "added to the variance")
      .attr("is_test", false, "use the running statistics and leave them")
      .attr("use_global_stats", false, "the same while training")
      .attr("trainable_statistics", false, "use the batch's statistics also in a test")
      .attr("data_layout", std::string("NCHW"), "NCHW | NHWC")
      .attr("fuse_with_relu", false, "no effect")
      .infer_shape(infer_batch_norm);
}

const OpRegistration kBatchNorm =
    described_batch_norm({"batch_norm", run_batch_norm},
                         "Each channel is shifted and scaled to mean 0 and variance 1 over the batch, then to Bias and Scale.");
const OpRegistration kSyncBatchNorm = described_batch_norm({std::string(kSyncBatchNormOp), run_sync_batch_norm},
                                                           "batch_norm over the batches of all processes of a collective job.");

void run_layer_norm(const OpContext& op) {
  const Value& x = op.input("X");
  const int64_t axis = op.attr<int32_t>("begin_norm_axis");
  const double epsilon = op.attr<float>("epsilon");
  const at::IntArrayRef shape = x.tensor.sizes();
  const int64_t rows = c10::size_to_dim_(static_cast<int>(axis), shape),
                width = c10::size_from_dim_(static_cast<int>(axis), shape);
  const auto weights = [&](const char* slot) { return op.has_input(slot) ? op.tensor(slot).reshape({width}) : at::Tensor(); };
  auto [out, mean, inverse_deviation] =
      at::native_layer_norm(x.tensor.reshape({rows, width}), {width}, weights("Scale"), weights("Bias"), epsilon);
  op.set_output("Y", out.reshape(shape), x.lod);
  if (op.is_read("Mean")) op.set_output("Mean", mean.detach().reshape({rows}));
  if (op.is_read("Variance"))
    op.set_output("Variance", (inverse_deviation.detach().square().reciprocal() - epsilon).reshape({rows}));
}

Status infer_layer_norm(graph::ShapeContext& context) {
  const auto& x = context.input("X");
  const int32_t axis = context.attribute<int32_t>("begin_norm_axis");
  if (axis < 1 || axis >= static_cast<int32_t>(x.shape.size())) {
    return Status::invalid_argument("begin_norm_axis {} must cut '{}' {} into two parts", axis, x.name,
                                    graph::shape_to_string(x.shape));
  }
  context.set_output_like("Y", x);
  const int64_t rows =
      c10::size_to_dim_(static_cast<int>(axis), x.shape);  // with an unknown batch size some negative number, as in Paddle
  context.set_output("Mean", {rows}, x.dtype);
  context.set_output("Variance", {rows}, x.dtype);
  return {};
}

ARGOSY_OP("layer_norm", run_layer_norm)
    .doc("Each sample is shifted and scaled to mean 0 and variance 1, then by Scale and Bias.")
    .input("X", "any shape")
    .optional_input("Scale", "one value for each value of a sample")
    .optional_input("Bias", "one value for each value of a sample")
    .output("Y", "like X")
    .optional_output("Mean", "of each sample")
    .optional_output("Variance", "of each sample")
    .attr("begin_norm_axis", 1, "the first so many dimensions tell samples apart")
    .attr("epsilon", 1e-5f, "added to the variance")
    .infer_shape(infer_layer_norm);

}  // namespace
}  // namespace argosy::engine
