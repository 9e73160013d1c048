#include "argosy/engine/remote/context.h"

#include "argosy/base/mutex.h"

namespace argosy::engine {

void Context::add_remote(const std::string& job, std::weak_ptr<RemoteParameters> remote) {
  const MutexLock lock(mutex_);
  remotes_[job] = std::move(remote);
}

Result<std::shared_ptr<RemoteParameters>> Context::remote(const std::string& job) const {
  const MutexLock lock(mutex_);
  const auto found = remotes_.find(job);
  std::shared_ptr<RemoteParameters> remote = found == remotes_.end() ? nullptr : found->second.lock();
  if (remote == nullptr) {
    return Status::failed_precondition(
        "the program belongs to the parameter-server job '{}', of which this process is no worker; build it here with "
        "fleet.distributed_optimizer or DistributeTranspiler, and run it with the context of its job",
        job);
  }
  return remote;
}

void Context::set_peers(std::shared_ptr<Peers> peers) {
  const MutexLock lock(mutex_);
  peers_ = std::move(peers);
}

Result<std::shared_ptr<Peers>> Context::peers() const {
  const MutexLock lock(mutex_);
  if (peers_ != nullptr) return peers_;
  return Status::failed_precondition(
      "the program averages gradients over a collective job, and this process is in none; call fleet.init(is_collective=True)");
}

Status Context::serve(const graph::Program& program, const graph::OpDesc& serve, Scope& scope) const {
  if (serve_ == nullptr) return Status::unimplemented("this program serves the tables of a job, which its context cannot");
  return serve_(program, serve, scope);
}

}  // namespace argosy::engine
