#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "argosy/ps/server/server.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/in_process.h"

// What tests of servers share: small jobs, and a worker that speaks the messages one by one, without the client's retries.
namespace argosy::ps::scratch {

inline Status status_of(const Status& status) { return status; }
template <typename T>
Status status_of(const Result<T>& result) {
  return result.status();
}
template <typename T>
std::string message_of(const T& result) {
  return status_of(result).to_string();
}

// A copy: `expression` may be a reference into what is gone after it.
#define ASSERT_OK(expression)                                   \
  do {                                                          \
    const Status status_of_it = status_of(expression);          \
    ASSERT_TRUE(status_of_it.ok()) << status_of_it.to_string(); \
  } while (false)

// A sparse table of `width` that starts at 0 and is trained by SGD at rate 1: pushing -1 counts.
inline TableSpec counting_rows(std::string name = "rows", uint32_t width = 2) {
  TableSpec table;
  table.name = std::move(name);
  table.sparse = true;
  table.width = width;
  table.schedule = optim::LearningRate(1.0).to_schedule();
  return table;
}

inline TableSpec counting_dense(std::string name = "dense", uint64_t size = 4) {
  TableSpec table;
  table.name = std::move(name);
  table.size = size;
  table.schedule = optim::LearningRate(1.0).to_schedule();
  return table;
}

inline JobSpec job(Mode mode, int workers, std::vector<TableSpec> tables) { return {mode, workers, std::move(tables)}; }

// Of all servers and workers that say nothing else.
inline const std::string kRun = "0123456789abcdef";

// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "argosy-ps-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Rows {
  uint32_t table = 0;
  std::vector<uint64_t> keys;
  std::vector<float> values;
};

// Adds `by` to every value of these rows of a counting table.
inline Rows count_at(std::vector<uint64_t> keys, float by = 1, uint32_t table = 0, size_t width = 2) {
  std::vector<float> values(keys.size() * width, -by);
  return {table, std::move(keys), std::move(values)};
}

struct Dense {
  uint32_t table = 0;
  std::vector<float> values;
};

// The way to a server that may be replaced by its successor. Not while calls are under way.
struct Link {
  std::unique_ptr<rpc::Channel> channel;
};

// One worker process, as a server sees it. Thread-compatible, but for calls that only read.
class Worker {
 public:
  Worker(std::shared_ptr<Link> link, JobSpec spec, int index, uint64_t process_id)
      : link_(std::move(link)), spec_(std::move(spec)), index_(index), process_id_(process_id) {}

  template <typename Reply, typename Request>
  Result<Reply> call(wire::Method method, const Request& request, std::vector<rpc::Slice> payload = {}, double seconds = 10,
                     rpc::PayloadBuffer* received = nullptr) {
    const rpc::Message message{static_cast<uint16_t>(method), request.SerializeAsString(), std::move(payload)};
    auto answer = link_->channel->call_and_wait(message, Deadline::after_seconds(seconds));
    while (answer.status().code() == Code::unauthenticated && method != wire::COMPARE) {
      const Status compared = compare();
      if (compared.code() == Code::unavailable) return compared;  // the server is away again
      if (!compared.ok()) break;                                  // a stranger, or one that only reads
      answer = link_->channel->call_and_wait(message, Deadline::after_seconds(seconds));
    }
    if (!answer.ok()) return answer.status();
    Reply reply;
    if (!reply.ParseFromString(answer->header)) return Status::data_loss("the answer cannot be read");
    if (received != nullptr) *received = std::move(answer->payload);
    return reply;
  }

  wire::HelloRequest hello_request() const {
    wire::HelloRequest request;
    request.set_version(kProtocolVersion);
    request.set_job("test");
    request.set_worker(static_cast<uint32_t>(index_));
    request.set_servers(static_cast<uint32_t>(servers_));
    request.set_server(static_cast<uint32_t>(server_));
    *request.mutable_spec() = to_wire(spec_);
    request.set_process("host:" + std::to_string(process_id_));
    request.set_process_id(process_id_);
    request.set_run(run_);
    return request;
  }
  void set_run(const std::string& run) { run_ = run; }
  void set_server(int server, int servers) { server_ = server, servers_ = servers; }

