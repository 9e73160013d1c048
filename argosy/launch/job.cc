#include "argosy/launch/job.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

std::vector<std::string> local_endpoints(int count, int first_port) {
  std::vector<std::string> endpoints;
  for (int i = 0; i < count; ++i) endpoints.push_back(fmt::format("127.0.0.1:{}", first_port + i));
  return endpoints;
}

std::vector<std::string> command_line(const JobOptions& options) {
  std::vector<std::string> command;
  if (!options.no_python) command = {options.python, "-u"};
  command.insert(command.end(), options.command.begin(), options.command.end());
  return command;
}

struct Address {
  std::string host, port;
};

Address split_endpoint(const std::string& endpoint) {
  const size_t colon = endpoint.rfind(':');
  return {endpoint.substr(0, colon), endpoint.substr(colon + 1)};
}

ProcessSpec make_process(const JobOptions& options, bool server, size_t index, const std::vector<std::string>& servers,
                         const std::vector<std::string>& workers) {
  const std::string& own = server ? servers[index] : workers[index];
  const Address address = split_endpoint(own);
  ProcessSpec spec{.name = fmt::format("{} {}", server ? "server" : "worker", index), .command = command_line(options)};
  spec.log = fmt::format("{}/{}log.{}", options.log_dir, server ? "server" : "worker", index);
  spec.environment = {{"TRAINING_ROLE", server ? "PSERVER" : "TRAINER"},
                      {"PADDLE_PSERVERS_IP_PORT_LIST", join(servers, ",")},
                      {"PADDLE_TRAINERS_NUM", std::to_string(workers.size())},
                      {"PADDLE_TRAINER_ENDPOINTS", join(workers, ",")},
                      {"PADDLE_CURRENT_ENDPOINT", own},
                      {"POD_IP", address.host},
                      {"PADDLE_PORT", address.port},
                      {server ? "PADDLE_PSERVER_ID" : "PADDLE_TRAINER_ID", std::to_string(index)}};
  return spec;
}

}  // namespace

Result<Job> make_job(const JobOptions& options) {
  if (options.command.empty())
    return Status::invalid_argument("name the training script (or, with --no-python, the program) to run");
  if (options.server_num < 1 || options.worker_num < 1) {
    return Status::invalid_argument("a job needs at least one server and one worker; found {} and {}", options.server_num,
                                    options.worker_num);
  }
  const auto servers = options.servers.empty() ? local_endpoints(options.server_num, options.start_port) : options.servers;
  const auto workers = options.workers.empty()
                           ? local_endpoints(options.worker_num, options.start_port + static_cast<int>(servers.size()))
                           : options.workers;
  Job job;
  for (size_t i = 0; i < servers.size(); ++i) job.servers.push_back(make_process(options, true, i, servers, workers));
  for (size_t i = 0; i < workers.size(); ++i) job.workers.push_back(make_process(options, false, i, servers, workers));
  return job;
}

Status check_ports_free(const std::vector<std::string>& endpoints) {
  for (const std::string& endpoint : endpoints) {
    const Address address = split_endpoint(endpoint);
    const auto port = parse_integer(address.port);
    if (!port || *port < 1 || *port > 65535) return Status::invalid_argument("endpoint '{}' is not host:port", endpoint);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(static_cast<uint16_t>(*port));
    if (::inet_pton(AF_INET, address.host.c_str(), &where.sin_addr) != 1) continue;  // a host name: the server itself will tell
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const bool taken = ::bind(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 && errno == EADDRINUSE;
    ::close(fd);
    if (taken)
      return Status::already_exists("port {} of {} is in use; choose others with --start_port or --servers", address.port,
                                    address.host);
  }
  return {};
}

}  // namespace argosy::launch
