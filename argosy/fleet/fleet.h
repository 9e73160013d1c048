#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/data/in_memory_dataset.h"
#include "argosy/fleet/executor.h"
#include "argosy/fleet/model.h"
#include "argosy/fleet/process.h"
#include "argosy/fleet/process_context.h"
#include "argosy/fleet/role.h"
#include "argosy/fleet/server_model.h"
#include "argosy/fleet/strategy.h"
#include "argosy/fleet/util.h"
#include "argosy/graph/minimize.h"
#include "argosy/optim/optimizer.h"
#include "argosy/ps/spec/ledger.h"

namespace argosy::ps {
struct ServerStats;  // argosy/ps/client/server_stats.h
}  // namespace argosy::ps

namespace argosy::fleet {

class Fleet;
class Job;
class RemoteWorker;

// The area under the ROC curve over all workers, exact: from the statistics that their auc operators have counted in `scope`.
double global_auc(const Fleet& fleet, const Scope& scope, const std::string& stat_pos, const std::string& stat_neg);

struct FleetOptions {
  std::shared_ptr<engine::Context> context = make_context();  // of the job's programs
  // Whose variables are saved, loaded and given to a server; null: the global one, whichever that is at the time.
  Scope* scope = nullptr;
  bool leave_at_exit = false;  // see leave.h
};

// A process's place in its job, and its life there. One for each process is used through the functions below; others are jobs of
// their own, whose programs are run with their context(). Throws argosy::Error; every query before init() is such an error, and
// so is a call that makes no sense for this process's role. Thread-compatible.
//
// init() and minimize() wait for nobody. A worker meets the servers in init_worker(), or where the startup program is run.
class Fleet {
 public:
  explicit Fleet(FleetOptions options = {});
  ~Fleet();
  void init(RoleInfo role);
  bool initialised() const { return role_.has_value(); }
  bool distributed() const { return job_ != nullptr; }  // a program is shared with servers: distribute() was called

  bool is_first_worker() const { return is_worker() && role().index == 0; }
  bool is_worker() const { return role().role == Role::worker; }
  bool is_server() const { return role().role == Role::server; }
  int worker_index() const { return worker_index_of(role()); }  // an error on a server
  int server_index() const { return server_index_of(role()); }  // an error on a worker
  int worker_num() const { return role().worker_count; }
  int server_num() const { return static_cast<int>(role().server_endpoints.size()); }
  const std::vector<std::string>& worker_endpoints() const { return role().worker_endpoints; }
  const std::vector<std::string>& server_endpoints() const { return role().server_endpoints; }

  // Shares a program that an optimizer's minimize() has completed between workers and servers. On a worker both programs then
  // are its own: train with `main` after running `startup`. Once a Fleet.
  void distribute(const std::shared_ptr<Program>& main, const std::shared_ptr<Program>& startup, const Strategy& strategy = {});
  const Job& job() const;  // REQUIRES: distribute() was called

  void init_worker();  // waits for all servers; the error names those who are missing
  // Listens, and takes first values from a model where one is given. Says what was there.
  LoadReport init_server(const ServerModel& model = {});
  void run_server();  // init_server() where it was not called; returns when the workers are done
  void stop_worker();  // flushes, and releases the servers; safe to call twice
  void barrier_worker() const { util().barrier(); }

  // On a worker; what the servers hold is fetched. See model.h.
  void save_inference_model(const std::string& folder, const std::vector<std::string>& feeds,
                            const std::vector<Variable>& targets) const;
  // With a store the folder is one of that store, see data/remote_store.h; so is a folder whose name begins with hdfs: or afs:.
  void save_persistables(const std::string& folder, const Program& program, const data::RemoteStore& store = {}) const;
  // Gives it to the servers.
  LoadReport load_persistables(const std::string& folder, const Program& program, const data::RemoteStore& store = {}) const;
  // Snapshots are the servers' own form: fast, with all rows and all state. The folder is on the servers' machines.
  void save_snapshot(const std::string& folder, const std::string& kind = "full") const;  // full, delta, base
  void load_snapshot(const std::string& folder) const;
  // Drops rows of sparse tables by their expiry (Strategy::tables), or by what is given: those below `threshold` in score, that
  // got no gradient in more than so many steps, or for so many seconds, which only tables with such an expiry count. Returns how
  // many.
  uint64_t shrink(std::optional<double> threshold = {}, std::optional<uint32_t> unseen_steps = {},
                  std::optional<uint32_t> ttl_seconds = {}) const;
  void set_learning_rate(double rate) const;  // of all tables, in place of their schedules
  // What each server says of itself: rows and memory of its tables, pushes, bytes.
  std::vector<ps::ServerStats> server_stats() const;
  // What was read, applied, lost and given up, pass by pass, by all workers.
  ps::JobLedger ledger() const;

