#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/base/address.h"
#include "argosy/base/rank_info.h"
#include "argosy/base/status.h"

namespace argosy::launch {

// The machines of a collective job, as the command line says it; what is empty is found in the environment, or there is one.
struct NodeOptions {
  std::vector<std::string> ips;           // --ips: all nodes, in order
  std::string node_ip;                    // this one's address
  std::optional<int> least, most;         // --nnodes
  std::optional<int> node_rank;
  std::string meeting;                    // --rdzv_endpoint: host or host:port of the first node
  std::optional<int> meeting_port;        // --master_port, where `meeting` has none
  std::optional<int> started_port;        // the first process's port; the others of the node follow
  bool use_paddlecloud = false;
  bool standalone = false;                // one node, whatever the environment says

  bool given() const { return !ips.empty() || most || use_paddlecloud || standalone; }
};

// Who takes part, and where they meet. A plain value.
struct Nodes {
  int least = 1, most = 1;
  int rank = -1;                    // this node's, where it is known beforehand
  std::string host;                 // this node's address; empty: that from which it reaches the meeting place
  Address meeting;                  // port 0: there is one node
  enum class Host { no, yes, if_free } hosts_meeting = Host::yes;
  std::optional<int> started_port;  // none: any that are free
};

// The port of a meeting place that is given without one.
constexpr int kMeetingPort = 29400;
// That of the first process where several nodes are listed, whose ports must be known beforehand.
constexpr int kStartedPort = 6170;

// `processes` is how many this node has; `launcher` is what the environment says about the launcher itself, each of which is a
// node where mpirun, srun, torchrun or an operator of Kubernetes started several. In the order of precedence:
//   --ips               the list; the meeting place is the first, at the port after its processes'
//   --nnodes            --rdzv_endpoint, where the launcher with --node_rank 0 or that of that machine listens
//   PaddleCloud's       PADDLE_TRAINERS, POD_IP, PADDLE_TRAINER_ID, PADDLE_PORT, TRAINER_PORTS_NUM; all are needed with
//                       --use_paddlecloud, and the meeting place is the last port of the first
//   `launcher`          where it is one of several
Result<Nodes> find_nodes(const NodeOptions& options, int processes, const RankInfo& launcher);

// Whether PaddleCloud's variables list nodes.
bool has_cloud_nodes();

}  // namespace argosy::launch
