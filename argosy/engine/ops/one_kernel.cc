#include "argosy/engine/ops/one_kernel.h"

#include <ATen/ATen.h>

#include <map>

#include "argosy/base/mutex.h"

namespace argosy::engine {
namespace {

using Tensors = std::vector<at::Tensor>;

bool is_like(const at::Tensor& one, const at::Tensor& other) {
  return one.layout() == at::kStrided && one.device() == other.device() && one.scalar_type() == other.scalar_type() &&
         one.strides() == other.strides();
}

bool fits(const TensorUpdate& update) {
  const at::Tensor& first = update.param[0];
  if (!at::isFloatingType(first.scalar_type())) return false;
  for (size_t i = 0; i < update.param.size(); ++i) {
    const at::Tensor& param = update.param[i];
    if (param.layout() != at::kStrided || param.device() != first.device() || param.scalar_type() != first.scalar_type() ||
        !param.is_non_overlapping_and_dense() || !is_like(update.grad[i], param)) {
      return false;
    }
    for (const Tensors& list : update.states) {
      if (!is_like(list[i], param)) return false;
    }
  }
  return true;
}

// A count of steps after which torch's kernels correct nothing: what a rule corrects is in its rate and its epsilon.
const at::Tensor& far_step(c10::Device device) {
  static Mutex& mutex = *new Mutex;
  static auto& made = *new std::map<std::pair<c10::DeviceType, c10::DeviceIndex>, at::Tensor>;
  const MutexLock lock(mutex);
  at::Tensor& found = made[{device.type(), device.index()}];
  // By way of the CPU, which waits: another thread's stream may use it next.
  if (!found.defined()) found = at::scalar_tensor(1e9, at::kFloat).to(device);
  return found;
}

bool moved_as_adam(const optim::AdamStep& step, const TensorUpdate& update) {
  const bool decays = step.keep != 1;
  if (step.beta1 >= 1 || step.beta2 >= 1 || (decays && step.rate == 0)) return false;
  const Tensors steps(update.param.size(), far_step(update.param[0].device()));
  const double decay = decays ? (1.0 - step.keep) / step.rate : 0;
  if (decays) {
    at::_fused_adamw_(update.param, update.grad, update.states[0], update.states[1], {}, steps, step.rate, step.beta1, step.beta2,
                      decay, step.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  } else {
    at::_fused_adam_(update.param, update.grad, update.states[0], update.states[1], {}, steps, step.rate, step.beta1, step.beta2,
                     decay, step.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  }
  return true;
}

}  // namespace

bool moved_by_one_kernel(const optim::Rule& rule, const optim::Step& step, const TensorUpdate& update) {
  const std::optional<optim::AdamStep> adam = rule.as_adam(step);
  return adam && fits(update) && moved_as_adam(*adam, update);
}

}  // namespace argosy::engine
