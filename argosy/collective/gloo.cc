#include "argosy/collective/backend.h"
#include "argosy/collective/guard.h"

#ifdef ARGOSY_GLOO
// The wheel has gloo inside and not its headers. Debian's are older: only pointers to its types are used, never their insides.
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#else
#include <torch/csrc/distributed/c10d/Backend.hpp>
#endif

namespace argosy::collective {

#ifdef ARGOSY_GLOO

Result<c10::intrusive_ptr<c10d::Backend>> make_gloo(const BackendRequest& request) {
  c10::intrusive_ptr<c10d::Backend> backend;
  RETURN_IF_ERROR(guarded([&] {
    auto options = c10d::ProcessGroupGloo::Options::create(request.timeout);
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(request.host));
    backend = c10::make_intrusive<c10d::ProcessGroupGloo>(request.store, request.rank, request.size, options);
  }));
  return backend;
}

#else

Result<c10::intrusive_ptr<c10d::Backend>> make_gloo(const BackendRequest&) {
  return Status::unimplemented(
      "this build has no Gloo, so tensors on the CPU cannot be sent; install gloo's headers (libgloo-dev) and build again");
}

#endif

}  // namespace argosy::collective
