#include "argosy/collective/gradient_hook.h"

#include <ATen/ATen.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "argosy/collective/guard.h"

namespace argosy::collective {
namespace {

class GradientHook final : public c10d::CommHookInterface {
 public:
  GradientHook(const Group& group, GradientType type) : group_(group), type_(type) {}

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const std::string what = fmt::format("the gradients' piece {}{}", bucket.getIndex() + 1, bucket.isLast() ? ", the last" : "");
    group_.doing(what);
    at::Tensor whole = bucket.getBufferRef();
    std::vector<at::Tensor> sent{narrowed(whole.div_(group_.size()))};
    const auto future = group_.c10d()->allreduce(sent)->getFuture();
    return future->then(
        // Without this hook, which may be gone with its reducer: a step that failed leaves calls under way.
        [group = &group_, what, whole](c10::ivalue::Future& done) -> c10::IValue {
          if (done.hasError()) throw_explained(*group, done, what);
          at::Tensor sum = tensor_of(done.value());
          if (sum.is_sparse() || sum.is_same(whole)) return sum;
          whole.copy_(sum);
          return whole;
        },
        c10::TensorType::get());
  }

  // What allreduce gives: a tensor, or a list of one.
  at::Tensor parseHookResult(const c10::IValue& result) override { return tensor_of(result); }

 private:
  static at::Tensor tensor_of(const c10::IValue& result) {
    if (result.isTensor()) return result.toTensor();
    return result.toTensorVector().at(0);
  }

  at::Tensor narrowed(const at::Tensor& tensor) const {
    if (tensor.is_sparse() || tensor.scalar_type() != at::kFloat) return tensor;
    switch (type_) {
      case GradientType::own: return tensor;
      case GradientType::float16: return tensor.to(at::kHalf);
      case GradientType::bfloat16: return tensor.to(at::kBFloat16);
    }
    return tensor;
  }

  [[noreturn]] static void throw_explained(const Group& group, c10::ivalue::Future& done, const std::string& what) {
    const Status error = guarded([&] { std::rethrow_exception(done.exception_ptr()); });
    TORCH_CHECK(false, group.explain(error, what).message());
  }

  const Group& group_;
  const GradientType type_;
};

}  // namespace

std::unique_ptr<c10d::CommHookInterface> make_gradient_hook(const Group& group, GradientType type) {
  return std::make_unique<GradientHook>(group, type);
}

}  // namespace argosy::collective
