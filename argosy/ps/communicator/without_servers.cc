// In a build without parameter servers, where no worker is ever connected: Client::connect() fails before.
#include "argosy/ps/communicator/make_communicator.h"

namespace argosy::ps {

Result<std::unique_ptr<Communicator>> make_communicator(const CommunicatorOptions&, Client&) {
  return Status::unimplemented("this build has no communicators; build it with parameter servers (-DARGOSY_SERVERS=ON)");
}

}  // namespace argosy::ps
