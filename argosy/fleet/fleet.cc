#include "argosy/fleet/fleet.h"

#include <fmt/ranges.h>

#include "argosy/base/error.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/fleet/job.h"
#include "argosy/fleet/leave.h"

namespace argosy::fleet {
namespace {

ps::SnapshotKind snapshot_kind(const std::string& name) {
  if (name == "full") return ps::SnapshotKind::full;
  if (name == "delta") return ps::SnapshotKind::delta;
  if (name == "base") return ps::SnapshotKind::base;
  throw Error(Status::invalid_argument("save_snapshot: kind '{}' is none of full, delta, base", name));
}

}  // namespace

Fleet::Fleet(FleetOptions options) : options_(std::move(options)) {}
Fleet::~Fleet() = default;

const std::shared_ptr<RemoteWorker>& Fleet::worker() const { return job().worker(); }

const RoleInfo& Fleet::role() const {
  if (!role_) throw Error(Status::failed_precondition("fleet.init() has not been called yet in this process"));
  return *role_;
}

void Fleet::init(RoleInfo role) {
  throw_if_error(role.check());
  name_log_after(role);
  role_ = std::move(role);
}

void Fleet::distribute(const std::shared_ptr<Program>& main, const std::shared_ptr<Program>& startup, const Strategy& strategy) {
  if (job_ != nullptr) throw Error(Status::failed_precondition("this process's program is distributed already; a job has one"));
  job_ = value_or_throw(Job::create(*main, *startup, strategy, role().server_endpoints, worker_num(), options_.context));
  main_ = main;
  startup_ = startup;
  if (!is_worker()) return;
  throw_if_error(job_->become_worker(role().index, *main, *startup));
  if (options_.leave_at_exit) leave_at_exit(job_->worker());
}

const Job& Fleet::job() const {
  if (job_ == nullptr) {
    throw Error(Status::failed_precondition(
        "nothing has been distributed yet in this process; call fleet.distributed_optimizer(…).minimize(loss) first"));
  }
  return *job_;
}

RemoteWorker& Fleet::connection(std::string_view call) const {
  if (!is_worker()) throw Error(Status::failed_precondition("{} is for workers; this process is server {}", call, role().index));
  RemoteWorker& worker = *job().worker();
  throw_if_error(worker.connect());
  return worker;
}

void Fleet::init_worker() { connection("init_worker()"); }

LoadReport Fleet::init_server(const ServerModel& model) {
  server_index_of(role(), "init_server()");
  job();
  if (job_->serving()) throw Error(Status::failed_precondition("init_server() was called before; a process is one server"));
  return value_or_throw(job_->become_server(role().index, model, scope()));
}

void Fleet::run_server() {
  server_index_of(role(), "run_server()");
  job();
  if (!job_->serving()) init_server();
  throw_if_error(job_->serve());
}

void Fleet::stop_worker() {
  worker_index_of(role(), "stop_worker()");
  throw_if_error(job().worker()->close());
}

void Fleet::save_inference_model(const std::string& folder, const std::vector<std::string>& feeds,
                                 const std::vector<Variable>& targets) const {
  connection("save_inference_model()");
  if (targets.empty()) throw Error(Status::invalid_argument("save_inference_model: name at least one target"));
  std::vector<std::string> names;
  for (const Variable& target : targets) names.push_back(target.name());
  throw_if_error(engine::save_inference_model(*targets[0].program(), feeds, names, scope(), folder));
}

void Fleet::save_persistables(const std::string& folder, const Program& program, const data::RemoteStore& store) const {
  connection("save_persistables()");
  argosy::save_persistables(program, {folder, store}, &scope());
}

LoadReport Fleet::load_persistables(const std::string& folder, const Program& program, const data::RemoteStore& store) const {
  connection("load_persistables()");
  return argosy::load_persistables(program, {folder, store}, &scope());
}

void Fleet::save_snapshot(const std::string& folder, const std::string& kind) const {
  RemoteWorker& worker = connection("save_snapshot()");
  const ps::SnapshotKind parsed = snapshot_kind(kind);
  const auto save = [&](uint64_t number) -> Result<std::string> {
    RETURN_IF_ERROR(worker.refresh());
    ASSIGN_OR_RETURN(const auto parts, worker.client().save_snapshot(folder, parsed, {}, number));
    for (const ps::ServerSnapshotPart& part : parts)
      log_info("snapshot '{}': {} with {} rows, {} bytes; pushes waited {:.3f} s", folder, part.part, part.rows, part.bytes,
               part.pause_seconds);
    return std::string();
  };
  value_or_throw(worker.once("save_snapshot " + kind, folder, save));
}

void Fleet::load_snapshot(const std::string& folder) const {
  RemoteWorker& worker = connection("load_snapshot()");
  const auto load = [&](uint64_t number) -> Result<std::string> {
    ASSIGN_OR_RETURN(const ps::SnapshotLoadReport report, worker.client().load_snapshot(folder, number));
    for (const ps::LoadedTable& table : report.tables)
      log_info("snapshot '{}': table '{}': {}", folder, table.table,
               table.missing  ? "not there, starts anew"
               : table.unused ? "of no use to this job"
                              : fmt::format("{} rows", table.rows));
    return std::string();
  };
  value_or_throw(worker.once("load_snapshot", folder, load));
  throw_if_error(worker.refresh());
}

uint64_t Fleet::shrink(std::optional<double> threshold, std::optional<uint32_t> unseen_steps,
                       std::optional<uint32_t> ttl_seconds) const {
  RemoteWorker& worker = connection("shrink()");
  throw_if_error(worker.refresh());
  ps::ShrinkLimits limits{.unseen_steps = unseen_steps, .ttl_seconds = ttl_seconds};
  if (threshold) limits.score = static_cast<float>(*threshold);
  uint64_t dropped = 0;
  const auto& tables = job().plan().spec.tables;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (!tables[i].sparse) continue;
    const auto shrink = [&](uint64_t number) -> Result<std::string> {
      ASSIGN_OR_RETURN(const auto report, worker.client().shrink(static_cast<int>(i), limits, number));
      return std::to_string(report.dropped);
    };
    const auto outcome = value_or_throw(worker.once("shrink", tables[i].name, shrink));
    dropped += static_cast<uint64_t>(parse_integer(outcome.answer).value_or(0));
  }
  return dropped;
}

void Fleet::set_learning_rate(double rate) const {
  throw_if_error(connection("set_learning_rate()").set_rate(static_cast<float>(rate)));
}

std::vector<ps::ServerStats> Fleet::server_stats() const { return value_or_throw(connection("server_stats()").client().stats()); }

ps::JobLedger Fleet::ledger() const { return value_or_throw(connection("ledger()").client().ledger()); }

graph::MinimizeResult DistributedOptimizer::minimize(const Variable& loss, const graph::MinimizeOptions& options) {
  fleet_.role();  // before anything is changed
  graph::MinimizeResult result = graph::minimize(optimizer_, loss, options);
  const auto startup = options.startup_program != nullptr ? options.startup_program : graph::default_startup_program();
  fleet_.distribute(loss.program(), startup, strategy_);
  return result;
}

std::vector<ps::ServerStats> server_stats() { return fleet().server_stats(); }

Fleet& fleet() {
  static Fleet& instance = *new Fleet({.context = process_context(), .leave_at_exit = true});
  return instance;
}

void init() { init(value_or_throw(paddle_cloud_role())); }

void init(RoleInfo role) {
  fleet().init(std::move(role));
  set_process(fleet().role(), fleet().peers());
}

}  // namespace argosy::fleet
