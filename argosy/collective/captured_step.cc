#include "argosy/collective/captured_step.h"

#include "argosy/collective/guard.h"

#ifdef ARGOSY_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace argosy::collective {

#ifdef ARGOSY_CUDA

struct CapturedStep::Recording {
  at::cuda::CUDAGraph graph;
  c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  bool done = false;
};

Result<at::Tensor> CapturedStep::run() {
  if (!recording_) recording_ = std::make_unique<Recording>();
  Status status;
  if (recording_->done) {
    status = guarded([&] { recording_->graph.replay(); });
  } else if (warm_up_-- > 0) {
    // On the stream of the recording, so that the allocator and the reducer meet the same stream then.
    recording_->stream.synchronize();
    status = guarded([&] {
      const c10::cuda::CUDAStreamGuard guard(recording_->stream);
      result_ = step_();
    });
    recording_->stream.synchronize();
  } else {
    status = record();
  }
  if (!status.ok()) return status.with_context("a captured step");
  return result_;
}

Status CapturedStep::record() {
  RETURN_IF_ERROR(guarded([&] {
    const c10::cuda::CUDAStreamGuard guard(recording_->stream);
    recording_->graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    result_ = step_();
    recording_->graph.capture_end();
  }));
  recording_->done = true;
  return guarded([&] { recording_->graph.replay(); });
}

#else

struct CapturedStep::Recording {};

Result<at::Tensor> CapturedStep::run() { return record(); }

Status CapturedStep::record() {
  return Status::unimplemented("a captured step needs a GPU, and this build has no CUDA; run the step itself");
}

#endif

CapturedStep::CapturedStep(std::function<at::Tensor()> step, int warm_up) : step_(std::move(step)), warm_up_(warm_up) {}
CapturedStep::~CapturedStep() = default;

}  // namespace argosy::collective
