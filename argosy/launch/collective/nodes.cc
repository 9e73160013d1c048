#include "argosy/launch/collective/nodes.h"

#include <algorithm>
#include <set>

#include "argosy/base/counted.h"
#include "argosy/base/env_variable.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

Result<Address> meeting_of(const NodeOptions& options) {
  auto address = Address::parse(options.meeting);
  if (!address.ok()) return address.status().with_context("--rdzv_endpoint");
  if (options.meeting_port && address->port != 0 && address->port != *options.meeting_port)
    return Status::invalid_argument("--rdzv_endpoint {} and --master_port {}: leave one out", options.meeting,
                                    *options.meeting_port);
  if (address->port == 0) address->port = options.meeting_port.value_or(kMeetingPort);
  return address;
}

// Which of the listed nodes this is.
Result<int> own_index(const std::vector<std::string>& ips, const std::string& node_ip) {
  std::vector<int> found;
  for (size_t i = 0; i < ips.size(); ++i) {
    if (node_ip.empty() ? is_this_machine(ips[i]) : same_host(ips[i], node_ip)) found.push_back(static_cast<int>(i));
  }
  if (found.size() == 1) return found[0];
  if (found.empty() && node_ip.empty())
    return Status::invalid_argument("--ips {}: none is an address of this machine; say which it is with --node_ip",
                                    join(ips, ","));
  if (found.empty()) return Status::invalid_argument("--node_ip {} is not one of --ips {}", node_ip, join(ips, ","));
  return Status::invalid_argument("--ips {}: {} and {} are both this machine; say which node this is with --node_ip",
                                  join(ips, ","), ips[static_cast<size_t>(found[0])], ips[static_cast<size_t>(found[1])]);
}

Status check_port(int port, const char* what) {
  if (port >= 1 && port <= 65535) return {};
  return Status::invalid_argument("{} would be port {}; choose a lower --started_port", what, port);
}

// Nodes that are listed, each with the ports from `first_port` on.
Result<Nodes> listed_nodes(const std::vector<std::string>& ips, const std::string& node_ip, std::optional<int> first_port,
                           int processes, const NodeOptions& options) {
  if (std::set<std::string>(ips.begin(), ips.end()).size() != ips.size())
    return Status::invalid_argument("--ips {}: a node occurs twice", join(ips, ","));
  Nodes nodes{.least = static_cast<int>(ips.size()), .most = static_cast<int>(ips.size()), .started_port = first_port};
  ASSIGN_OR_RETURN(nodes.rank, own_index(ips, node_ip));
  nodes.host = ips[static_cast<size_t>(nodes.rank)];
  if (nodes.most == 1) return nodes;
  nodes.started_port = first_port.value_or(kStartedPort);
  nodes.meeting = {.host = ips[0], .port = *nodes.started_port + processes};
  RETURN_IF_ERROR(check_port(nodes.meeting.port, "the meeting place"));
  if (!options.meeting.empty()) {
    ASSIGN_OR_RETURN(nodes.meeting, meeting_of(options));
  }
  nodes.hosts_meeting = nodes.rank == 0 ? Nodes::Host::yes : Nodes::Host::no;
  return nodes;
}

Result<Nodes> counted_nodes(const NodeOptions& options, int most) {
  Nodes nodes{.least = options.least.value_or(most),
              .most = most,
              .rank = options.node_rank.value_or(-1),
              .host = options.node_ip,
              .started_port = options.started_port};
  if (nodes.rank >= nodes.most)
    return Status::invalid_argument("--node_rank {}: the job has at most {}, numbered from 0", nodes.rank,
                                    counted(nodes.most, "node"));
  if (nodes.most == 1) return nodes;
  if (options.meeting.empty()) {
    return Status::invalid_argument(
        "--nnodes {} needs --rdzv_endpoint host:port, the same on all nodes: where the first node's "
        "launcher listens",
        nodes.most);
  }
  ASSIGN_OR_RETURN(nodes.meeting, meeting_of(options));
  if (nodes.rank >= 0) {
    nodes.hosts_meeting = nodes.rank == 0 ? Nodes::Host::yes : Nodes::Host::no;
  } else {
    const bool here =
        options.node_ip.empty() ? is_this_machine(nodes.meeting.host) : same_host(options.node_ip, nodes.meeting.host);
    nodes.hosts_meeting = here ? Nodes::Host::if_free : Nodes::Host::no;
  }
  return nodes;
}