  // Records of an in-memory dataset change places among all workers.
  void global_shuffle(data::InMemoryDataset& dataset, uint64_t seed) const;

  Util util() const { return Util(role_, peers()); }
  std::shared_ptr<const JobPeers> peers() const;  // those of this Fleet's job, while it lives
  const RoleInfo& role() const;
  const std::shared_ptr<engine::Context>& context() const { return options_.context; }
  // This worker's connection. An error where the process is no worker, or nothing has been distributed.
  RemoteWorker& connection(std::string_view call) const;
  // The same, not necessarily connected. REQUIRES: is_worker(), distribute() was called.
  const std::shared_ptr<RemoteWorker>& worker() const;

 private:
  Scope& scope() const { return scope_or_global(options_.scope); }

  const FleetOptions options_;
  std::optional<RoleInfo> role_;
  std::unique_ptr<Job> job_;
  std::shared_ptr<Program> main_, startup_;
};

// An optimizer whose update is done by the servers.
class DistributedOptimizer {
 public:
  DistributedOptimizer(Fleet& fleet, optim::Optimizer optimizer, Strategy strategy)
      : fleet_(fleet), optimizer_(std::move(optimizer)), strategy_(std::move(strategy)) {}
  graph::MinimizeResult minimize(const Variable& loss, const graph::MinimizeOptions& options = {});

 private:
  Fleet& fleet_;
  optim::Optimizer optimizer_;
  Strategy strategy_;
};

Fleet& fleet();  // the one of this process

// The role from the environment (see paddle_cloud_role), or a given one.
void init();
void init(RoleInfo role);

inline DistributedOptimizer distributed_optimizer(optim::Optimizer optimizer, Strategy strategy = {}) {
  return {fleet(), std::move(optimizer), std::move(strategy)};
}

inline void init_worker() { fleet().init_worker(); }
inline LoadReport init_server(const std::string& folder = "") { return fleet().init_server({.folder = folder}); }
inline LoadReport init_server(const ServerModel& model) { return fleet().init_server(model); }
inline int run_server() { return fleet().run_server(), 0; }  // for `return fleet::run_server();` in main()
inline void stop_worker() { fleet().stop_worker(); }
inline void save_inference_model(const data::FolderPlace& folder, const std::vector<Variable>& feeds,
                                 const std::vector<Variable>& targets) {
  argosy::save_inference_model(folder, feeds, targets);
}
inline void save_persistables(const std::string& folder, const Program& program, const data::RemoteStore& store = {}) {
  fleet().save_persistables(folder, program, store);
}
inline LoadReport load_persistables(const std::string& folder, const Program& program, const data::RemoteStore& store = {}) {
  return fleet().load_persistables(folder, program, store);
}

inline void save_snapshot(const std::string& folder, const std::string& kind = "full") { fleet().save_snapshot(folder, kind); }
inline void load_snapshot(const std::string& folder) { fleet().load_snapshot(folder); }
inline uint64_t shrink(std::optional<double> threshold = {}, std::optional<uint32_t> unseen_steps = {},
                       std::optional<uint32_t> ttl_seconds = {}) {
  return fleet().shrink(threshold, unseen_steps, ttl_seconds);
}
inline void set_learning_rate(double rate) { fleet().set_learning_rate(rate); }
std::vector<ps::ServerStats> server_stats();
inline ps::JobLedger ledger() { return fleet().ledger(); }

}  // namespace argosy::fleet
