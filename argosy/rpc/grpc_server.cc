#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <chrono>

#include "argosy/base/address.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/notice.h"
#include "argosy/base/thread.h"
#include "argosy/rpc/credentials.h"
#include "argosy/rpc/endpoint.h"
#include "argosy/rpc/grpc_library.h"
#include "argosy/rpc/grpc_settings.h"
#include "argosy/rpc/rpc_server.h"
#include "argosy/rpc/server_stream.h"
#include "argosy/rpc/wire_frame.h"

namespace argosy::rpc {
namespace {

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(std::shared_ptr<ServerShared> shared) : shared_(std::move(shared)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    return ServerStream::open(shared_, context);
  }

 private:
  std::shared_ptr<ServerShared> shared_;
};

void set_arguments(grpc::ServerBuilder& builder, const RpcLimits& limits) {
  builder.SetMaxReceiveMessageSize(kLargestFrame);  // our own limit ends one call, gRPC's would end the stream
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // or two servers share one port without a word
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttpFrameBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindowBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, kFirstReadBytes);
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kLargestReadChunkBytes);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingEveryMs / 2);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, limits.streams_per_connection);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, static_cast<int>(limits.stranger_seconds * 1000));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
}

void warn_of_open_address(const Address& endpoint, const Security& security) {
  const auto address = local_address(endpoint.host);
  if (address && is_loopback(*address)) return;
  if (!security.tls() && security.token.empty()) {
    notice(LogLevel::warning,
           "{} can be reached from other machines, and anybody there may call it: it has neither TLS nor a job token",
           endpoint.to_string());
  } else if (!security.tls()) {
    notice(LogLevel::warning,
           "{} can be reached from other machines without TLS: the job token and the data cross the network as plain text",
           endpoint.to_string());
  }
}

using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

// One gRPC server with the service, on one address or behind a door.
struct Listener {
  Listener(std::shared_ptr<ServerShared> shared, const RpcLimits& port_limits)
      : service(std::move(shared)), limits(port_limits) {}

  // False where the address cannot be had.
  bool listen(const std::string& address, std::shared_ptr<grpc::ServerCredentials> credentials) {
    int port = 0;
    grpc::ServerBuilder builder;
    set_arguments(builder, limits);
    builder.RegisterCallbackGenericService(&service);
    builder.AddListeningPort(address, std::move(credentials), &port);
    server = builder.BuildAndStart();
    return server != nullptr && port != 0;
  }
  bool listen(Door& door, std::shared_ptr<grpc::ServerCredentials> credentials) {
    using Builder = grpc::ServerBuilder::experimental_type;
    grpc::ServerBuilder builder;
    set_arguments(builder, limits);
    builder.RegisterCallbackGenericService(&service);
    acceptor =
        builder.experimental().AddExternalConnectionAcceptor(Builder::ExternalConnectionType::FROM_FD, std::move(credentials));
    server = builder.BuildAndStart();
    if (server == nullptr) return false;
    door.start([this](int listener, int connection) {
      Acceptor::NewConnectionParameters parameters;
      parameters.listener_fd = listener;
      parameters.fd = connection;
      acceptor->HandleNewConnection(&parameters);
    });
    return true;
  }
  void stop() {
    if (server == nullptr) return;
    server->Shutdown(std::chrono::system_clock::now());
    server.reset();
  }

  Service service;
  const RpcLimits limits;
  std::unique_ptr<Acceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

class GrpcServer final : public RpcServer {
 public:
  explicit GrpcServer(std::shared_ptr<ServerShared> shared)
      : shared_(std::move(shared)), tcp_(shared_, shared_->limits), unix_(shared_, shared_->limits) {}
  ~GrpcServer() override { stop(Deadline::after(std::chrono::nanoseconds(0))); }

  Status listen(Address endpoint, const RpcServerOptions& options) {
    ASSIGN_OR_RETURN(auto credentials, server_credentials(options.security));
    ASSIGN_OR_RETURN(shared_->door, Door::open(endpoint, shared_->token, shared_->limits));
    endpoint.port = shared_->door->port();
    shared_->endpoint = endpoint.to_string();
    if (!tcp_.listen(*shared_->door, credentials)) {
      return Status::unavailable("cannot listen on {}: gRPC did not start", endpoint.to_string());
    }
    if (options.unix_socket && !options.security.tls()) listen_on_socket(endpoint, credentials);
    return Status::ok_status();
  }

  int port() const override { return shared_->door->port(); }
  const std::string& endpoint() const override { return shared_->endpoint; }
  RpcServerCounters counters() const override {
    const Door::Counters door = shared_->door->counters();
    const RpcLimits& limits = shared_->limits;
    return {.calls = shared_->calls,
            .refused = shared_->refused + door.wrong_passes,
            .bytes_in = shared_->bytes_in,
            .bytes_out = shared_->bytes_out,
            .limits = {door.connections,
                       door.strangers,
                       {"streams", shared_->streams, limits.streams, shared_->streams_refused},
                       {"reply_limit", shared_->under_way->unsent_bytes(), limits.reply_bytes, shared_->replies_refused},
                       {"expired_replies", shared_->replies_expired, 0, 0}}};
  }

  void stop(Deadline grace) override {
    MutexLock lock(stopping_);
    shared_->under_way->close_and_wait(grace);
    if (shared_->door != nullptr) shared_->door->stop();
    unix_.stop();
    tcp_.stop();
    shared_->turns.stop();
    shared_->changes.stop();
    shared_->reads.stop();
    shared_->urgent.stop();
  }

 private:
  // Holding the TCP port gives the right to the socket of its name: one that is left there belonged to a server that died.
  void listen_on_socket(const Address& endpoint, std::shared_ptr<grpc::ServerCredentials> credentials) {
    const auto address = local_address(endpoint.host);
    const auto path = address ? socket_path(*address, endpoint.port) : std::nullopt;
    if (!path) return;
    if (!unix_.listen("unix:" + *path, std::move(credentials))) {
      log_warning("server {} could not listen on the Unix socket {}; callers on this machine use TCP", endpoint.to_string(),
                  *path);
    }
  }

  std::shared_ptr<ServerShared> shared_;
  Mutex stopping_;
  Listener tcp_, unix_;
};

}  // namespace

Result<std::unique_ptr<RpcServer>> RpcServer::start(const RpcServerOptions& options, Handler handler) {
  ASSIGN_OR_RETURN(const Address endpoint, Address::parse_with_port(options.address));
  const int threads = options.threads > 0 ? options.threads : std::max(2, available_cores());
  auto shared = std::make_shared<ServerShared>(std::move(handler), threads);
  shared->endpoint = options.address;
  shared->token = options.security.token;
  shared->max_message_bytes = options.max_message_bytes;
  shared->lane = options.lane;
  shared->limits = options.limits;
  keep_grpc();
  auto server = std::make_unique<GrpcServer>(std::move(shared));
  RETURN_IF_ERROR(server->listen(endpoint, options));
  warn_of_open_address(endpoint, options.security);
  return std::unique_ptr<RpcServer>(std::move(server));
}

}  // namespace argosy::rpc
