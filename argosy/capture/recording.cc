#include "argosy/capture/recording.h"

#include <c10/util/Exception.h>

#include "argosy/base/mutex.h"

#ifdef ARGOSY_CUDA
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace argosy::capture {
namespace {

Mutex make_mutex;
OtherRecordings::Make make_other ARGOSY_GUARDED_BY(make_mutex);

#ifdef ARGOSY_CUDA

// What `body` returns, or what torch throws in it.
Status caught(const Recording::Work& body) {
  try {
    return body();
  } catch (const c10::Error& error) {
    return Status::internal("{}", error.what_without_backtrace());
  } catch (const std::exception& error) {
    return Status::internal("{}", error.what());
  }
}

void wait_for(const c10::cuda::CUDAStream& waits, const c10::cuda::CUDAStream& awaited) {
  at::cuda::CUDAEvent event;
  event.record(awaited);
  event.block(waits);
}

class CudaRecording final : public Recording {
 public:
  Status rehearse(const Work& work) override {
    return caught([&] {
      const auto outside = c10::cuda::getCurrentCUDAStream();
      wait_for(stream_, outside);
      Status status;
      {
        const c10::cuda::CUDAStreamGuard guard(stream_);
        status = caught(work);
      }
      wait_for(outside, stream_);
      return status;
    });
  }

  // Ends the recording also where the work failed: the allocator and the generators of random numbers stay in it otherwise.
  Status record(const Work& work) override {
    graph_ = std::make_unique<at::cuda::CUDAGraph>();
    return caught([&] {
      wait_for(stream_, c10::cuda::getCurrentCUDAStream());
      const c10::cuda::CUDAStreamGuard guard(stream_);
      graph_->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
      const Status status = caught(work);
      const Status ended = caught([&] {
        graph_->capture_end();
        return Status();
      });
      return status.ok() ? ended : status;
    });
  }

  Status replay() override {
    return caught([&] {
      graph_->replay();
      return Status();
    });
  }

 private:
  const c10::cuda::CUDAStream stream_ = c10::cuda::getStreamFromPool();
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

#endif

}  // namespace

Result<std::unique_ptr<Recording>> make_recording(c10::DeviceType device) {
  OtherRecordings::Make other;
  {
    MutexLock lock(make_mutex);
    other = make_other;
  }
  if (other) return other();
#ifdef ARGOSY_CUDA
  if (device == c10::DeviceType::CUDA) return std::unique_ptr<Recording>(std::make_unique<CudaRecording>());
  return Status::unimplemented("work is recorded on a GPU, and this is for {}", c10::DeviceTypeName(device, true));
#else
  return Status::unimplemented("work is recorded on a GPU, and this is for {}, by a build without CUDA",
                               c10::DeviceTypeName(device, true));
#endif
}

OtherRecordings::OtherRecordings(Make make) {
  MutexLock lock(make_mutex);
  make_other = std::move(make);
}

OtherRecordings::~OtherRecordings() {
  MutexLock lock(make_mutex);
  make_other = nullptr;
}

}  // namespace argosy::capture
