#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "argosy/base/log.h"
#include "argosy/base/thread.h"
#include "argosy/rpc/credentials.h"
#include "argosy/rpc/endpoint.h"
#include "argosy/rpc/frame.h"
#include "argosy/rpc/grpc_bytes.h"
#include "argosy/rpc/grpc_settings.h"
#include "argosy/rpc/server.h"
#include "argosy/rpc/work_pool.h"

namespace argosy::rpc {
namespace {

using std::chrono::system_clock;

// What the calls of a server share; constant but for the counters, which are atomic.
struct Shared {
  Handler handler;
  std::string endpoint;
  std::string token;
  WorkPool pool;
  std::atomic<uint64_t> calls{0}, refused{0}, bytes_in{0}, bytes_out{0};

  Shared(Handler handler, int threads) : handler(std::move(handler)), pool("rpc-handler", threads) {}
};

Deadline steady_deadline(system_clock::time_point when) {
  constexpr std::chrono::hours kLong(24 * 365);
  const auto now = system_clock::now();
  return Deadline::after(when > now + kLong ? kLong : std::chrono::nanoseconds(when - now));
}

// One call from its first byte to its answer. gRPC's view of it ends with OnDone; a handler that keeps the Reply may hold the
// object longer. Whoever sets answered_ first, the answer or the end of the caller, gives gRPC its finish.
class Call final : public grpc::ServerGenericBidiReactor, public ReplySink, public std::enable_shared_from_this<Call> {
 public:
  static std::shared_ptr<Call> begin(std::shared_ptr<Shared> shared, grpc::GenericCallbackServerContext* context) {
    auto call = std::make_shared<Call>(std::move(shared), context);
    call->self_ = call;
    return call;
  }
  Call(std::shared_ptr<Shared> shared, grpc::GenericCallbackServerContext* context)
      : shared_(std::move(shared)), peer_(context->peer()), deadline_(steady_deadline(context->deadline())) {}

  void read() { StartRead(&request_); }

  // The caller gets `status` in a frame of ours.
  void refuse(const Status& status) {
    shared_->refused.fetch_add(1, std::memory_order_relaxed);
    finish(status, {}, {});
  }

  void OnReadDone(bool ok) override {
    if (!ok) return refuse(Status::invalid_argument("a call without a message"));
    shared_->bytes_in.fetch_add(request_.Length(), std::memory_order_relaxed);
    shared_->pool.add([call = shared_from_this()] { call->handle(); });
  }

  void OnCancel() override {
    cancelled_ = true;
    if (!answered_.exchange(true)) Finish(grpc::Status::CANCELLED);
  }

  void OnDone() override { self_.reset(); }

  void finish(Status status, std::string header, std::vector<Slice> payload) override {
    if (answered_.exchange(true)) return;
    if (status.ok()) status = check_frame_size(header.size(), payload_bytes(payload), kLargestFrame);
    answer_ = status.ok() ? to_byte_buffer(0, header, payload)
                          : to_byte_buffer(static_cast<uint16_t>(status.code()), status.message(), {});
    shared_->bytes_out.fetch_add(answer_.Length(), std::memory_order_relaxed);
    StartWriteAndFinish(&answer_, grpc::WriteOptions(), grpc::Status::OK);
  }

  bool cancelled() const override { return cancelled_; }

 private:
  void handle() {
    auto frame = decode_frame(request_);
    request_.Clear();
    if (!frame.ok()) return refuse(frame.status().with_context("server {}", shared_->endpoint));
    Reply reply(shared_from_this());
    if (frame->kind == kPingMethod) return reply.send({});
    shared_->calls.fetch_add(1, std::memory_order_relaxed);
    shared_->handler(Request{frame->kind, std::move(frame->header), std::move(frame->payload), peer_, deadline_},
                     std::move(reply));
  }

  const std::shared_ptr<Shared> shared_;
  const std::string peer_;
  const Deadline deadline_;
  grpc::ByteBuffer request_, answer_;
  std::atomic<bool> answered_{false}, cancelled_{false};
  std::shared_ptr<Call> self_;  // until OnDone
};

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    const auto call = Call::begin(shared_, context);
    if (Status token = check_token(*context); !token.ok()) {
      call->refuse(token);
    } else {
      call->read();
    }
    return call.get();
  }

 private:
  Status check_token(const grpc::GenericCallbackServerContext& context) const {
    if (shared_->token.empty()) return Status::ok_status();
    const auto sent = context.client_metadata().find(kTokenKey);
    if (sent == context.client_metadata().end()) {
      return Status::unauthenticated("server {} asks for the job's token, and {} sent none; give both sides the same one",
                                     shared_->endpoint, context.peer());
    }
    if (!same_token({sent->second.data(), sent->second.size()}, shared_->token)) {
      return Status::unauthenticated(
          "server {} has another job token than {}; give both sides the same one, or is it another job's server?",
          shared_->endpoint, context.peer());
    }
    return Status::ok_status();
  }

