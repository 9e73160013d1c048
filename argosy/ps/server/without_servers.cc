// In a build without parameter servers.
#include "argosy/ps/server/repair.h"
#include "argosy/ps/server/reshard.h"
#include "argosy/ps/server/server.h"

namespace argosy::ps {

Status Server::available() {
  return Status::unimplemented(
      "this build has no parameter servers; build it with gRPC and RocksDB (-DARGOSY_SERVERS=ON), or train in one process or in "
      "a "
      "collective job");
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions&) { return available(); }

Result<std::vector<RepairReport>> repair(const std::filesystem::path&, bool) { return Server::available(); }
Status reshard(const std::filesystem::path&, int, std::optional<int>) { return Server::available(); }

}  // namespace argosy::ps
