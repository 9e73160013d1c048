#include "argosy/fleet/sync_batch_norm.h"

#include "argosy/collective/group_batch_norm.h"
#include "argosy/fleet/collective_training.h"

namespace argosy::fleet {

SyncBatchNormImpl::SyncBatchNormImpl(const torch::nn::BatchNormOptions& options, std::shared_ptr<collective::Group> group)
    : NormImplBase(options), group_(std::move(group)) {}

void SyncBatchNormImpl::_check_input_dim(const at::Tensor& input) {
  TORCH_CHECK(input.dim() >= 2 && input.size(1) == options.num_features(), "SyncBatchNorm takes inputs [samples, ",
              options.num_features(), ", …]; found ", input.sizes());
}

// Without a momentum the running values are the mean over all calls.
double SyncBatchNormImpl::momentum() {
  if (!is_training() || !options.track_running_stats()) return 0;
  num_batches_tracked += 1;
  return options.momentum().value_or(1.0 / static_cast<double>(num_batches_tracked.item<int64_t>()));
}

at::Tensor SyncBatchNormImpl::forward(const at::Tensor& input) {
  _check_input_dim(input);
  const collective::BatchNormState state{.weight = weight,
                                         .bias = bias,
                                         .running_mean = running_mean,
                                         .running_var = running_var,
                                         .momentum = momentum(),
                                         .eps = options.eps()};
  return collective::sync_batch_norm(input, state, is_training(), group_ != nullptr ? group_ : world());
}

void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  stream << "argosy::fleet::SyncBatchNorm(" << options.num_features() << ", eps=" << options.eps() << ", momentum=";
  if (options.momentum()) {
    stream << *options.momentum();
  } else {
    stream << "none";
  }
  stream << std::boolalpha << ", affine=" << options.affine() << ", track_running_stats=" << options.track_running_stats() << ")";
}

}  // namespace argosy::fleet
