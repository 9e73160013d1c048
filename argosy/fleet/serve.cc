#include "argosy/fleet/serve.h"

#include <algorithm>
#include <csignal>

#include "argosy/base/address.h"
#include "argosy/base/endpoint_name.h"
#include "argosy/base/env_variable.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/observe/process_observer.h"
#include "argosy/ps/server/server_settings.h"

namespace argosy::fleet {
namespace {

constexpr double kPollSeconds = 0.1;

volatile std::sig_atomic_t caught_signal = 0;

// SIGTERM and SIGINT are noted while it lives; afterwards they do what they did before.
class CatchSignals {
 public:
  CatchSignals() {
    caught_signal = 0;
    struct sigaction action = {};
    action.sa_handler = [](int number) { caught_signal = number; };
    ::sigaction(SIGTERM, &action, &term_);
    ::sigaction(SIGINT, &action, &int_);
  }
  ~CatchSignals() {
    ::sigaction(SIGTERM, &term_, nullptr);
    ::sigaction(SIGINT, &int_, nullptr);
    if (caught_signal == SIGINT) std::raise(SIGINT);
  }
  CatchSignals(const CatchSignals&) = delete;

 private:
  struct sigaction term_ = {}, int_ = {};
};

// Of a server that others know by a name: as its environment says, or else any free port.
std::string own_address_to_listen_at() {
  const auto host = variable("POD_IP"), port = variable("PADDLE_PORT");
  return fmt::format("{}:{}", host ? host->value : own_address(), port ? port->value : "0");
}

// What the server begins with, where it has nothing of an earlier process.
Status give_first_values(StartedServer& started, const ServerPlace& place, const ServerModel& model, const engine::Scope& scope) {
  ASSIGN_OR_RETURN(const bool is_new, started.server->begin_import());
  if (!is_new) {
    if (model.given()) log_info("'{}' is not loaded: this server goes on with what it had", model.folder);
    return {};
  }
  if (model.given()) {
    ASSIGN_OR_RETURN(started.loaded, load_model(*started.server, place.plan, model));
  } else {
    RETURN_IF_ERROR(give_values(*started.server, place.plan, scope));
  }
  return started.server->end_import();
}

}  // namespace

Result<StartedServer> start_server(const ServerPlace& place, const Settings& settings, const ServerModel& model,
                                   const engine::Scope& scope) {
  ASSIGN_OR_RETURN(ps::ServerOptions options, ps::server_options(settings, place.index, static_cast<int>(place.servers.size())));
  const std::string& known_as = place.servers[static_cast<size_t>(place.index)];
  if (options.replica && is_endpoint_name(known_as)) {
    return Status::invalid_argument(
        "replicas is 1, and server {} is known by the name '{}': a server of two processes needs host:port for both", place.index,
        known_as);
  }
  ASSIGN_OR_RETURN(options.address, ps::server_address(settings, place.servers, place.index));
  if (is_endpoint_name(known_as)) options.address = own_address_to_listen_at();
  options.job = place.job;
  options.workers = place.plan.spec.workers;
  options.spec = place.plan.spec;
  options.import_first = true;
  const std::string name = fmt::format("{} {}", options.replica && ps::is_follower_seat() ? "follower" : "server", place.index);
  set_log_name(name);
  RETURN_IF_ERROR(observe::observe_process(settings, name));
  StartedServer started;
  ASSIGN_OR_RETURN(started.server, ps::Server::start(options));
  log_info("server {} of {} listens at {}", place.index, place.servers.size(), started.server->endpoint());
  RETURN_IF_ERROR(give_first_values(started, place, model, scope));
  if (is_endpoint_name(known_as)) RETURN_IF_ERROR(write_endpoint(known_as, started.server->endpoint()));
  return started;
}

Status serve_until_done(ps::Server& server, const std::atomic<bool>& ended) {
  const CatchSignals signals;
  while (!ended && caught_signal == 0) {
    ASSIGN_OR_RETURN(const bool done, server.wait(Deadline::after_seconds(kPollSeconds)));
    if (done) break;
  }
  return server.stop();
}

Status serve_program(const graph::Program& program, const graph::OpDesc& serve, engine::Scope& scope) {
  ASSIGN_OR_RETURN(const Plan plan, plan_of_server_program(program, serve));
  const auto endpoint = serve.attribute_or<std::string>("endpoint", "");
  ServerPlace place{.plan = plan,
                    .job = serve.attribute_or<std::string>("job", ""),
                    .servers = serve.attribute_or<std::vector<std::string>>("endpoints", {})};
  const auto self = std::find(place.servers.begin(), place.servers.end(), endpoint);
  if (self == place.servers.end())
    return Status::invalid_argument("server '{}' is not one of the job's servers {}", endpoint, join(place.servers, ", "));
  place.index = static_cast<int>(self - place.servers.begin());
  set_log_name(fmt::format("server {}", place.index));
  std::map<std::string, std::string> fields;
  for (const std::string& field : serve.attribute_or<std::vector<std::string>>("settings", {})) {
    const size_t equals = field.find('=');
    fields[field.substr(0, equals)] = equals == std::string::npos ? "" : field.substr(equals + 1);
  }
  ASSIGN_OR_RETURN(const Settings settings, Settings::from_environment(fields));
  ASSIGN_OR_RETURN(const StartedServer started, start_server(place, settings, {}, scope));
  const std::atomic<bool> never{false};
  return serve_until_done(*started.server, never);
}

}  // namespace argosy::fleet
