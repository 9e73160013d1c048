#include "argosy/collective/group_batch_norm.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

namespace argosy::collective {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void check(const Status& status) { TORCH_CHECK(status.ok(), status.message()); }

std::vector<int64_t> all_but_channels(const at::Tensor& tensor) {
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (dim != 1) dims.push_back(dim);
  }
  return dims;
}

// A value a channel, in a shape that spreads over `like`.
at::Tensor spread(const at::Tensor& channel, const at::Tensor& like) {
  std::vector<int64_t> shape(static_cast<size_t>(like.dim()), 1);
  shape[1] = channel.numel();
  return channel.view(shape);
}

// Mean, variance and count of the combined batch, a value a channel, in double precision.
struct Moments {
  at::Tensor mean, variance, count;
};

// From each member's own moments: sums of squares of float32 values would not have the digits.
Moments combined_moments(const at::Tensor& input, Group& group) {
  const auto [variance, mean] = at::var_mean(input, all_but_channels(input), /*unbiased=*/false);
  const at::Tensor own =
      at::full({1, input.size(1)}, static_cast<double>(input.numel() / input.size(1)), input.options().dtype(at::kDouble));
  const at::Tensor mine = at::cat({mean.to(at::kDouble).unsqueeze(0), variance.to(at::kDouble).unsqueeze(0), own});
  auto gathered = group.all_gather(mine);
  check(gathered.status());
  const at::Tensor all = at::stack(*gathered);  // [member, moment, channel]
  const at::Tensor means = all.select(1, 0), variances = all.select(1, 1), counts = all.select(1, 2);
  const at::Tensor count = counts.sum(0);
  const at::Tensor common = (means * counts).sum(0) / count;
  return {common, ((variances + (means - common).square()) * counts).sum(0) / count, count};
}

// Only what needs the other members; weight and bias are autograd's own.
struct NormaliseFunction : torch::autograd::Function<NormaliseFunction> {
  // Gives the output and the combined batch's mean, variance and count, which have no gradient.
  static variable_list forward(AutogradContext* context, const at::Tensor& input, double eps,
                               const std::shared_ptr<Group>& group) {
    const auto [mean, variance, count] = combined_moments(input, *group);
    const auto type = input.scalar_type();
    const at::Tensor scale = (variance + eps).rsqrt().to(type);
    const at::Tensor normal = (input - spread(mean.to(type), input)) * spread(scale, input);
    context->save_for_backward({normal, scale, count});
    group_of(context) = group;
    context->mark_non_differentiable({mean, variance, count});
    return {normal, mean, variance, count};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &normal = saved[0], &scale = saved[1], &count = saved[2];
    const at::Tensor& outer = gradients[0];
    const auto dims = all_but_channels(outer);
    at::Tensor sums = at::stack({outer.to(at::kDouble).sum(dims), (outer * normal).to(at::kDouble).sum(dims)});
    check(group_of(context)->all_reduce(sums));
    const at::Tensor means = (sums / count).to(outer.scalar_type());
    const at::Tensor inner = outer - spread(means[0], outer) - normal * spread(means[1], outer);
    return {inner * spread(scale, outer), at::Tensor(), at::Tensor()};
  }

  // The group travels beside the tensors: it is no IValue of its own.
  struct Holder : torch::CustomClassHolder {
    std::shared_ptr<Group> group;
  };
  static std::shared_ptr<Group>& group_of(AutogradContext* context) {
    auto& slot = context->saved_data["group"];
    if (slot.isNone()) slot = c10::IValue::make_capsule(c10::make_intrusive<Holder>());
    return static_cast<Holder*>(slot.toCapsule().get())->group;
  }
};

}  // namespace

at::Tensor sync_batch_norm(const at::Tensor& input, const BatchNormState& state, bool training, std::shared_ptr<Group> group) {
  TORCH_CHECK(input.dim() >= 2, "sync_batch_norm takes inputs [samples, channels, …]; found ", input.sizes());
  const bool use_running = !training && state.running_mean.defined();
  if (use_running || group->size() == 1) {
    return at::batch_norm(input, state.weight, state.bias, state.running_mean, state.running_var, !use_running, state.momentum,
                          state.eps,
                          /*cudnn_enabled=*/true);
  }
  const auto out = NormaliseFunction::apply(input, state.eps, group);
  if (training && state.running_mean.defined()) {
    const at::NoGradGuard no_grad;
    const at::Tensor followed = state.biased_var ? out[2] : out[2] * (out[3] / (out[3] - 1));
    state.running_mean.detach().lerp_(out[1].to(state.running_mean.scalar_type()), state.momentum);
    state.running_var.detach().lerp_(followed.to(state.running_var.scalar_type()), state.momentum);
  }
  at::Tensor output = out[0];
  if (state.weight.defined()) output = output * spread(state.weight.to(input.scalar_type()), input);
  if (state.bias.defined()) output = output + spread(state.bias.to(input.scalar_type()), input);
  return output;
}

}  // namespace argosy::collective
