#include "argosy/ps/client/connect_server.h"

#include <vector>

#include "argosy/base/endpoint_name.h"
#include "argosy/ps/client/pair_channel.h"

namespace argosy::ps {
namespace {

// One or two. A '+' that no endpoint follows belongs to the name of a file.
std::vector<std::string> processes_of(const std::string& endpoint) {
  const size_t plus = endpoint.rfind('+');
  if (plus == std::string::npos || !check_endpoint(endpoint.substr(plus + 1)).ok()) return {endpoint};
  return {endpoint.substr(0, plus), endpoint.substr(plus + 1)};
}

}  // namespace

Status check_server_endpoint(const std::string& endpoint) {
  const auto processes = processes_of(endpoint);
  if (processes.size() == 1) return check_endpoint(endpoint);
  if (const Status status = check_endpoint(processes.front()); !status.ok()) {
    return Status::invalid_argument("'{}' does not name a server's two processes: {}; expected host:port+host:port", endpoint,
                                    status.message());
  }
  if (processes.front() != processes.back()) return {};
  return Status::invalid_argument("'{}' names one process twice; give host:port of the server and of its follower (replicas=1)",
                                  endpoint);
}

Result<std::unique_ptr<rpc::Channel>> connect_server(const std::string& endpoint, const rpc::ChannelOptions& options) {
  RETURN_IF_ERROR(check_server_endpoint(endpoint));
  const auto processes = processes_of(endpoint);
  ASSIGN_OR_RETURN(auto one, rpc::connect_channel(processes.front(), options));
  if (processes.size() == 1) return one;
  ASSIGN_OR_RETURN(auto other, rpc::connect_channel(processes.back(), options));
  return std::unique_ptr<rpc::Channel>(std::make_unique<PairChannel>(std::move(one), std::move(other)));
}

}  // namespace argosy::ps
