#include "argosy/ps/server/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "argosy/base/fd.h"
#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/port_claim.h"
#include "argosy/ps/client/connect_server.h"
#include "argosy/ps/server/primary_link.h"
#include "argosy/ps/server/replica_seat.h"
#include "argosy/ps/server/server_core.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/rpc_server.h"
#include "argosy/table/record_log.h"

namespace argosy::ps {
namespace {

constexpr double kStopGraceSeconds = 2;
constexpr double kFindPrimarySeconds = 5;  // before one of two processes looks whether the job has ended
constexpr double kTellSeconds = 5;  // for followers to read the rest of the log
constexpr uint64_t kMostMessage = (uint64_t{1} << 31) - 1;

// The way to the server that is followed, and the options that follow from what it is.
Result<std::unique_ptr<PrimaryLink>> find_primary(ServerOptions& options) {
  const rpc::ChannelOptions how{.security = options.security,
                                .max_message_bytes = std::min(kMostMessage, options.max_message_bytes + (uint64_t{32} << 20))};
  ASSIGN_OR_RETURN(auto channel, connect_server(options.follow, how));
  auto primary = std::make_unique<PrimaryLink>(std::move(channel), options.run);
  RETURN_IF_ERROR(primary->find(options.follow_wait_seconds));
  const PrimaryInfo& info = primary->info();
  if (!options.follow_job.empty() && options.follow_job != info.job) {
    return Status::failed_precondition(
        "the server at {} is of job '{}', and this follower was asked for job '{}': is it the right "
        "address?",
        options.follow, info.job, options.follow_job);
  }
  options.job = info.job;
  options.run = info.run;
  options.server = info.server;
  options.servers = info.servers;
  options.workers = info.spec.workers;
  return primary;
}

// A follower's own folder: the directory may be another server's too.
Result<Fd> open_follower_folder(ServerOptions& options) {
  if (options.directory.empty()) return Fd();
  options.directory /= fmt::format("follower-{}", options.server);
  RETURN_IF_ERROR(make_folder(options.directory));
  return table::lock_log(options.directory);
}

// One of two processes that was started again when its job had ended: it has nothing to do.
class EndedServer final : public Server {
 public:
  explicit EndedServer(std::string endpoint) : endpoint_(std::move(endpoint)) {}

  const std::string& endpoint() const override { return endpoint_; }
  int port() const override { return 0; }
  bool answers() const override { return true; }
  bool restored() const override { return true; }
  Result<bool> begin_import() override { return false; }
  Status end_import() override { return over(); }
  Status import_dense(size_t, std::optional<size_t>, std::span<const float>) override { return over(); }
  Status import_rows(size_t, std::optional<size_t>, std::span<const uint64_t>, std::span<const float>) override { return over(); }
  Result<SnapshotLoadReport> load_snapshot(const std::filesystem::path&, std::span<const std::string>) override { return over(); }
  rpc::Handler handler() override {
    return [](rpc::Request, rpc::Reply reply) { reply.fail(over()); };
  }
  Result<bool> wait(Deadline) override { return true; }
  Status stop() override { return {}; }

 private:
  static Status over() { return Status::failed_precondition("the job of this server has ended"); }

  const std::string endpoint_;
};

class RunningServer final : public Server {
 public:
  // `primary`, `folder`: of a follower.
  RunningServer(const ServerOptions& options, std::unique_ptr<PrimaryLink> primary, Fd folder)
      : options_(options), folder_(std::move(folder)) {
    if (!options_.replica) core_ = std::make_unique<Core>(options_, std::move(primary));
  }

  ~RunningServer() override {
    if (rpc_ != nullptr) rpc_->stop(Deadline::after_seconds(0));
    if (core_ != nullptr) (void)core_->stop(false);
  }

  Status begin() {
    RETURN_IF_ERROR(claim_port());
    if (options_.replica) return begin_as_told();
    if (options_.follow.empty()) RETURN_IF_ERROR(core_->recover());
    start_core();
    return options_.address.empty() ? Status() : listen();
  }

  // One of two processes: it listens first, for who says which of them it is.
  Status begin_as_told() {
    ASSIGN_OR_RETURN(seat_, ReplicaSeat::make(options_));
    RETURN_IF_ERROR(listen());
    ASSIGN_OR_RETURN(const wire::TakeRoleRequest role,
                     seat_->wait_for_role(Deadline::after_seconds(options_.worker_start_seconds)));
    if (seat_->has_ended()) return {};
    std::unique_ptr<PrimaryLink> primary;
    const bool follows = role.role() == wire::ReplicaStatus::FOLLOWER;
    if (follows) {
      ASSIGN_OR_RETURN(primary, find_primary_while_it_lasts(role.peer()));
      if (primary == nullptr) return {};
    }
    core_ = std::make_unique<Core>(options_, std::move(primary));
    RETURN_IF_ERROR(follows ? core_->begin_standby() : core_->recover());
    if (!follows) RETURN_IF_ERROR(core_->take_role(role));
    start_core();
    seat_->set_core(*core_);
    return {};
  }

