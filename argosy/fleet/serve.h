#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/settings.h"
#include "argosy/base/status.h"
#include "argosy/engine/program/scope.h"
#include "argosy/fleet/load_into_server.h"
#include "argosy/fleet/plan.h"
#include "argosy/ps/server/server.h"

namespace argosy::fleet {

// Which server of which job.
struct ServerPlace {
  const Plan& plan;
  std::string job;
  std::vector<std::string> servers;  // endpoints of all
  int index = 0;
};

// Listens at the server's endpoint; where that is a name (base/endpoint_name.h), at POD_IP and PADDLE_PORT or any free port, and
// writes where. First values: what an earlier process of this server left in its directory; else those of
// `model` where one is given; else those of `scope`; else the first worker's.
struct StartedServer {
  std::unique_ptr<ps::Server> server;
  engine::LoadReport loaded;  // of the model
};
Result<StartedServer> start_server(const ServerPlace& place, const Settings& settings, const ServerModel& model,
                                   const engine::Scope& scope);

// Until all workers are done, SIGTERM, SIGINT or `ended`; then a last snapshot where the job keeps any. SIGINT is raised once
// more at the end, for the handler before this one.
Status serve_until_done(ps::Server& server, const std::atomic<bool>& ended);

// What a server's program (make_server_program) does when it is run.
Status serve_program(const graph::Program& program, const graph::OpDesc& serve, engine::Scope& scope);

}  // namespace argosy::fleet
