// In a build without parameter servers.
#include "argosy/ps/arbiter/arbiter.h"

namespace argosy::ps {

Result<std::unique_ptr<Arbiter>> Arbiter::start(ArbiterOptions) {
  return Status::unimplemented(
      "this build has no parameter servers, and so no arbiter of them; build it with -DARGOSY_SERVERS=ON");
}

}  // namespace argosy::ps