Result<EnvVariable> cloud_variable(const char* name, const char* what) {
  if (std::optional<EnvVariable> said = variable(name)) return *said;
  return Status::not_found("--use_paddlecloud: environment variable {} is not set; it is {}", name, what);
}

Result<Nodes> cloud_nodes(const NodeOptions& options, int processes) {
  ASSIGN_OR_RETURN(const EnvVariable list, cloud_variable("PADDLE_TRAINERS", "the nodes' addresses, comma-separated"));
  ASSIGN_OR_RETURN(const EnvVariable own, cloud_variable("POD_IP", "this node's address"));
  ASSIGN_OR_RETURN(const EnvVariable id, cloud_variable("PADDLE_TRAINER_ID", "this node's number, from 0"));
  const EnvVariable port = variable("PADDLE_PORT").value_or(EnvVariable{"PADDLE_PORT", std::to_string(kStartedPort)});
  const EnvVariable count = variable("TRAINER_PORTS_NUM").value_or(EnvVariable{"TRAINER_PORTS_NUM", std::to_string(processes)});
  ASSIGN_OR_RETURN(const int first_port, whole_number(port, 1));
  ASSIGN_OR_RETURN(const int ports, whole_number(count, 1));
  const std::vector<std::string> ips = list_of(list);
  ASSIGN_OR_RETURN(const int rank, index_below(id, ips.size(), "nodes in PADDLE_TRAINERS"));
  if (!same_host(ips[static_cast<size_t>(rank)], own.value)) return contradiction(id, own).with_context("{}", list.to_string());
  if (!options.started_port && ports < processes) {
    return Status::invalid_argument("environment variable {}: {} processes need as many ports; see --started_port",
                                    count.to_string(), processes);
  }
  auto nodes = listed_nodes(ips, own.value, options.started_port.value_or(first_port), processes, options);
  if (!nodes.ok()) return nodes.status().with_context("PaddleCloud's variables");
  if (nodes->most > 1 && ports > processes && options.meeting.empty()) nodes->meeting.port = first_port + ports - 1;
  RETURN_IF_ERROR(check_port(nodes->meeting.port == 0 ? 1 : nodes->meeting.port, "the meeting place"));
  return nodes;
}

// One node for each launcher that somebody else started.
Nodes started_nodes(const NodeOptions& options, const RankInfo& launcher) {
  Nodes nodes{.least = launcher.world_size,
              .most = launcher.world_size,
              .rank = launcher.rank,
              .host = options.node_ip,
              .meeting = {.host = launcher.master_host, .port = launcher.master_port},
              .hosts_meeting = launcher.rank == 0 ? Nodes::Host::yes : Nodes::Host::no,
              .started_port = options.started_port};
  if (nodes.host.empty() && !launcher.endpoints.empty())
    nodes.host = Address::parse(launcher.endpoints[static_cast<size_t>(launcher.rank)])->host;
  if (launcher.master_is_hosted) nodes.meeting.port = port_for_job(nodes.meeting.to_string());  // torchrun's own has that one
  return nodes;
}

}  // namespace

bool has_cloud_nodes() {
  const std::optional<EnvVariable> list = variable("PADDLE_TRAINERS");
  if (!list || parse_integer(list->value)) return false;  // in a parameter-server job it is a number
  return variable("POD_IP") && variable("PADDLE_TRAINER_ID") && variable("PADDLE_PORT") && variable("TRAINER_PORTS_NUM");
}

Result<Nodes> find_nodes(const NodeOptions& options, int processes, const RankInfo& launcher) {
  if (options.standalone) return Nodes{.host = options.node_ip, .started_port = options.started_port};
  if (!options.ips.empty()) {
    if (options.most &&
        (*options.most != static_cast<int>(options.ips.size()) || options.least.value_or(*options.most) != *options.most))
      return Status::invalid_argument("--ips lists {} nodes and --nnodes says otherwise; leave one out", options.ips.size());
    ASSIGN_OR_RETURN(Nodes nodes, listed_nodes(options.ips, options.node_ip, options.started_port, processes, options));
    if (options.node_rank && *options.node_rank != nodes.rank)
      return Status::invalid_argument("--node_rank {}: by --ips {} this is node {}", *options.node_rank, join(options.ips, ","),
                                      nodes.rank);
    return nodes;
  }
  if (options.most) return counted_nodes(options, *options.most);
  if (options.use_paddlecloud || has_cloud_nodes()) return cloud_nodes(options, processes);
  if (launcher.world_size > 1) return started_nodes(options, launcher);
  return Nodes{.host = options.node_ip, .started_port = options.started_port};
}

}  // namespace argosy::launch
