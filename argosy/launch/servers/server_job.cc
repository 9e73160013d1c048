#include "argosy/launch/servers/server_job.h"

#include <algorithm>
#include <set>

#include "argosy/base/address.h"
#include "argosy/base/counted.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

constexpr int kProcesses = 2;  // of each kind, where the command line says nothing

// What role makers read besides what make_process() sets.
const std::set<std::string> kOtherRoleVariables = {"PADDLE_TRAINING_ROLE", "PADDLE_PSERVER_IPS", "PADDLE_PSERVER_PORT",
                                                   "PADDLE_TRAINERS",      "PADDLE_CURRENT_IP",  "PADDLE_PSERVER_ID",
                                                   "PADDLE_TRAINER_ID"};

// All endpoints of one kind, in the order of their indices.
struct Endpoints {
  std::vector<std::string> servers, workers, followers;
};

// The list of one kind: as given, with ports from `first_port` on where an endpoint has none, or made up.
Result<std::vector<std::string>> endpoints_of(const char* kind, const std::vector<std::string>& given, std::optional<int> count,
                                              int first_port, const std::vector<std::string>& hosts) {
  if (!given.empty() && !hosts.empty())
    return Status::invalid_argument("--{}s lists them, and --ips the machines; leave one out", kind);
  if (!given.empty() && count && static_cast<size_t>(*count) != given.size()) {
    return Status::invalid_argument("--{0}s lists {1} and --{0}_num says {2}; leave one out", kind, given.size(), *count);
  }
  std::vector<std::string> endpoints;
  for (const std::string& host : hosts.empty() ? std::vector<std::string>{"127.0.0.1"} : hosts) {
    for (int i = 0; given.empty() && i < count.value_or(kProcesses); ++i)
      endpoints.push_back(fmt::format("{}:{}", host, first_port + i));
  }
  for (const std::string& text : given) {
    auto address = Address::parse(text);
    if (!address.ok()) return address.status().with_context("--{}s", kind);
    const int made_port = first_port + static_cast<int>(endpoints.size());
    endpoints.push_back(address->port != 0 ? text : fmt::format("{}:{}", text, made_port));
    if (std::count(endpoints.begin(), endpoints.end(), endpoints.back()) > 1)
      return Status::invalid_argument("--{}s lists '{}' twice", kind, text);
  }
  return endpoints;
}

// Claims of `count` ports that nobody has or listens at; none where one is not to be had.
std::vector<PortClaim> claim_free(int first, int count) {
  std::vector<PortClaim> claims;
  for (int port = first; port < first + count; ++port) {
    auto claim = PortClaim::take({.host = "127.0.0.1", .port = port});
    if (!claim.ok() || is_port_in_use({.host = "127.0.0.1", .port = port})) return {};
    claims.push_back(std::move(*claim));
  }
  return claims;
}

// So that two jobs of one machine need no flag to get on with each other, also where they start at once.
int first_port(const ServerJobOptions& options, bool replicas, std::vector<PortClaim>& claims) {
  constexpr int kStandard = 6170, kBeyond = 32768;  // from there on ports belong to outgoing connections
  if (options.start_port || !options.servers.empty() || !options.hosts.empty()) return options.start_port.value_or(kStandard);
  const int all = options.server_num.value_or(kProcesses) * (replicas ? 2 : 1) + options.worker_num.value_or(kProcesses);
  for (int first = kStandard; first + all <= kBeyond; first += all) {
    claims = claim_free(first, all);
    if (claims.empty()) continue;
    if (first != kStandard) log_info("port {} is in use; this job's servers take {} and up", kStandard, first);
    return first;
  }
  return kStandard;
}

// Of each server: on the next machine, or as they are listed. `next_port` is behind those of the servers and workers.
Result<std::vector<std::string>> followers_of(const ServerJobOptions& options, const std::string& given,
                                              const std::vector<std::string>& servers, int next_port) {
  if (!given.empty()) {
    std::vector<std::string> followers = split(given, ',');
    for (const std::string& follower : followers) {
      const auto address = Address::parse(follower);
      if (!address.ok() || address->port == 0) return Status::invalid_argument("--followers: '{}' is not host:port", follower);
      if (std::ranges::count(followers, follower) > 1 || std::ranges::count(servers, follower) > 0)
        return Status::invalid_argument("--followers: '{}' is another process's endpoint too", follower);
    }
    if (followers.size() == servers.size()) return followers;
    return Status::invalid_argument("--followers lists {}, and the job has {}; list one per server", followers.size(),
                                    counted(servers.size(), "server"));
  }
  if (!options.servers.empty()) {
    return Status::invalid_argument(
        "--replicas 1 with --servers: list the followers' host:port too, with --followers, each on another machine "
        "than its server");
  }
  const size_t machines = std::max<size_t>(options.hosts.size(), 1), each = servers.size() / machines;
  std::vector<std::string> followers;
  for (size_t i = 0; i < servers.size(); ++i) {
    const std::string host = Address::parse(servers[(i + each) % servers.size()])->host;
    followers.push_back(fmt::format("{}:{}", host, next_port + static_cast<int>(i % each)));
  }
  return followers;
}