  Result<wire::HelloReply> hello() {
    auto reply = call<wire::HelloReply>(wire::HELLO, hello_request());
    if (reply.ok()) incarnation_ = reply->incarnation();
    if (reply.ok() && run_.empty()) run_ = reply->run();
    return reply;
  }

  // As one who only reads.
  Result<wire::HelloReply> observe() {
    wire::HelloRequest request = hello_request();
    request.set_observer(true);
    auto reply = call<wire::HelloReply>(wire::HELLO, request);
    if (reply.ok()) incarnation_ = reply->incarnation();
    return reply;
  }

  // Tells a process that was started again that nothing is missing in it, whatever there is.
  Status compare() {
    wire::CompareRequest request;
    *request.mutable_caller() = caller();
    const auto found = call<wire::CompareReply>(wire::COMPARE, request);
    if (!found.ok()) return found.status();
    request.set_boot(found->boot());
    return call<wire::CompareReply>(wire::COMPARE, request).status();
  }

  wire::Caller caller() const {
    wire::Caller caller;
    caller.set_job("test");
    caller.set_run(run_);
    caller.set_worker(static_cast<uint32_t>(index_));
    caller.set_incarnation(incarnation_);
    return caller;
  }

  Status init_dense(uint32_t table, std::vector<float> values) {
    wire::InitDenseRequest request;
    *request.mutable_caller() = caller();
    request.set_table(table);
    return call<wire::InitDenseReply>(wire::INIT_DENSE, request, {rpc::Slice::own(std::move(values))}).status();
  }

  // Sections must be in the order of tables; dense ones after sparse ones where both are there.
  Result<wire::Outcome> push(std::vector<uint64_t> batches, std::vector<Rows> rows, std::vector<Dense> dense = {},
                             std::optional<Position> step = {}) {
    wire::PushRequest request;
    *request.mutable_caller() = caller();
    request.set_sequence(++sequence_);
    request.mutable_batches()->Assign(batches.begin(), batches.end());
    if (step) *request.mutable_step() = to_wire(*step);
    std::vector<rpc::Slice> keys, values;
    for (Rows& part : rows) {
      wire::Section* section = request.add_sections();
      section->set_table(part.table);
      section->set_count(part.keys.size());
      keys.push_back(rpc::Slice::own(std::move(part.keys)));
      values.push_back(rpc::Slice::own(std::move(part.values)));
    }
    for (Dense& part : dense) {
      wire::Section* section = request.add_sections();
      section->set_table(part.table);
      section->set_count(part.values.size());
      values.push_back(rpc::Slice::own(std::move(part.values)));
    }
    keys.insert(keys.end(), values.begin(), values.end());
    auto reply = call<wire::PushReply>(wire::PUSH, request, std::move(keys));
    if (!reply.ok()) return reply.status();
    return reply->outcome();
  }

  Result<std::vector<float>> pull_rows(uint32_t table, std::vector<uint64_t> keys, std::optional<Position> min_step = {},
                                       double seconds = 10) {
    wire::PullRowsRequest request;
    *request.mutable_caller() = caller();
    request.set_create(incarnation_ != 0 && incarnation_ >> 63 == 0);
    if (min_step) *request.mutable_min_step() = to_wire(*min_step);
    wire::Section* section = request.add_sections();
    section->set_table(table);
    section->set_count(keys.size());
    rpc::PayloadBuffer payload;
    auto reply = call<wire::PullRowsReply>(wire::PULL_ROWS, request, {rpc::Slice::own(std::move(keys))}, seconds, &payload);
    if (!reply.ok()) return reply.status();
    return floats(payload);
  }

