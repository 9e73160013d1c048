// The launcher: `fleetrun`, and behind `python -m paddle.distributed.launch` and `launch_ps`.
#include <csignal>
#include <cstdio>

#include "argosy/base/settings.h"
#include "argosy/launch/command_line.h"
#include "argosy/launch/interpreter.h"

namespace {

using argosy::Status;

int fail(const Status& status) {
  std::fprintf(stderr, "fleetrun: %s\n", status.message().c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace argosy::launch;
  auto line = parse_command_line({argv + 1, argv + argc});
  if (!line.ok()) return fail(line.status());
  if (line->help || line->settings) {
    std::fputs((line->help ? launch_help() : argosy::settings_document()).c_str(), stdout);
    return 0;
  }
  line->job.python = find_python(argv[0]);
  auto job = make_job(line->job);
  if (!job.ok()) return fail(job.status());
  if (const Status status = check_ports_free(*job); !status.ok()) return fail(status);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, Supervisor::stop_from_signal);
  return Supervisor(std::move(*job), line->supervisor).run();
}
