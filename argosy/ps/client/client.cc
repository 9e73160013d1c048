#include "argosy/ps/client/client.h"

#include <algorithm>
#include <cstring>

#include "argosy/base/notice.h"
#include "argosy/ps/client/changed_rows_calls.h"
#include "argosy/ps/client/comparison.h"
#include "argosy/ps/client/heartbeats.h"
#include "argosy/ps/client/operation_calls.h"
#include "argosy/ps/client/pair_channel.h"
#include "argosy/ps/client/round_calls.h"
#include "argosy/ps/client/session.h"
#include "argosy/ps/client/snapshot_calls.h"
#include "argosy/ps/client/state_calls.h"
#include "argosy/ps/client/table_calls.h"
#include "argosy/ps/client/training_calls.h"
#include "argosy/ps/client/worker_calls.h"

namespace argosy::ps {
namespace {

constexpr size_t kLongestWhy = 2000;      // bytes of a cause that others are told
constexpr double kAbandonSeconds = 5;     // for a message that nobody waits for
constexpr double kGoodbyeSeconds = 5;

Status check(const ClientOptions& options, const JobSpec& spec) {
  RETURN_IF_ERROR(spec.check());
  if (options.servers.empty()) return Status::invalid_argument("the job '{}' has no servers to connect to", options.job);
  if (!options.followers.empty() && options.followers.size() != options.servers.size()) {
    return Status::invalid_argument("{} servers and {} followers of them; expected one per server", options.servers.size(),
                                    options.followers.size());
  }
  if (options.servers.size() > 65535)
    return Status::invalid_argument("{} servers; expected at most 65535", options.servers.size());
  if (options.worker < 0 || options.worker >= spec.workers) {
    return Status::invalid_argument("worker {} of a job with {} workers; expected 0 to {}", options.worker, spec.workers,
                                    spec.workers - 1);
  }
  if (!(options.call_seconds > 0))
    return Status::invalid_argument("call_seconds is {}; expected more than 0", options.call_seconds);
  if (!(options.server_wait_seconds >= 0)) {
    return Status::invalid_argument("server_wait_seconds is {}; expected 0 or more", options.server_wait_seconds);
  }
  return {};
}

Result<std::unique_ptr<rpc::Channel>> connect_one(const ClientOptions& options, const std::string& endpoint) {
  if (options.make_channel) return options.make_channel(endpoint);
  return rpc::connect_channel(endpoint, {.security = options.security, .max_message_bytes = options.max_message_bytes});
}

// A channel to each server.
Result<Servers::Channels> connect_all(const ClientOptions& options) {
  Servers::Channels channels;
  wire::Caller who;
  who.set_job(options.job);
  who.set_run(options.run);
  who.set_worker(static_cast<uint32_t>(options.worker));
  for (size_t i = 0; i < options.servers.size(); ++i) {
    auto channel = connect_one(options, options.servers[i]);
    if (!channel.ok()) return channel.status().with_context("server {} of job '{}'", i, options.job);
    if (!options.followers.empty()) {
      auto follower = connect_one(options, options.followers[i]);
      if (!follower.ok()) return follower.status().with_context("the follower of server {} of job '{}'", i, options.job);
      *channel = std::make_unique<PairChannel>(std::move(*channel), std::move(*follower), who);
    }
    channels.push_back(std::move(*channel));
  }
  return channels;
}

}  // namespace

// Each part sees those before it that it is given, and nothing else.
struct Client::Parts {
  Parts(const ClientOptions& options, const JobSpec& spec, std::unique_ptr<Servers> servers)
      : session(options, spec, std::move(servers)) {}

