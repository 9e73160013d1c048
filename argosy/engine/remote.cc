#include "argosy/engine/remote.h"

#include <map>
#include <mutex>

namespace argosy::engine {
namespace {

struct RemoteRegistry {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<RemoteParameters>> remotes;  // guarded by mutex
};

RemoteRegistry& remote_registry() {
  static RemoteRegistry& known = *new RemoteRegistry;
  return known;
}

}  // namespace

void register_remote(const std::string& job, std::weak_ptr<RemoteParameters> remote) {
  std::lock_guard lock(remote_registry().mutex);
  remote_registry().remotes[job] = std::move(remote);
}

Result<std::shared_ptr<RemoteParameters>> find_remote(const std::string& job) {
  std::lock_guard lock(remote_registry().mutex);
  const auto found = remote_registry().remotes.find(job);
  std::shared_ptr<RemoteParameters> remote = found == remote_registry().remotes.end() ? nullptr : found->second.lock();
  if (remote == nullptr) {
    return Status::failed_precondition(
        "the program belongs to the parameter-server job '{}', of which this process is no worker; build it here with "
        "fleet.distributed_optimizer or DistributeTranspiler",
        job);
  }
  return remote;
}

namespace {
Serve the_serve = nullptr;
}

void set_serve(Serve serve) { the_serve = serve; }
Serve serve_function() { return the_serve; }

}  // namespace argosy::engine
