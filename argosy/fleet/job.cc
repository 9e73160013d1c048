#include "argosy/fleet/job.h"

#include "argosy/base/run_id.h"
#include "argosy/engine/remote/context.h"
#include "argosy/fleet/apply_strategy.h"
#include "argosy/observe/process_observer.h"
#include "argosy/ps/server/server_settings.h"

namespace argosy::fleet {
namespace {

Result<ps::ClientOptions> client_options(const Settings& settings, const std::string& job,
                                         const std::vector<std::string>& servers, int worker) {
  ASSIGN_OR_RETURN(auto followers, ps::follower_endpoints(settings, servers.size()));
  return ps::ClientOptions{.servers = servers,
                           .followers = std::move(followers),
                           .job = job,
                           .run = known_run_id(settings.text("run_id")),
                           .worker = worker,
                           .security = ps::security_of(settings),
                           .server_wait_seconds = settings.seconds("server_wait_seconds"),
                           .call_seconds = settings.seconds("call_seconds"),
                           .operation_seconds = settings.seconds("operation_seconds")};
}

}  // namespace

Job::Job(Plan plan, Strategy strategy, Settings settings, std::vector<std::string> servers,
         std::shared_ptr<engine::Context> context)
    : plan_(std::move(plan)),
      strategy_(std::move(strategy)),
      settings_(std::move(settings)),
      name_(settings_.text("job")),
      servers_(std::move(servers)),
      context_(std::move(context)) {}

Result<std::unique_ptr<Job>> Job::create(const graph::Program& main, const graph::Program& startup, const Strategy& strategy,
                                         std::vector<std::string> servers, int workers,
                                         std::shared_ptr<engine::Context> context) {
  RETURN_IF_ERROR(ps::Server::available());
  if (servers.empty()) return Status::invalid_argument("a parameter-server job needs at least one server; its list is empty");
  ASSIGN_OR_RETURN(Settings settings, Settings::from_environment(strategy.settings));
  RETURN_IF_ERROR(ps::check_security(settings));
  ASSIGN_OR_RETURN(Plan plan, make_plan(main, startup, strategy.mode, workers));
  RETURN_IF_ERROR(apply_table_options(strategy, plan.spec));
  RETURN_IF_ERROR(apply_wire_formats(settings, plan.spec));
  return std::unique_ptr<Job>(new Job(std::move(plan), strategy, std::move(settings), std::move(servers), std::move(context)));
}

Status Job::become_worker(int index, graph::Program& main, graph::Program& startup) {
  if (worker_ != nullptr) return {};
  RETURN_IF_ERROR(observe::observe_process(settings_, fmt::format("worker {}", index)));
  ASSIGN_OR_RETURN(auto options, communicator_options(strategy_, plan_, settings_));
  RETURN_IF_ERROR(make_worker_programs(plan_, name_, main, startup));
  ASSIGN_OR_RETURN(auto how, client_options(settings_, name_, servers_, index));
  worker_ = std::make_shared<RemoteWorker>(plan_, std::move(how), std::move(options));
  context_->add_remote(name_, worker_);
  return {};
}

Result<engine::LoadReport> Job::become_server(int index, const ServerModel& model, const engine::Scope& scope) {
  ASSIGN_OR_RETURN(StartedServer started,
                   start_server({.plan = plan_, .job = name_, .servers = servers_, .index = index}, settings_, model, scope));
  server_ = std::move(started.server);
  return std::move(started.loaded);
}

Status Job::serve() { return serve_until_done(*server_, ended_); }
void Job::end() { ended_ = true; }

}  // namespace argosy::fleet
