// Of a build without parameter servers.
#include "argosy/apps/replicas.h"

namespace argosy::apps {

Result<std::unique_ptr<launch::ReplicaWatch>> watch_replicas(const launch::ServerJob& job) {
  if (job.all_followers.empty()) return std::unique_ptr<launch::ReplicaWatch>();
  return Status::unimplemented("this launcher was built without parameter servers, and so without an arbiter of replicas");
}

}  // namespace argosy::apps
