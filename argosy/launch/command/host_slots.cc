#include "argosy/launch/command/host_slots.h"

#include <algorithm>

#include "argosy/base/address.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

using Host = HostFile::Host;

Result<const Host*> own_host(const HostFile& file, const std::string& node_ip) {
  const auto own = [&](const Host& host) { return node_ip.empty() ? is_this_machine(host.name) : same_host(host.name, node_ip); };
  const auto found = std::ranges::find_if(file.hosts, own);
  const auto count = std::ranges::count_if(file.hosts, own);
  if (count == 1) return &*found;
  return Status::invalid_argument("--hostfile {}: {} of its hosts {} {}; say which one this is with --node_ip", file.path,
                                  count == 0 ? "none" : std::to_string(count), count == 1 ? "is" : "are",
                                  node_ip.empty() ? "this machine" : node_ip);
}

// Machines with other numbers of processes than this one meet at a port that all can know: behind the processes of the first.
Status take_processes(CommandLine& line) {
  const HostFile& file = *line.hosts;
  CollectiveOptions& job = line.collective;
  if (!job.processes.empty() || !job.gpus.empty()) return {};
  const bool all = std::ranges::all_of(file.hosts, [](const Host& host) { return host.slots > 0; });
  const bool none = std::ranges::all_of(file.hosts, [](const Host& host) { return host.slots == 0; });
  if (none) return {};
  if (!all)
    return Status::invalid_argument("--hostfile {}: some hosts have slots and others have none; give all of them a number",
                                    file.path);
  ASSIGN_OR_RETURN(const Host* own, own_host(file, job.nodes.node_ip));
  job.processes = std::to_string(own->slots);
  if (file.hosts.size() == 1 || !job.nodes.meeting.empty()) return {};
  const int first_port = job.nodes.started_port.value_or(kStartedPort);
  job.nodes.meeting = Address{.host = file.hosts[0].name, .port = first_port + file.hosts[0].slots}.to_string();
  return {};
}

Status check_servers_fit(const CommandLine& line) {
  constexpr int kDefault = 2;
  const int each = line.job.server_num.value_or(kDefault) + line.job.worker_num.value_or(kDefault);
  for (const Host& host : line.hosts->hosts) {
    if (host.slots == 0 || each <= host.slots) continue;
    return Status::invalid_argument(
        "--hostfile {}: '{}' has {} slots, and --server_num and --worker_num are {} processes on each machine; give it more, or "
        "start fewer",
        line.hosts->path, host.name, host.slots, each);
  }
  return {};
}

}  // namespace

Status set_host_file(CommandLine& line, const std::string& path) {
  if (!line.collective.nodes.ips.empty())
    return Status::invalid_argument("found '{}', and --ips lists the machines already; leave one out", path);
  ASSIGN_OR_RETURN(line.hosts, HostFile::read(path));
  for (const Host& host : line.hosts->hosts) line.collective.nodes.ips.push_back(host.name);
  line.job.hosts = line.collective.nodes.ips;
  return {};
}

Status take_slots(CommandLine& line) {
  if (!line.hosts) return {};
  return line.mode == CommandLine::Mode::ps ? check_servers_fit(line) : take_processes(line);
}

}  // namespace argosy::launch
