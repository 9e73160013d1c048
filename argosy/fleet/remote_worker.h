#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/engine/program/value.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/fleet/plan.h"
#include "argosy/ps/client/client.h"
#include "argosy/ps/communicator/communicator.h"

namespace argosy::fleet {

// A worker's connection to the servers of its job, behind the engine's interface. Nothing is sent before connect(), which
// attach() calls where nobody else has.
//
// Thread-safe as RemoteParameters says; connect(), attach() and close() may be called by any thread, one waits for the other.
class RemoteWorker : public engine::RemoteParameters {
 public:
  RemoteWorker(Plan plan, ps::ClientOptions client, ps::CommunicatorOptions communicator);
  ~RemoteWorker() override;

  Status connect();  // waits for the servers; safe to call twice
  bool connected() const;
  ps::Client& client();  // REQUIRES: connected()
  const Plan& plan() const { return plan_; }
  int index() const { return client_options_.worker; }
  uint32_t round() const;  // where this worker is in its data
  // A number for a list of files that the servers hand out: the first, the second, … of this worker, as in all others of the job.
  int new_handout() { return ++handouts_; }

  const engine::RemoteVariable* find(std::string_view name) const override;
  Status attach(engine::Scope& scope) override;
  Result<bool> begin_round(int threads) override;
  Status thread_done() override;
  void thread_failed(const Status& why) override;
  Status end_round(const ReadCounters& counters) override;
  void abandon_round(const Status& why) override;
  bool lost_batches() const override;
  Status begin_parallel(int threads) override;
  Status end_parallel() override;
  BatchId begin_batch() override;
  BatchId begin_batch(uint32_t number, uint32_t samples, std::span<const FileLineRange> lines) override;
  void drop_batch(BatchId batch) override;
  bool wants(BatchId batch) const override;
  Status pull(std::span<const RowRequest> requests) override;
  bool may_prefetch() const override { return plan_.spec.mode == ps::Mode::async && !communicator_options_.threads_meet; }
  Status before_prefetch() override;
  Status step(const StepGradients& gradients) override;
  Status refresh() override;
  Status before_gathering();  // see ps::Communicator
  BatchId position() const;  // of this worker's data: the batch that it trains next
  double wait_seconds() const { return communicator_options_.sync_wait_seconds; }  // for other workers
  Status fetch(std::string_view name, std::span<float> values) override;
  Status store(std::string_view name, std::span<const float> values) override;
  Result<std::string> ledger() override;
  Result<Outcome> once(const std::string& kind, const std::string& target, const OperationBody& body) override;
  Status close() override;
  // Ok where close() would leave nothing behind: no pass was abandoned, no step failed.
  Status unfinished() const;
  // In place of it where the process fails: sends nothing but that it does, and why (see ps::Client::fail).
  void fail(const std::string& why);

  // From here on a worker of an async job trains as one of a half-async job: its threads meet in each step. Before its first
  // batch, while no thread trains; safe to call twice.
  Status meet_threads();

  // Of all tables, in place of their schedules; once, as once() says, but in geo mode, where it is this worker's own.
  Status set_rate(float rate);
  ps::CommunicatorCounters counters() const;

 private:
  Status connect_locked();
  Status start(engine::Scope& scope);
  Result<std::unique_ptr<ps::Communicator>> bound_communicator();  // over the tensors of dense_
  Status give_first_values();
  Status fetch_state(std::string_view name, std::span<float> values);
  Status store_state(std::string_view name, std::span<const float> values);
  Status running() const;  // an error where attach() has not been, or close() has
  void warn_of_undeclared_rows(int table, uint64_t declared);

  const Plan plan_;
  const std::map<std::string, engine::RemoteVariable, std::less<>> variables_;
  const ps::ClientOptions client_options_;
  ps::CommunicatorOptions communicator_options_;  // constant but for meet_threads()

  mutable Mutex mutex_;  // of the life cycle: connect, attach, close
  std::atomic<bool> closed_{false};  // written under mutex_
  std::unique_ptr<ps::Client> client_;  // set by connect(), then constant
  std::map<int, engine::Value> dense_;  // tensors that the communicator writes to, by table; set by attach()
  std::unique_ptr<ps::Communicator> communicator_;  // set by attach(), then constant but for meet_threads(); uses client_
  std::atomic<bool> started_{false};  // communicator_ may be used
  std::atomic<int> handouts_{0};
  Mutex said_mutex_;
  std::set<int> undeclared_said_ ARGOSY_GUARDED_BY(said_mutex_);  // tables of which the launcher was told
};

}  // namespace argosy::fleet
