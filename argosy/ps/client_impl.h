#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "argosy/base/thread.h"
#include "argosy/ps/acknowledged.h"
#include "argosy/ps/client.h"
#include "argosy/ps/loss_settler.h"
#include "argosy/ps/messages.pb.h"
#include "argosy/ps/pass_book.h"
#include "argosy/ps/payload.h"
#include "argosy/ps/pool.h"
#include "argosy/ps/row_split.h"
#include "argosy/ps/servers.h"
#include "argosy/ps/window.h"

namespace argosy::ps {

// Parses the header of an answer.
template <typename Reply>
Result<Reply> parse_reply(const rpc::Received& received) {
  Reply reply;
  if (reply.ParseFromString(received.header)) return reply;
  return Status::data_loss("the answer to method {} has a header of {} bytes that cannot be read", received.method,
                           received.header.size());
}

// Client over Servers. Its parts: client.cc (connecting, life cycle), client_training.cc (pull, push, steps), client_workers.cc
// (what goes between workers), client_once.cc (what counts once), client_tables.cc (care of the tables).
class ClientImpl final : public Client {
 public:
  ClientImpl(const ClientOptions& options, const JobSpec& spec, std::unique_ptr<Servers> servers);
  ~ClientImpl() override;

  // Hello to every server, and heartbeats to each from its answer on: the last may come long after the first.
  Status introduce();

  const JobSpec& spec() const override { return spec_; }
  const std::string& run() const override { return run_; }
  int worker() const override { return options_.worker; }
  int servers() const override { return servers_->size(); }
  bool had(int server, BatchId batch) const override;
  bool all_had(BatchId batch) const override;
  uint32_t first_open_round() const override;
  uint32_t next_step() const override;

  Status init_dense(int table, std::span<const float> values) override;
  Status wait_initialised(Deadline deadline) override;

  using Client::pull_dense;
  using Client::pull_rows;
  Status pull_rows(std::span<const RowRequest> requests, std::optional<Position> min_step, Deadline deadline) override;
  Status pull_dense(std::span<const DenseRequest> requests, std::optional<Position> min_step, Deadline deadline) override;
  Status push(const Push& push) override;
  Status leave(uint32_t round, uint32_t steps, const PassReading* reading) override;
  void abandon(uint32_t round, const std::string& why) override;
  Status resume() override;
  bool went_back() const override { return went_back_; }
  Result<JobLedger> ledger() override;
  Result<Position> position() override;
  Result<std::optional<std::vector<StepNorm>>> step_norms(Position step, Deadline deadline) override;
  Status apply_step(Position step, std::span<const ClipFactor> factors) override;
  Status pull_changed(std::span<const int> tables, const ChangedRows& visit) override;

  Status barrier(std::string_view name, Deadline deadline, BatchId position) override;
  Result<std::vector<std::string>> all_gather(std::string_view name, std::string_view bytes, Deadline deadline,
                                              BatchId position) override;
  Result<std::optional<uint64_t>> next_file(std::string_view list, uint64_t files, int reader) override;
  Status post(int to, std::string_view bytes) override;
  Result<Mail> take(Deadline deadline) override;

  Status for_each_row(int table, const RowVisitor& visit, size_t max_bytes) override;
  Status import_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) override;
  Status import_dense(int table, std::span<const float> values) override;
  Status pull_state(int table, size_t state, std::span<const uint64_t> keys, std::span<float> values) override;
  Status import_state(int table, size_t state, std::span<const uint64_t> keys, std::span<const float> values) override;
  Status set_rate(int table, std::optional<float> rate) override;
  Result<OperationOutcome> once(const Operation& operation, const OperationBody& body) override;
  Result<ShrinkReport> shrink(int table, const ShrinkLimits& limits, uint64_t number) override;
  Result<std::vector<SnapshotPart>> save_snapshot(const std::string& folder, SnapshotKind kind, std::string_view extra,
                                                  uint64_t number) override;
  Result<LoadReport> load_snapshot(const std::string& folder, uint64_t number) override;
  Result<std::vector<ServerStats>> stats() override;
  ClientCounters counters() const override;
  Status stop() override;
  void fail(const std::string& why) override;

 private:
  // Ends the heartbeats and says goodbye; nothing where that has happened.
  Status say_goodbye(const wire::GoodbyeRequest& goodbye);
  // What a server said to Hello.
  struct Introduction {
    std::atomic<uint64_t> incarnation{0};
    Window window;              // of this worker
    Position position;          // sync
    uint32_t next_step = 0;     // sync: of window.round(), by this worker
    std::atomic<double> lease_seconds{0};
  };

  // A server's part of one state of a table: some keys of a sparse one, or a range of a dense one.
  struct StatePart {
    int server = 0;
    std::vector<uint64_t> keys;
    std::vector<size_t> rows;  // where the keys stand in the caller's list
    Range range;               // of values, where there are no keys
  };
  Result<std::vector<StatePart>> state_parts(int table, std::span<const uint64_t> keys, size_t values) const;

  // The memory of one push or pull on its way; see Pool.
  struct Scratch {
    RowSplit split;
    std::vector<std::span<const uint64_t>> lists;
  };

  // A table's part of a push, dense or sparse.
  struct PushPart {
    int table = 0;
    const DenseGradient* dense = nullptr;
    const RowGradients* rows = nullptr;
    size_t list = 0;  // of the split
  };