  Session session;
  Comparison comparison{session};
  TrainingCalls training{session, comparison};
  RoundCalls rounds{session, comparison};
  ChangedRowsCalls changed_rows{session};
  TableCalls tables{session};
  StateCalls states{session};
  WorkerCalls workers{session, comparison};
  OperationCalls operations{session};
  SnapshotCalls snapshots{session};
  Heartbeats heartbeats{session, comparison};
};

Client::Client(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::connect(const ClientOptions& options, const JobSpec& spec) {
  RETURN_IF_ERROR(check(options, spec));
  ASSIGN_OR_RETURN(auto channels, connect_all(options));
  ASSIGN_OR_RETURN(auto heartbeats, connect_all(options));
  const ServersOptions patience{.server_wait_seconds = options.server_wait_seconds, .call_seconds = options.call_seconds};
  auto parts =
      std::make_unique<Parts>(options, spec, std::make_unique<Servers>(std::move(channels), std::move(heartbeats), patience));
  RETURN_IF_ERROR(parts->session.introduce([here = parts.get()](int server, const wire::HelloReply& reply) {
    here->comparison.greeted(server, reply);
    here->heartbeats.add(server);
  }));
  notice_joined(options.job);
  return std::unique_ptr<Client>(new Client(std::move(parts)));
}

const JobSpec& Client::spec() const { return parts_->session.spec(); }
const std::string& Client::run() const { return parts_->session.run(); }
int Client::worker() const { return parts_->session.worker(); }
int Client::servers() const { return parts_->session.size(); }

bool Client::had(int server, BatchId batch) const { return parts_->session.had(server, batch); }
bool Client::all_had(BatchId batch) const { return parts_->session.all_had(batch); }
uint32_t Client::first_open_round() const { return parts_->session.first_open_round(); }
uint32_t Client::next_step() const { return parts_->session.next_step(); }

// ---- Training.

Status Client::pull_rows(std::span<const RowRequest> requests, std::optional<Position> min_step, Deadline deadline,
                         Numbers numbers, ReadAt* read_at) {
  return parts_->training.pull_rows(requests, min_step, deadline, numbers, read_at);
}

Status Client::pull_dense(std::span<const DenseRequest> requests, std::optional<Position> min_step, Deadline deadline,
                          Numbers numbers, ReadAt* read_at) {
  return parts_->training.pull_dense(requests, min_step, deadline, numbers, read_at);
}

Status Client::pull_rows(std::span<const RowRequest> requests, Numbers numbers, ReadAt* read_at) {
  return pull_rows(requests, std::nullopt, Deadline::after_seconds(0), numbers, read_at);
}

Status Client::pull_dense(std::span<const DenseRequest> requests) {
  return pull_dense(requests, std::nullopt, Deadline::after_seconds(0));
}

Status Client::push(const Push& push) { return parts_->training.push(push); }

Result<PassLoss> Client::leave(uint32_t round, uint32_t steps, const PassReading* reading) {
  return parts_->rounds.leave(round, steps, reading);
}

void Client::abandon(uint32_t round, const std::string& why) {
  wire::AbandonRequest request;
  request.set_round(round);
  request.set_why(why.substr(0, kLongestWhy));
  for (int server = 0; server < parts_->session.servers().size(); ++server) {
    parts_->session.servers().channel(server).call(parts_->session.message(wire::ABANDON, server, request),
                                                   Deadline::after_seconds(kAbandonSeconds), [](const Result<rpc::Received>&) {});
  }
}

Status Client::resume() {
  parts_->comparison.resume();
  parts_->changed_rows.resume();
  parts_->workers.resume();
  return parts_->session.resume();
}

bool Client::went_back() const { return parts_->comparison.went_back(); }
Result<Position> Client::position() { return parts_->rounds.position(); }

Result<std::optional<std::vector<StepNorm>>> Client::step_norms(Position step, Deadline deadline) {
  return parts_->rounds.step_norms(step, deadline);
}

Status Client::apply_step(Position step, std::span<const ClipFactor> factors) { return parts_->rounds.apply_step(step, factors); }

Status Client::pull_changed(std::span<const int> tables, const ChangedRows& visit, ReadAt* read_at) {
  return parts_->changed_rows.pull(tables, visit, read_at);
}

// ---- Between workers.

Status Client::barrier(std::string_view name, Deadline deadline, BatchId position) {
  return all_gather(name, {}, deadline, position).status();
}

Result<std::vector<std::string>> Client::all_gather(std::string_view name, std::string_view bytes, Deadline deadline,
                                                    BatchId position) {
  return parts_->workers.all_gather(name, bytes, deadline, position);
}

namespace {

template <typename T>
void combine(Reduce reduce, std::span<T> into, const std::string& bytes) {
  for (size_t i = 0; i < into.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    switch (reduce) {
      case Reduce::sum: into[i] += value; break;
      case Reduce::max: into[i] = std::max(into[i], value); break;
      case Reduce::min: into[i] = std::min(into[i], value); break;
    }
  }
}

}  // namespace

template <typename T>
Status Client::all_reduce(std::string_view name, Reduce reduce, std::span<T> values, Deadline deadline, BatchId position) {
  const std::string_view mine(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  ASSIGN_OR_RETURN(const auto everybody, all_gather(name, mine, deadline, position));
  bool first = true;
  for (size_t worker = 0; worker < everybody.size(); ++worker) {
    const std::string& bytes = everybody[worker];
    if (bytes.empty()) continue;  // lost or done
    if (bytes.size() != values.size_bytes()) {
      return Status::invalid_argument("all_reduce '{}': worker {} gave {} bytes, this worker {}", name, worker, bytes.size(),
                                      values.size_bytes());
    }
    if (first) {
      if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
      first = false;
    } else {
      combine(reduce, values, bytes);
    }
  }
  return {};
}

template Status Client::all_reduce(std::string_view, Reduce, std::span<double>, Deadline, BatchId);
template Status Client::all_reduce(std::string_view, Reduce, std::span<float>, Deadline, BatchId);
template Status Client::all_reduce(std::string_view, Reduce, std::span<int64_t>, Deadline, BatchId);

Result<std::optional<uint64_t>> Client::next_file(std::string_view list, uint64_t files, int reader) {
  ASSIGN_OR_RETURN(const auto file, next_file(FileQuestion{.list = std::string(list), .files = files, .reader = reader}));
  return file ? std::optional(file->place) : std::nullopt;
}

Result<std::optional<HandedFile>> Client::next_file(const FileQuestion& question) { return parts_->workers.next_file(question); }

Status Client::post(int to, std::string_view bytes) { return parts_->workers.post(to, bytes); }
Result<Mail> Client::take(Deadline deadline) { return parts_->workers.take(deadline); }

// ---- Tables and operations.

Result<OperationOutcome> Client::once(const Operation& operation, const OperationBody& body) {
  return parts_->operations.once(operation, body);
}

Status Client::init_dense(int table, std::span<const float> values) { return parts_->tables.init_dense(table, values); }
Status Client::wait_initialised(Deadline deadline) { return parts_->tables.wait_initialised(deadline); }

Status Client::for_each_row(int table, const RowVisitor& visit, size_t max_bytes) {
  return parts_->tables.for_each_row(table, visit, max_bytes);
}

Status Client::import_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) {
  return parts_->tables.import_rows(table, keys, values);
}

Status Client::import_dense(int table, std::span<const float> values) { return parts_->tables.import_dense(table, values); }

Status Client::pull_state(int table, size_t state, std::span<const uint64_t> keys, std::span<float> values) {
  return parts_->states.pull_state(table, state, keys, values);
}

Status Client::import_state(int table, size_t state, std::span<const uint64_t> keys, std::span<const float> values) {
  return parts_->states.import_state(table, state, keys, values);
}

Status Client::set_rate(int table, std::optional<float> rate) { return parts_->tables.set_rate(table, rate); }

Result<ShrinkReport> Client::shrink(int table, const ShrinkLimits& limits, uint64_t number) {
  return parts_->tables.shrink(table, limits, number);
}

Result<std::vector<ServerSnapshotPart>> Client::save_snapshot(const std::string& folder, SnapshotKind kind,
                                                              std::string_view extra, uint64_t number) {
  return parts_->snapshots.save_snapshot(folder, kind, extra, number);
}

Result<SnapshotLoadReport> Client::load_snapshot(const std::string& folder, uint64_t number) {
  return parts_->snapshots.load_snapshot(folder, number);
}

Result<std::vector<ServerStats>> Client::stats() { return parts_->tables.stats(); }
Result<JobLedger> Client::ledger() { return parts_->tables.ledger(); }

ClientCounters Client::counters() const {
  const Servers::Counters& counters = parts_->session.servers().counters();
  return {.calls = counters.calls,
          .retries = counters.retries,
          .pushes = parts_->training.pushes(),
          .bytes_sent = counters.bytes_sent,
          .bytes_received = counters.bytes_received};
}

// ---- The end.

Status Client::stop() { return say_goodbye(""); }
void Client::fail(const std::string& why) { (void)say_goodbye(why); }

// Ends the heartbeats and says goodbye; nothing where that has happened.
Status Client::say_goodbye(const std::string& failed) {
  if (!parts_->heartbeats.stop()) return {};
  wire::GoodbyeRequest goodbye;
  goodbye.set_failed(failed);
  const Session& session = parts_->session;
  session.servers().go_on();
  parts_->comparison.stop();
  // A server that has heard everybody's goodbye ends, perhaps before its answer is on its way: nothing to wait for long.
  const Deadline deadline = Deadline::after_seconds(std::min(kGoodbyeSeconds, session.options().server_wait_seconds));
  const Status answered = session.servers().call(session.to_all(wire::GOODBYE, goodbye), deadline).status();
  const bool gone = answered.code() == Code::unavailable || answered.code() == Code::deadline_exceeded;
  if (!answered.ok() && !gone) return answered;
  if (failed.empty()) notice_left(session.options().job);
  return {};
}

}  // namespace argosy::ps
