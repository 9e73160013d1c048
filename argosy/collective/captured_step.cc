#include "argosy/collective/captured_step.h"

#include "argosy/capture/recording.h"
#include "argosy/collective/guard.h"

namespace argosy::collective {

CapturedStep::CapturedStep(std::function<at::Tensor()> step, int warm_up) : step_(std::move(step)), warm_up_(warm_up) {}
CapturedStep::~CapturedStep() = default;

Result<at::Tensor> CapturedStep::run() {
  if (!recording_) {
    auto made = capture::make_recording(c10::DeviceType::CUDA);
    if (!made.ok()) return made.status().with_context("a captured step; run the step itself");
    recording_ = std::move(*made);
  }
  if (Status status = run_or_replay(); !status.ok()) return status.with_context("a captured step");
  return result_;
}

Status CapturedStep::run_or_replay() {
  const auto step = [this] { return guarded([this] { result_ = step_(); }); };
  if (warm_up_ > 0) {
    --warm_up_;
    return recording_->rehearse(step);
  }
  if (!recorded_) {
    RETURN_IF_ERROR(recording_->record(step));
    recorded_ = true;
  }
  return recording_->replay();
}

}  // namespace argosy::collective