  // Null: the job has ended meanwhile, and the primary with it.
  Result<std::unique_ptr<PrimaryLink>> find_primary_while_it_lasts(const std::string& endpoint) {
    const Deadline deadline = Deadline::after_seconds(options_.worker_start_seconds);
    options_.follow = endpoint;
    options_.follow_wait_seconds = std::min(kFindPrimarySeconds, options_.worker_start_seconds);
    for (;;) {
      auto found = find_primary(options_);
      if (found.ok() || found.status().code() != Code::unavailable || deadline.passed()) return found;
      if (seat_->has_ended()) return std::unique_ptr<PrimaryLink>();
    }
  }

  // The job has ended, and this process is to end with it; it has said so to who told it.
  bool has_ended() const { return core_ == nullptr; }
  void stop_listening() { rpc_->stop(Deadline::after_seconds(kStopGraceSeconds)); }

  void start_core() {
    core_->start([this] {
      const rpc::RpcServer* rpc = listening_;
      return rpc == nullptr ? rpc::RpcServerCounters() : rpc->counters();
    });
  }

  Status listen() {
    const rpc::RpcServerOptions listen{
        .address = options_.address,
        .security = options_.security,
        .threads = options_.threads,
        .max_message_bytes = options_.max_message_bytes,
        .lane = [this](uint16_t method) { return seat_ ? seat_->lane_of(method) : core_->lane_of(method); },
        .limits = port_limits()};
    ASSIGN_OR_RETURN(rpc_, rpc::RpcServer::start(listen, handler()));
    endpoint_ = rpc_->endpoint();
    listening_ = rpc_.get();
    return {};
  }

  const std::string& endpoint() const override { return endpoint_; }
  int port() const override { return rpc_ == nullptr ? 0 : rpc_->port(); }

  bool answers() const override { return options_.follow.empty() || options_.replica || core_->state() != nullptr; }
  bool restored() const override { return core_->restored(); }

  Result<bool> begin_import() override { return core_->begin_import(); }
  Status end_import() override { return core_->end_import(); }

  Status import_dense(size_t table, std::optional<size_t> state, std::span<const float> values) override {
    RETURN_IF_ERROR(check_table(table));
    const Range range = core_->state()->tables().range(table);
    const bool scalar = state && values.size() == 1;
    if (!scalar && values.size() != options_.spec->tables[table].size) {
      return Status::invalid_argument("table '{}' has {} elements, {} were given", options_.spec->tables[table].name,
                                      options_.spec->tables[table].size, values.size());
    }
    if (range.size() == 0) return {};
    const auto part = scalar ? values : values.subspan(range.begin, range.size());
    return state ? import_state(table, *state, {}, part)
                 : import_as<wire::ImportDenseRequest>(wire::IMPORT_DENSE, table, {}, part);
  }

  Status import_rows(size_t table, std::optional<size_t> state, std::span<const uint64_t> keys,
                     std::span<const float> values) override {
    RETURN_IF_ERROR(check_table(table));
    if (keys.empty() && state) return import_state(table, *state, keys, values);
    const size_t width = options_.spec->tables[table].width;
    if (values.size() != keys.size() * width)
      return Status::invalid_argument("table '{}': {} keys of width {}, but {} numbers", options_.spec->tables[table].name,
                                      keys.size(), width, values.size());
    std::vector<uint64_t> own;
    std::vector<float> rows;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (server_of(keys[i], options_.servers) != options_.server) continue;
      own.push_back(keys[i]);
      rows.insert(rows.end(), values.begin() + static_cast<std::ptrdiff_t>(i * width),
                  values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    }
    if (own.empty()) return {};
    return state ? import_state(table, *state, own, rows)
                 : import_as<wire::ImportRowsRequest>(wire::IMPORT_ROWS, table, own, rows);
  }

