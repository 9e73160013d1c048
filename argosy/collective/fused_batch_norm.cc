#include "argosy/collective/fused_batch_norm.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <climits>
#include <optional>

#include "argosy/collective/batch_norm_kernels.h"

#ifdef ARGOSY_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace argosy::collective {
namespace {

using kernels::After;

#ifdef ARGOSY_CUDA

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

bool is_fast_device(const at::Tensor& input) {
  return input.is_cuda() && at::cuda::getDeviceProperties(input.get_device())->major >= kernels::kLeastComputeCapability;
}

bool same_numbers(const at::Tensor& one, at::ScalarType type) { return !one.defined() || one.scalar_type() == type; }

kernels::Number number_of(at::ScalarType type) {
  if (type == at::kFloat) return kernels::Number::float32;
  return type == at::kHalf ? kernels::Number::float16 : kernels::Number::bfloat16;
}

kernels::NormSize size_of(const at::Tensor& input, const at::Tensor& like_parameters) {
  const auto type = like_parameters.defined() ? like_parameters.scalar_type() : at::kFloat;
  return {static_cast<int>(input.numel() / input.size(1)), static_cast<int>(input.size(1)), number_of(input.scalar_type()),
          number_of(type)};
}

void* data(const at::Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }
at::Tensor floats(const at::Tensor& like, int64_t count) { return at::empty({count}, like.options().dtype(at::kFloat)); }
void check(const char* problem) { TORCH_CHECK(problem == nullptr, "batch normalisation on a GPU: ", problem); }

void* stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

// What a forward needs besides tensors with a gradient.
struct Settings : torch::CustomClassHolder {
  at::Tensor running_mean, running_var, counts;
  double momentum = 0, epsilon = 0;
  After after = After::nothing;
};

struct NormFunction : torch::autograd::Function<NormFunction> {
  using Maybe = std::optional<at::Tensor>;  // a tensor that is not there; an undefined one has no device for autograd

  static variable_list forward(AutogradContext* context, const at::Tensor& given, const Maybe& maybe_weight,
                               const Maybe& maybe_bias, const Maybe& maybe_added, const c10::intrusive_ptr<Settings>& settings) {
    const at::Tensor weight = maybe_weight.value_or(at::Tensor()), bias = maybe_bias.value_or(at::Tensor());
    const at::Tensor added = maybe_added.value_or(at::Tensor());
    const c10::cuda::CUDAGuard guard(given.device());
    const at::Tensor input = given.contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor other = added.defined() ? added.contiguous(at::MemoryFormat::ChannelsLast) : added;
    const auto size = size_of(input, weight.defined() ? weight : settings->running_mean);
    const at::Tensor output = at::empty_like(input), saved = floats(input, kernels::kSavedPerChannel * size.channels);
    const at::Tensor partial = floats(input, static_cast<int64_t>(kernels::workspace_of(size).partial_floats));
    check(kernels::forward(size,
                           {.input = data(input),
                            .weight = data(weight),
                            .bias = data(bias),
                            .added = data(other),
                            .running_mean = data(settings->running_mean),
                            .running_var = data(settings->running_var),
                            .output = data(output),
                            .saved = saved.data_ptr<float>(),
                            .partial = partial.data_ptr<float>(),
                            .counts = static_cast<unsigned*>(data(settings->counts)),
                            .momentum = static_cast<float>(settings->momentum),
                            .epsilon = static_cast<float>(settings->epsilon),
                            .after = settings->after},
                           stream()));
    const bool adds = settings->after == After::add_relu;
    context->save_for_backward({input, weight, bias, saved, adds ? output : at::Tensor()});
    context->saved_data["settings"] = c10::IValue::make_capsule(settings);
    context->set_materialize_grads(false);
    if (!adds) return {output};
    return {output, output.detach()};
  }