  Result<std::vector<float>> pull_dense(uint32_t table, std::optional<Position> min_step = {}, double seconds = 10) {
    wire::PullDenseRequest request;
    *request.mutable_caller() = caller();
    if (min_step) *request.mutable_min_step() = to_wire(*min_step);
    request.add_tables(table);
    rpc::PayloadBuffer payload;
    auto reply = call<wire::PullDenseReply>(wire::PULL_DENSE, request, {}, seconds, &payload);
    if (!reply.ok()) return reply.status();
    return floats(payload);
  }

  Status leave(uint32_t round, uint32_t steps) {
    wire::LeaveRequest request;
    *request.mutable_caller() = caller();
    request.set_round(round);
    request.set_steps(steps);
    return call<wire::LeaveReply>(wire::LEAVE, request).status();
  }

  Status goodbye() {
    wire::GoodbyeRequest request;
    *request.mutable_caller() = caller();
    return call<wire::GoodbyeReply>(wire::GOODBYE, request).status();
  }

  // The process ends with an error, and says so.
  Status fail(const std::string& why) {
    wire::GoodbyeRequest request;
    *request.mutable_caller() = caller();
    request.set_failed(why);
    return call<wire::GoodbyeReply>(wire::GOODBYE, request).status();
  }

  Status heartbeat() {
    wire::HeartbeatRequest request;
    *request.mutable_caller() = caller();
    return call<wire::HeartbeatReply>(wire::HEARTBEAT, request).status();
  }

  Result<std::vector<std::string>> gather(const std::string& name, uint64_t number, std::string bytes, double seconds = 10) {
    wire::GatherRequest request;
    *request.mutable_caller() = caller();
    request.set_name(name);
    request.set_call(number);
    rpc::PayloadBuffer payload;
    auto reply = call<wire::GatherReply>(wire::GATHER, request, {rpc::Slice::own(std::move(bytes))}, seconds, &payload);
    if (!reply.ok()) return reply.status();
    std::vector<std::string> parts;
    const char* next = reinterpret_cast<const char*>(payload.data());
    for (const uint64_t size : reply->sizes()) {
      parts.emplace_back(next, size);
      next += size;
    }
    return parts;
  }

  Result<wire::StatsReply> stats() {
    wire::StatsRequest request;
    *request.mutable_caller() = caller();
    return call<wire::StatsReply>(wire::STATS, request);
  }

  uint64_t incarnation() const { return incarnation_; }

 private:
  static std::vector<float> floats(const rpc::PayloadBuffer& payload) {
    const auto values = payload.values<float>(0, payload.size() / sizeof(float));
    return {values.begin(), values.end()};
  }

  std::shared_ptr<Link> link_;
  JobSpec spec_;
  int index_;
  uint64_t process_id_;
  std::string run_ = kRun;
  int server_ = 0, servers_ = 1;
  uint64_t incarnation_ = 0;
  uint64_t sequence_ = 0;
};

// A server without a port, and the way to it. Destroying it is the death of its process: no last snapshot.
class InProcess {
 public:
  static ServerOptions options() {
    ServerOptions options;
    options.address = "";
    options.job = "test";
    options.run = kRun;
    return options;
  }

  explicit InProcess(const ServerOptions& options) : options_(options) { start(); }
  ~InProcess() { kill(); }

  void start() {
    auto started = Server::start(options_);
    ARGOSY_CHECK(started.ok(), started.status().message());
    server = std::move(*started);
    link->channel = rpc::connect_in_process(server->handler(), {.threads = 4, .name = "server"});
  }
  void kill() {
    link->channel.reset();
    server.reset();
  }
  void restart() {
    kill();
    start();
  }

  Worker worker(const JobSpec& spec, int index) {
    static std::atomic<uint64_t> next{1000};
    return Worker(link, spec, index, next++);
  }

  std::unique_ptr<Server> server;
  const std::shared_ptr<Link> link = std::make_shared<Link>();

 private:
  const ServerOptions options_;
};

}  // namespace argosy::ps::scratch
