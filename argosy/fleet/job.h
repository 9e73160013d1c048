#pragma once

#include <memory>
#include <string>
#include <vector>

#include "argosy/base/settings.h"
#include "argosy/engine/program/scope.h"
#include "argosy/engine/remote/context.h"
#include "argosy/fleet/plan.h"
#include "argosy/fleet/remote_worker.h"
#include "argosy/fleet/serve.h"
#include "argosy/fleet/strategy.h"
#include "argosy/graph/program.h"
#include "argosy/ps/server/server.h"

namespace argosy::fleet {

// One process's part in a parameter-server job: the plan, and the connection of a worker or the tables of a server.
//
// Thread-compatible, as Fleet is; end() may be called from any thread.
class Job {
 public:
  // Plans the job of a program that minimize() has completed. Waits for nobody. Programs of its worker are run with `context`.
  static Result<std::unique_ptr<Job>> create(const graph::Program& main, const graph::Program& startup, const Strategy& strategy,
                                             std::vector<std::string> servers, int workers,
                                             std::shared_ptr<engine::Context> context);

  const Plan& plan() const { return plan_; }
  const std::string& name() const { return name_; }
  const std::vector<std::string>& servers() const { return servers_; }
  const std::shared_ptr<engine::Context>& context() const { return context_; }

  // Makes this process the worker with that number: its programs send and receive. Safe to call twice.
  Status become_worker(int index, graph::Program& main, graph::Program& startup);
  const std::shared_ptr<RemoteWorker>& worker() const { return worker_; }  // null before become_worker()

  // Makes this process the server with that number, and listens; see start_server(). Says what came from the model.
  Result<engine::LoadReport> become_server(int index, const ServerModel& model, const engine::Scope& scope);
  bool serving() const { return server_ != nullptr; }
  // Until all workers are done, SIGTERM or end(); then a last snapshot where the job keeps any.
  Status serve();
  void end();

 private:
  Job(Plan plan, Strategy strategy, Settings settings, std::vector<std::string> servers,
      std::shared_ptr<engine::Context> context);

  const Plan plan_;
  const Strategy strategy_;
  const Settings settings_;
  const std::string name_;
  const std::vector<std::string> servers_;
  const std::shared_ptr<engine::Context> context_;
  std::shared_ptr<RemoteWorker> worker_;
  std::unique_ptr<ps::Server> server_;
  std::atomic<bool> ended_{false};
};

}  // namespace argosy::fleet