  rpc::Message hello_message(int server) const;
  Status greet(const std::vector<int>& to, std::optional<Deadline> until = {});
  Status carry_run();
  std::vector<int> not_greeted();
  Status keep_introduction(int server, const rpc::Received& received);
  Status greet_all();
  void heartbeats();
  void beat(int server);
  void act_on_losses();
  void settle_losses(Deadline deadline);

  wire::Operation with_occurrence(const Operation& operation);
  void count_operation(const wire::Operation& operation);
  Status end_operation(const wire::Operation& operation, const std::string& answer);

  wire::Caller caller(int server) const;
  template <typename Request>
  rpc::Message message(wire::Method method, int server, Request request) const {
    *request.mutable_caller() = caller(server);
    return {.method = static_cast<uint16_t>(method), .header = request.SerializeAsString(), .payload = {}};
  }
  // The same request to every server.
  template <typename Request>
  std::vector<ServerCall> to_all(wire::Method method, const Request& request) const {
    std::vector<ServerCall> calls;
    for (int server = 0; server < servers_->size(); ++server) calls.push_back({server, message(method, server, request)});
    return calls;
  }

  // Starts a long operation (messages.proto: SaveSnapshot, LoadSnapshot) on these servers and asks for it until all have done it,
  // telling in the log how far it is; cancels it after operation_seconds, and where a server refuses.
  template <typename Reply, typename Request>
  Result<std::vector<Reply>> until_done(wire::Method method, Request request, std::vector<int> servers, std::string_view what);
  void cancel_operation(uint64_t id, uint64_t attempt);
  std::vector<int> all_servers() const;

  Status check_table(int table, bool sparse) const;
  Status check_dense(int table, size_t values) const;
  Status export_rows(int server, int table, const RowVisitor& visit, size_t max_bytes);
  Status send_dense(wire::Method method, int table, std::span<const float> values);
  Status pull_rows_alike(std::span<const RowRequest> requests, bool create, std::optional<Position> min_step, Deadline deadline);
  Status store_dense(int server, std::span<const DenseRequest> requests, const rpc::Received& received) const;
  Result<std::vector<PushPart>> parts_of(const Push& push, Scratch& scratch) const;
  Status store_rows(int server, std::span<const RowRequest> requests, const RowSplit& split, const rpc::Received& received) const;
  Result<std::vector<BatchId>> lacking(int server, const Push& push) const;
  uint64_t samples_for(int server, const Push& push) const;
  rpc::Message push_message(int server, const Push& push, std::span<const BatchId> batches, uint64_t sequence,
                            std::span<const PushPart> parts, const RowSplit& split);
  std::vector<rpc::Slice> push_payload(int server, const Push& push, std::span<const PushPart> parts, const RowSplit& split);
  void write_rows(int server, const PushPart& part, const RowSplit& split, const std::shared_ptr<const void>& owner,
                  PayloadWriter& payload) const;
  // Asks these servers; returns those that have more.
  Result<std::vector<int>> pull_changed(std::span<const int> servers, std::span<const int> tables, const ChangedRows& visit);
  Status give_changed(const rpc::Received& received, const wire::PullChangedReply& reply, const ChangedRows& visit) const;

  const ClientOptions options_;
  const JobSpec spec_;
  const std::unique_ptr<Servers> servers_;
  uint64_t process_id_;
  std::string run_;                          // constant once a server is in greeted_
  std::vector<Introduction> introductions_;  // each constant once its server is in greeted_, but for resume()
  bool replays_ = false;  // constant, but for introduce() and resume(): some server had batches of this worker

  // What the servers acknowledged, and losses that heartbeats found. Shared with their callbacks, which may come late.
  struct Watch {
    explicit Watch(int servers) : acknowledged(servers) {}
    Acknowledged acknowledged;
    std::mutex mutex;
    std::vector<Acknowledged::Loss> losses;  // guarded by mutex
  };
  const std::shared_ptr<Watch> watch_;
  std::atomic<bool> went_back_{false};

  Pool<Bytes> bytes_;
  Pool<Scratch> scratch_;
  std::vector<uint64_t> changed_calls_;  // answered, by server; of the one thread that calls pull_changed
  std::atomic<uint64_t> sequence_{0};
  std::atomic<uint64_t> pushes_{0};

  std::mutex mutex_;
  std::condition_variable stopping_changed_;
  bool stopping_ = false;  // guarded by mutex_, as are those below
  std::vector<int> greeted_;  // servers that have answered the hello
  struct Gathers {
    BatchId position = 0;
    uint64_t calls = 0;   // answered, at this position
    uint64_t number = 0;  // the largest of their gatherings
  };
  std::map<std::string, Gathers, std::less<>> gathers_;  // by name
  std::map<std::pair<std::string, int>, uint64_t> files_;  // handed out, by list and reader
  std::map<int, uint64_t> posts_;  // by receiver
  uint64_t taken_ = 0;
  BatchId operations_at_ = 0;  // the position of the last operation, and how many of each kind and target were done there
  std::map<std::pair<std::string, std::string>, uint32_t> operations_;
  const std::shared_ptr<LossSettler> settler_;  // also in the answers of heartbeats that are under way
  Thread heartbeat_;
};

}  // namespace argosy::ps
