#include "argosy/fleet/transpiler.h"

#include <algorithm>

#include "argosy/base/error.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/fleet/role.h"
#include "argosy/graph/build.h"

namespace argosy::fleet {

void DistributeTranspiler::transpile(const TranspileOptions& options) {
  options_ = options;
  if (options_.program == nullptr) options_.program = graph::default_main_program();
  if (options_.startup_program == nullptr) options_.startup_program = graph::default_startup_program();
  const RoleInfo role{
      .index = options.trainer_id, .worker_count = options.trainers, .server_endpoints = split(options.pservers, ',')};
  throw_if_error(role.check().with_context("transpile(trainer_id={}, pservers='{}', trainers={})", options.trainer_id,
                                           options.pservers, options.trainers));
  original_ = options_.program->clone(false);
  original_startup_ = options_.startup_program->clone(false);
  job_ = value_or_throw(
      Job::create(*original_, *original_startup_, options.strategy, role.server_endpoints, options.trainers, context_));
}

Job& DistributeTranspiler::job() const {
  if (job_ == nullptr) throw Error(Status::failed_precondition("call transpile() first"));
  return *job_;
}

std::shared_ptr<graph::Program> DistributeTranspiler::get_trainer_program() {
  if (job().worker() == nullptr) set_log_name(fmt::format("worker {}", options_.trainer_id));
  throw_if_error(job().become_worker(options_.trainer_id, *options_.program, *options_.startup_program));
  return options_.program;
}

void DistributeTranspiler::check_endpoint(const std::string& endpoint) const {
  const auto& servers = job().servers();
  if (std::find(servers.begin(), servers.end(), endpoint) == servers.end()) {
    throw Error(
        Status::invalid_argument("'{}' is not one of the servers that transpile() was given: {}", endpoint, join(servers, ", ")));
  }
}

std::shared_ptr<graph::Program> DistributeTranspiler::get_pserver_program(const std::string& endpoint) const {
  const std::string& own = endpoint.empty() ? options_.current_endpoint : endpoint;
  check_endpoint(own);
  return make_server_program(
      job().plan(), *original_,
      {.job = job().name(), .endpoint = own, .endpoints = job().servers(), .settings = options_.strategy.settings});
}

std::shared_ptr<graph::Program> DistributeTranspiler::get_startup_program(const std::string& endpoint) const {
  check_endpoint(endpoint.empty() ? options_.current_endpoint : endpoint);
  return make_server_startup(job().plan(), *original_startup_);
}

}  // namespace argosy::fleet