  Result<SnapshotLoadReport> load_snapshot(const std::filesystem::path& folder, std::span<const std::string> only) override {
    wire::LoadSnapshotRequest request;
    request.set_folder(folder.string());
    for (const std::string& table : only) request.add_tables(table);
    ASSIGN_OR_RETURN(const wire::LoadSnapshotReply reply, core_->load_snapshot(request));
    SnapshotLoadReport report{.tables = {}, .extra = reply.extra()};
    for (const wire::TableReport& table : reply.tables()) report.tables.push_back(from_wire(table));
    return report;
  }

  rpc::Handler handler() override {
    return [this](rpc::Request request, rpc::Reply reply) {
      seat_ ? seat_->handle(std::move(request), std::move(reply)) : core_->handle(std::move(request), std::move(reply));
    };
  }

  Result<bool> wait(Deadline deadline) override { return core_->wait(deadline); }

  Status stop() override {
    core_->tell_followers(Deadline::after_seconds(kTellSeconds));
    if (rpc_ != nullptr) rpc_->stop(Deadline::after_seconds(kStopGraceSeconds));
    return core_->stop(true);
  }

 private:
  // A launcher has the claims of its processes' ports.
  Status claim_port() {
    if (options_.address.empty() || !options_.launch.empty()) return {};
    ASSIGN_OR_RETURN(const Address address, Address::parse_with_port(options_.address));
    if (address.port == 0) return {};
    auto claim = PortClaim::take(address);
    if (!claim.ok()) return claim.status().with_context("cannot listen on {}", options_.address);
    claim_ = std::move(*claim);
    return {};
  }

  // Each worker has two connections to each server, and two more while it comes back.
  rpc::RpcLimits port_limits() const {
    rpc::RpcLimits limits{.reply_bytes = options_.reply_limit_bytes};
    const auto workers = static_cast<uint64_t>(options_.spec ? options_.spec->workers : options_.workers);
    if (workers > 0) limits.connections = 64 + 4 * workers;
    limits.streams = std::min(limits.streams, limits.connections + 64);
    return limits;
  }

  Status check_table(size_t table) const {
    if (options_.spec && table < options_.spec->tables.size()) return {};
    return Status::invalid_argument("there is no table {} whose values could be set", table);
  }

  template <typename Message>
  Status send(wire::Method method, const Message& message, std::span<const uint64_t> keys, std::span<const float> values) {
    std::vector<std::byte> payload(keys.size_bytes() + values.size_bytes());
    if (!keys.empty()) std::memcpy(payload.data(), keys.data(), keys.size_bytes());
    if (!values.empty()) std::memcpy(payload.data() + keys.size_bytes(), values.data(), values.size_bytes());
    return core_->import(method, message.SerializeAsString(), payload);
  }
  template <typename Message>
  Status import_as(wire::Method method, size_t table, std::span<const uint64_t> keys, std::span<const float> values) {
    Message message;
    message.set_table(static_cast<uint32_t>(table));
    if constexpr (requires { message.set_count(0); }) message.set_count(keys.size());
    return send(method, message, keys, values);
  }
  Status import_state(size_t table, size_t state, std::span<const uint64_t> keys, std::span<const float> values) {
    wire::ImportStateRequest message;
    message.set_table(static_cast<uint32_t>(table));
    message.set_state(static_cast<uint32_t>(state));
    message.set_count(keys.size());
    return send(wire::IMPORT_STATE, message, keys, values);
  }

  ServerOptions options_;  // constant once there is a core
  const Fd folder_;        // locked
  std::optional<PortClaim> claim_;
  std::string endpoint_;
  std::unique_ptr<ReplicaSeat> seat_;  // of one of two processes; else null
  std::unique_ptr<Core> core_;         // constant once it serves
  std::unique_ptr<rpc::RpcServer> rpc_;
  std::atomic<const rpc::RpcServer*> listening_ = nullptr;  // rpc_, for calls that come while it is being assigned
};

}  // namespace

Status Server::available() { return {}; }

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options) {
  RETURN_IF_ERROR(options.check());
  ServerOptions settled = options;
  std::unique_ptr<PrimaryLink> primary;
  Fd folder;
  if (!options.follow.empty() && !options.replica) {
    ASSIGN_OR_RETURN(primary, find_primary(settled));
    ASSIGN_OR_RETURN(folder, open_follower_folder(settled));
  }
  auto server = std::make_unique<RunningServer>(settled, std::move(primary), std::move(folder));
  RETURN_IF_ERROR(server->begin());
  if (!server->has_ended()) return std::unique_ptr<Server>(std::move(server));
  log_info("server {}: the job ended while this process was started again, and so does it", options.server);
  server->stop_listening();
  return std::unique_ptr<Server>(std::make_unique<EndedServer>(server->endpoint()));
}

}  // namespace argosy::ps
