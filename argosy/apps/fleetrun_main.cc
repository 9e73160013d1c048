// The launcher: `fleetrun`, and behind `python -m paddle.distributed.launch_ps`.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "argosy/launch/command_line.h"

namespace {

int fail(const argosy::Status& status) {
  std::fprintf(stderr, "fleetrun: %s\n", status.message().c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace argosy::launch;
  auto line = parse_command_line({argv + 1, argv + argc});
  if (!line.ok()) return fail(line.status());
  if (line->help) {
    std::fputs(launch_help().c_str(), stdout);
    return 0;
  }
  if (const char* python = std::getenv("ARGOSY_PYTHON")) line->job.python = python;  // set by `python -m`
  auto job = make_job(line->job);
  if (!job.ok()) return fail(job.status());
  std::vector<std::string> endpoints;
  for (const auto& server : job->servers) endpoints.push_back(server.environment.at("PADDLE_CURRENT_ENDPOINT"));
  if (const argosy::Status status = check_ports_free(endpoints); !status.ok()) return fail(status);
  std::signal(SIGINT, Supervisor::stop_from_signal);
  std::signal(SIGTERM, Supervisor::stop_from_signal);
  return Supervisor(std::move(job->servers), std::move(job->workers), line->supervisor).run();
}