  std::shared_ptr<Shared> shared_;
};

void set_arguments(grpc::ServerBuilder& builder, size_t max_message_bytes) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(std::min(max_message_bytes, kLargestFrame)));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // or two servers share one port without a word
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttpFrameBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindowBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadChunkBytes);
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kLargestReadChunkBytes);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingEveryMs / 2);
}

void warn_of_open_address(const Endpoint& endpoint, const Security& security) {
  const auto address = local_address(endpoint.host);
  if (address && is_loopback(*address)) return;
  if (!security.tls() && security.token.empty()) {
    log_warning("{} can be reached from other machines, and anybody there may call it: it has neither TLS nor a job token",
                endpoint.to_string());
  } else if (!security.tls()) {
    log_warning("{} can be reached from other machines without TLS: the job token and the data cross the network as plain text",
                endpoint.to_string());
  }
}

// One gRPC server with the service on one address.
struct Listener {
  Listener(std::shared_ptr<Shared> shared) : service(std::move(shared)) {}

  // False where the address cannot be had.
  bool listen(const std::string& address, std::shared_ptr<grpc::ServerCredentials> credentials, size_t max_message_bytes) {
    grpc::ServerBuilder builder;
    set_arguments(builder, max_message_bytes);
    builder.RegisterCallbackGenericService(&service);
    builder.AddListeningPort(address, std::move(credentials), &port);
    server = builder.BuildAndStart();
    return server != nullptr && port != 0;
  }
  void stop(Deadline grace) {
    if (server == nullptr) return;
    const auto left = std::max<std::chrono::nanoseconds>(grace.when() - SteadyClock::now(), std::chrono::nanoseconds(0));
    server->Shutdown(system_clock::now() + std::chrono::duration_cast<system_clock::duration>(left));
    server.reset();
  }

  Service service;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

class GrpcServer final : public Server {
 public:
  explicit GrpcServer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)), tcp_(shared_), unix_(shared_) {}
  ~GrpcServer() override { stop(Deadline::after(std::chrono::nanoseconds(0))); }

  Status listen(Endpoint endpoint, const ServerOptions& options) {
    ASSIGN_OR_RETURN(auto credentials, server_credentials(options.security));
    RETURN_IF_ERROR(check_free(endpoint));
    if (!tcp_.listen(endpoint.to_string(), credentials, options.max_message_bytes)) {
      return Status::unavailable("cannot listen on {}: gRPC could not take the address", endpoint.to_string());
    }
    endpoint.port = tcp_.port;
    shared_->endpoint = endpoint.to_string();
    if (options.unix_socket && !options.security.tls()) listen_on_socket(endpoint, credentials, options.max_message_bytes);
    return Status::ok_status();
  }

  int port() const override { return tcp_.port; }
  const std::string& endpoint() const override { return shared_->endpoint; }
  ServerCounters counters() const override { return {shared_->calls, shared_->refused, shared_->bytes_in, shared_->bytes_out}; }

  void stop(Deadline grace) override {
    std::lock_guard lock(stopping_);
    unix_.stop(grace);
    tcp_.stop(grace);
    shared_->pool.stop();
  }

 private:
  // Holding the TCP port gives the right to the socket of its name: one that is left there belonged to a server that died.
  void listen_on_socket(const Endpoint& endpoint, std::shared_ptr<grpc::ServerCredentials> credentials,
                        size_t max_message_bytes) {
    const auto address = local_address(endpoint.host);
    const auto path = address ? socket_path(*address, endpoint.port) : std::nullopt;
    if (!path) return;
    if (!unix_.listen("unix:" + *path, std::move(credentials), max_message_bytes)) {
      log_warning("server {} could not listen on the Unix socket {}; callers on this machine use TCP", endpoint.to_string(),
                  *path);
    }
  }

  std::shared_ptr<Shared> shared_;
  std::mutex stopping_;
  Listener tcp_, unix_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Handler handler) {
  ASSIGN_OR_RETURN(const Endpoint endpoint, parse_endpoint(options.address));
  const int threads = options.threads > 0 ? options.threads : std::max(2, available_cores());
  auto shared = std::make_shared<Shared>(std::move(handler), threads);
  shared->endpoint = options.address;
  shared->token = options.security.token;
  auto server = std::make_unique<GrpcServer>(std::move(shared));
  RETURN_IF_ERROR(server->listen(endpoint, options));
  warn_of_open_address(endpoint, options.security);
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace argosy::rpc
