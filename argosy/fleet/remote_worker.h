#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "argosy/engine/remote.h"
#include "argosy/engine/value.h"
#include "argosy/fleet/plan.h"
#include "argosy/ps/client.h"
#include "argosy/ps/communicator.h"

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

  const engine::RemoteVariable* find(std::string_view name) const override;
  Status attach(engine::Scope& scope) override;
  Result<bool> begin_round(int threads) override;
  Status thread_done() override;
  Status end_round(const engine::PassCounters& counters) override;
  void abandon_round(const Status& why) override;
  bool lost_batches() const override;
  Status begin_parallel(int threads) override;
  Status end_parallel() override;
  uint64_t begin_batch() override;
  uint64_t begin_batch(uint64_t number, uint32_t samples) override;
  void drop_batch(uint64_t batch) override;
  bool wants(uint64_t batch) const override;
  Status pull(std::span<const engine::RowPull> pulls) override;
  bool may_pull_ahead() const override { return plan_.spec.mode == ps::Mode::async; }
  Status step(const engine::StepGradients& gradients) override;
  Status refresh() override;
  Status before_gathering();  // see ps::Communicator
  ps::BatchId position() const;  // of this worker's data: the batch that it trains next
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

  // Of all tables, in place of their schedules; once, as once() says, but in geo mode, where it is this worker's own.
  Status set_rate(float rate);
  ps::CommunicatorCounters counters() const;

 private:
  Status connect_locked();
  Status start(engine::Scope& scope);
  Status give_first_values();
  Status fetch_state(std::string_view name, std::span<float> values);
  Status store_state(std::string_view name, std::span<const float> values);
  Status running() const;  // an error where attach() has not been, or close() has
  void warn_of_undeclared_rows(int table, uint64_t declared);

  const Plan plan_;
  const std::map<std::string, engine::RemoteVariable, std::less<>> variables_;
  const ps::ClientOptions client_options_;
  const ps::CommunicatorOptions communicator_options_;

  mutable std::mutex mutex_;         // of the life cycle: connect, attach, close
  std::atomic<bool> closed_{false};  // written under mutex_
  std::unique_ptr<ps::Client> client_;              // set by connect(), then constant
  std::map<int, engine::Value> dense_;              // tensors that the communicator writes to, by table; set by attach()
  std::unique_ptr<ps::Communicator> communicator_;  // set by attach(), then constant; uses client_
  std::atomic<bool> started_{false};                // communicator_ may be used
};

}  // namespace argosy::fleet