Result<Endpoints> all_endpoints(const ServerJobOptions& options, const TrainingProgram& program, std::vector<PortClaim>& claims) {
  for (const std::string& server : options.servers) {
    const auto address = Address::parse(server);
    if (!address.ok() || address->port == 0) return Status::invalid_argument("--servers: '{}' is not host:port", server);
  }
  Endpoints all;
  const bool replicas = program.setting("ARGOSY_REPLICAS") == "1";
  const int first = first_port(options, replicas, claims);
  ASSIGN_OR_RETURN(all.servers, endpoints_of("server", options.servers, options.server_num, first, options.hosts));
  const auto machines = static_cast<int>(std::max<size_t>(options.hosts.size(), 1));
  const int next_port = first + static_cast<int>(all.servers.size()) / machines;
  ASSIGN_OR_RETURN(all.workers, endpoints_of("worker", options.workers, options.worker_num, next_port, options.hosts));
  const int follower_port = next_port + static_cast<int>(all.workers.size()) / machines;
  const int more = replicas ? static_cast<int>(all.servers.size()) / machines : 0;
  if (const int last = follower_port + more - 1; last > 65535)
    return Status::invalid_argument("--start_port {}: the job would need ports up to {}", first, last);
  if (replicas) {
    ASSIGN_OR_RETURN(all.followers, followers_of(options, program.setting("ARGOSY_FOLLOWERS"), all.servers, follower_port));
  }
  return all;
}

bool belongs_here(const ServerJobOptions& options, const std::string& host) {
  return options.node_ip.empty() ? is_this_machine(host) : host == options.node_ip;
}

ProcessSpec make_process(const ServerJobOptions& options, const TrainingProgram& program, bool server, size_t index,
                         const Endpoints& all) {
  const std::string& own = server ? all.servers[index] : all.workers[index];
  const Address address = *Address::parse(own);
  ProcessSpec spec{.name = fmt::format("{} {}", server ? "server" : "worker", index), .command = program.argv()};
  spec.log = fmt::format("{}/{}log.{}", options.log_dir, server ? "server" : "worker", index);
  spec.without = kOtherRoleVariables;
  spec.environment = program.environment;
  spec.environment.insert({{"TRAINING_ROLE", server ? "PSERVER" : "TRAINER"},
                           {"PADDLE_PSERVERS_IP_PORT_LIST", join(all.servers, ",")},
                           {"PADDLE_TRAINERS_NUM", std::to_string(all.workers.size())},
                           {"PADDLE_TRAINER_ENDPOINTS", join(all.workers, ",")},
                           {"PADDLE_CURRENT_ENDPOINT", own},
                           {"POD_IP", address.host},
                           {"PADDLE_PORT", std::to_string(address.port)},
                           {server ? "PADDLE_PSERVER_ID" : "PADDLE_TRAINER_ID", std::to_string(index)}});
  if (!all.followers.empty()) spec.environment["ARGOSY_FOLLOWERS"] = join(all.followers, ",");
  return spec;
}

// The server's, in the other seat.
ProcessSpec make_follower(const ServerJobOptions& options, const TrainingProgram& program, size_t index, const Endpoints& all) {
  ProcessSpec spec = make_process(options, program, true, index, all);
  spec.name = fmt::format("follower {}", index);
  spec.log = fmt::format("{}/followerlog.{}", options.log_dir, index);
  spec.environment["ARGOSY_SEAT"] = "follower";
  return spec;
}

}  // namespace

Result<ServerJob> make_job(const ServerJobOptions& options, const TrainingProgram& program) {
  RETURN_IF_ERROR(program.check());
  ServerJob job;
  ASSIGN_OR_RETURN(const Endpoints all, all_endpoints(options, program, job.ports));
  job.all_servers = all.servers;
  job.all_followers = all.followers;
  for (size_t i = 0; i < all.servers.size(); ++i) {
    if (belongs_here(options, Address::parse(all.servers[i])->host))
      job.servers.push_back(make_process(options, program, true, i, all));
  }
  for (size_t i = 0; i < all.followers.size(); ++i) {
    if (belongs_here(options, Address::parse(all.followers[i])->host))
      job.servers.push_back(make_follower(options, program, i, all));
  }
  for (size_t i = 0; i < all.workers.size(); ++i) {
    if (belongs_here(options, Address::parse(all.workers[i])->host))
      job.workers.push_back(make_process(options, program, false, i, all));
  }
  if (job.servers.empty() && job.workers.empty()) {
    return Status::invalid_argument("none of the servers {} and workers {} is {}; see --node_ip", join(all.servers, ","),
                                    join(all.workers, ","), options.node_ip.empty() ? "on this machine" : options.node_ip);
  }
  job.has_other_workers = job.workers.size() < all.workers.size();
  job.is_whole = !job.has_other_workers && job.servers.size() == all.servers.size() + all.followers.size();
  return job;
}

Status claim_ports(ServerJob& job) {
  const bool claimed = !job.ports.empty();
  for (const ProcessSpec& server : job.servers) {
    ASSIGN_OR_RETURN(const Address address, Address::parse(listening_endpoint(server)));
    if (!claimed) {
      auto claim = PortClaim::take(address);
      if (!claim.ok()) return claim.status().with_context("choose other ports with --start_port or --servers");
      job.ports.push_back(std::move(*claim));
    }
    if (is_port_in_use(address)) {
      return Status::already_exists("port {} of {} is in use; choose others with --start_port or --servers", address.port,
                                    address.host);
    }
  }
  return {};
}

}  // namespace argosy::launch
