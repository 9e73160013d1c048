#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

#include "argosy/base/status.h"

namespace argosy::capture {
class Recording;
}

namespace argosy::collective {

// A training step on a GPU that is recorded once as a CUDA graph and replayed: forward, backward, the sending of gradients and
// the update, without the time that launching each kernel takes. The step must do the same each time: the same shapes, its
// input in the same tensors (copy each batch into them), no value of it read by the CPU, and an optimizer that keeps its state
// on the device (FusedAdam, SGD). Gradients must be zeroed in place, within the step.
//
// The first calls run the step as it is: libraries choose their kernels, and the reducer its pieces, in them. Thread-compatible.
class CapturedStep {
 public:
  static constexpr int kWarmUp = 12;

  // `step` gives what is to be looked at afterwards, the loss for example.
  explicit CapturedStep(std::function<at::Tensor()> step, int warm_up = kWarmUp);
  ~CapturedStep();

  // Runs or replays. The result is the same tensor each time after the recording, with new values.
  Result<at::Tensor> run();

 private:
  Status run_or_replay();

  std::function<at::Tensor()> step_;
  int warm_up_;  // runs that are left of it
  std::unique_ptr<capture::Recording> recording_;
  bool recorded_ = false;
  at::Tensor result_;
};

}  // namespace argosy::collective
