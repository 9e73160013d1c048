#include "argosy/collective/backend.h"
#include "argosy/collective/guard.h"

#ifdef ARGOSY_NCCL
#define USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#else
#include <torch/csrc/distributed/c10d/Backend.hpp>
#endif

namespace argosy::collective {

#ifdef ARGOSY_NCCL

Result<c10::intrusive_ptr<c10d::Backend>> make_nccl(const BackendRequest& request) {
  c10::intrusive_ptr<c10d::Backend> backend;
  RETURN_IF_ERROR(guarded([&] {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = request.timeout;
    backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(request.store, request.rank, request.size, options);
    backend->setBoundDeviceId(request.device);
  }));
  return backend;
}

#else

Result<c10::intrusive_ptr<c10d::Backend>> make_nccl(const BackendRequest&) {
  return Status::unimplemented("this build has no NCCL, so tensors on a GPU cannot be sent; build with libtorch for CUDA");
}

#endif

}  // namespace argosy::collective