  static variable_list backward(AutogradContext* context, variable_list outer) {
    std::erase_if(outer, [](const at::Tensor& one) { return !one.defined(); });
    if (outer.empty()) return variable_list(5);
    for (at::Tensor& one : outer) one = one.contiguous(at::MemoryFormat::ChannelsLast);
    const auto saved = context->get_saved_variables();
    const at::Tensor &input = saved[0], &weight = saved[1], &bias = saved[2];
    const auto settings = context->saved_data["settings"].toCapsule();
    const auto& how = static_cast<const Settings&>(*settings);
    const c10::cuda::CUDAGuard guard(input.device());
    const auto size = size_of(input, weight.defined() ? weight : how.running_mean);
    const at::Tensor inner = at::empty_like(input), added = how.after == After::add_relu ? at::empty_like(input) : at::Tensor();
    const at::Tensor weight_grad = weight.defined() ? at::empty_like(weight) : at::Tensor();
    const at::Tensor bias_grad = bias.defined() ? at::empty_like(bias) : at::Tensor();
    const at::Tensor coefficients = floats(input, kernels::kCoefficientsPerChannel * size.channels);
    const at::Tensor partial = floats(input, static_cast<int64_t>(kernels::workspace_of(size).partial_floats));
    check(kernels::backward(size,
                            {.outer = data(outer[0]),
                             .outer2 = outer.size() > 1 ? data(outer[1]) : nullptr,
                             .input = data(input),
                             .output = data(saved[4]),
                             .saved = saved[3].data_ptr<float>(),
                             .inner = data(inner),
                             .added = data(added),
                             .weight = data(weight_grad),
                             .bias = data(bias_grad),
                             .coefficients = coefficients.data_ptr<float>(),
                             .partial = partial.data_ptr<float>(),
                             .counts = static_cast<unsigned*>(data(how.counts)),
                             .after = how.after},
                            stream()));
    return {inner, weight_grad, bias_grad, added, at::Tensor()};
  }
};

#endif

// By torch's functions.
at::Tensor composed(FusedBatchNormImpl& norm, const at::Tensor& input, const at::Tensor& added, After after) {
  at::Tensor output = static_cast<torch::nn::BatchNorm2dImpl&>(norm).forward(input);
  if (after == After::add_relu) output.add_(added);  // in place: nobody else has it
  return after == After::nothing ? output : output.relu_();
}

}  // namespace

bool FusedBatchNormImpl::fuses(const at::Tensor& input) const {
#ifdef ARGOSY_CUDA
  const auto type = input.scalar_type();
  const auto own = weight.defined() ? weight.scalar_type() : running_mean.defined() ? running_mean.scalar_type() : at::kFloat;
  return is_fast_device(input) && is_training() && input.dim() == 4 && input.size(1) % kernels::kChannelsTogether == 0 &&
         input.numel() > 0 && input.numel() / input.size(1) < INT_MAX && input.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         (type == at::kFloat || type == at::kHalf || type == at::kBFloat16) && (own == type || own == at::kFloat) &&
         same_numbers(bias, own) && same_numbers(running_mean, own) && same_numbers(running_var, own) &&
         options.momentum().has_value() && weight.defined() == bias.defined();
#else
  static_cast<void>(input);
  return false;
#endif
}

// REQUIRES: fuses(input). `after` is kernels::After, which a public header does not name.
std::vector<at::Tensor> FusedBatchNormImpl::by_kernels(const at::Tensor& input, const at::Tensor& added, int after) {
#ifdef ARGOSY_CUDA
  TORCH_CHECK(input.size(1) == options.num_features(), "batch normalisation of ", options.num_features(), " channels found ",
              input.sizes());
  const int64_t needed = static_cast<int64_t>(kernels::workspace_of(size_of(input, running_mean)).counts);
  if (!counts_.defined() || counts_.device() != input.device() || counts_.numel() < needed)
    counts_ = at::zeros({needed}, input.options().dtype(at::kInt));
  if (options.track_running_stats() && num_batches_tracked.defined()) num_batches_tracked += 1;
  auto settings = c10::make_intrusive<Settings>();
  settings->running_mean = running_mean, settings->running_var = running_var, settings->counts = counts_;
  settings->momentum = *options.momentum(), settings->epsilon = options.eps(), settings->after = static_cast<After>(after);
  const auto maybe = [](const at::Tensor& one) { return one.defined() ? NormFunction::Maybe(one) : std::nullopt; };
  return NormFunction::apply(input, maybe(weight), maybe(bias), maybe(added), settings);
#else
  static_cast<void>(added), static_cast<void>(after);
  TORCH_CHECK(false, "this build has no CUDA kernels for ", input.sizes());
#endif
}

at::Tensor FusedBatchNormImpl::forward(const at::Tensor& input) {
  if (!fuses(input)) return composed(*this, input, {}, After::nothing);
  return by_kernels(input, {}, static_cast<int>(After::nothing))[0];
}

at::Tensor FusedBatchNormImpl::relu(const at::Tensor& input) {
  if (!fuses(input)) return composed(*this, input, {}, After::relu);
  return by_kernels(input, {}, static_cast<int>(After::relu))[0];
}

at::Tensor FusedBatchNormImpl::add_relu(const at::Tensor& input, const at::Tensor& added) {
  return add_relu_for_two(input, added)[0];
}

std::array<at::Tensor, 2> FusedBatchNormImpl::add_relu_for_two(const at::Tensor& input, const at::Tensor& added) {
  TORCH_CHECK(added.sizes() == input.sizes() && added.scalar_type() == input.scalar_type() && added.device() == input.device(),
              "add_relu adds what is like its input, ", input.toString(), " ", input.sizes(), "; found ", added.toString(), " ",
              added.sizes());
  if (!fuses(input)) {
    const at::Tensor output = composed(*this, input, added, After::add_relu);
    return {output, output};
  }
  const auto both = by_kernels(input, added, static_cast<int>(After::add_relu));
  return {both[0], both[1]};
}

}  // namespace argosy::collective
