#pragma once

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <memory>
#include <vector>

#include "argosy/capture/recording.h"

// A recording for tests that run on the CPU: the calls of torch's functions are taken down with their arguments, and a replay
// makes them again, on the same memory. What the CPU has computed in between is then what it was when it was recorded, as on a
// GPU; so a step that depends on it goes wrong here too. Kernels of torch compute while they are recorded, which a GPU's do not:
// what they have written in place is put back.
namespace argosy::engine {

struct RecordedCall {
  c10::OperatorHandle function;
  std::vector<c10::IValue> inputs, outputs;
};

inline thread_local std::vector<RecordedCall>* calls_of_recording = nullptr;
inline thread_local std::vector<std::pair<at::Tensor, at::Tensor>>* written_in_place = nullptr;  // what, and its value before

inline constexpr c10::DispatchKey kRecordedCalls = c10::DispatchKey::TESTING_ONLY_GenericMode;

void record_call(const c10::OperatorHandle& function, c10::DispatchKeySet keys, torch::jit::Stack* stack);

class RecordedCalls final : public capture::Recording {
 public:
  Status rehearse(const Work& work) override { return work(); }

  Status record(const Work& work) override {
    calls_.clear();
    std::vector<std::pair<at::Tensor, at::Tensor>> written;
    Status status;
    {
      calls_of_recording = &calls_;
      written_in_place = &written;
      const c10::impl::IncludeDispatchKeyGuard mode(kRecordedCalls);
      status = work();
    }
    calls_of_recording = nullptr;
    written_in_place = nullptr;
    const at::NoGradGuard no_grad;
    for (auto at = written.rbegin(); at != written.rend(); ++at) at->first.variable_data().copy_(at->second);
    return status;
  }

  Status replay() override {
    const at::NoGradGuard no_grad;
    for (const RecordedCall& call : calls_) {
      torch::jit::Stack stack = call.inputs;
      call.function.callBoxed(stack);
      for (size_t i = 0; i < stack.size(); ++i) keep(call, i, stack[i]);
    }
    return {};
  }

  size_t calls() const { return calls_.size(); }

 private:
  // What the function has returned in new memory goes to where the recorded result lies. Views and what was changed in place are
  // there.
  static void keep(const RecordedCall& call, size_t i, const c10::IValue& made) {
    const auto& returns = call.function.schema().returns();
    if (i >= returns.size() || returns[i].alias_info() != nullptr) return;
    if (call.function.schema().name().starts_with("aten::empty") || call.function.schema().name().starts_with("aten::new_empty"))
      return;
    if (made.isTensor()) copy_to(call.outputs[i].toTensor(), made.toTensor());
    if (!made.isTensorList()) return;
    const auto kept = call.outputs[i].toTensorVector(), now = made.toTensorVector();
    for (size_t k = 0; k < now.size(); ++k) copy_to(kept[k], now[k]);
  }
  static void copy_to(const at::Tensor& kept, const at::Tensor& made) {
    if (kept.defined() && made.defined() && kept.data_ptr() != made.data_ptr()) kept.variable_data().copy_(made.detach());
  }

  std::vector<RecordedCall> calls_;
};

}  // namespace argosy::engine
