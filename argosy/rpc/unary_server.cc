#include "argosy/rpc/unary_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "argosy/base/address.h"
#include "argosy/base/mutex.h"
#include "argosy/rpc/grpc_library.h"
#include "argosy/rpc/grpc_settings.h"
#include "argosy/rpc/unary_call.h"

namespace argosy::rpc {
namespace {

constexpr int kHandshakeMs = 10'000;

Status cannot_listen(const Address& address) {
  return Status::unavailable(
      "cannot listen at {}: the port is taken, or the address is not this machine's; port 0 takes a free one",
      address.to_string());
}

class UnaryService final : public grpc::CallbackGenericService {
 public:
  explicit UnaryService(std::shared_ptr<UnaryShared> shared) : shared_(std::move(shared)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    return UnaryCall::open(shared_, context);
  }

 private:
  std::shared_ptr<UnaryShared> shared_;
};

class GrpcUnaryServer final : public UnaryServer {
 public:
  GrpcUnaryServer(const UnaryServerOptions& options, UnaryMethods methods)
      : shared_(std::make_shared<UnaryShared>(options, std::move(methods))), service_(shared_) {}
  ~GrpcUnaryServer() override { stop(Deadline::after(std::chrono::nanoseconds(0))); }

  Status listen(const Address& address) {
    const UnaryServerOptions& options = shared_->options;
    if (address.port != 0 && is_port_in_use(address)) return cannot_listen(address);  // gRPC would write a page about it
    grpc::ServerBuilder builder;
    constexpr size_t kMost = std::numeric_limits<int>::max();
    builder.SetMaxReceiveMessageSize(static_cast<int>(std::min(options.max_request_bytes, kMost)));
    builder.SetMaxSendMessageSize(-1);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // or two servers share one port without a word
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 2 * options.max_calls);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
    builder.RegisterCallbackGenericService(&service_);
    builder.AddListeningPort(address.to_string(), grpc::InsecureServerCredentials(), &port_);
    server_ = builder.BuildAndStart();
    if (server_ != nullptr && port_ != 0) return {};
    return cannot_listen(address);
  }

  int port() const override { return port_; }

  void stop(Deadline grace) override {
    MutexLock lock(stopping_);
    if (server_ == nullptr) return;
    const auto left = std::chrono::duration<double>(std::max(0.0, grace.seconds_left()));
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::microseconds>(left));
    shared_->calls.stop();
    shared_->urgent.stop();
    server_.reset();
  }

 private:
  const std::shared_ptr<UnaryShared> shared_;
  UnaryService service_;
  int port_ = 0;
  Mutex stopping_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

Result<std::unique_ptr<UnaryServer>> UnaryServer::start(const UnaryServerOptions& options, UnaryMethods methods) {
  ASSIGN_OR_RETURN(const Address address, Address::parse_with_port(options.address));
  keep_grpc();
  auto server = std::make_unique<GrpcUnaryServer>(options, std::move(methods));
  RETURN_IF_ERROR(server->listen(address));
  return std::unique_ptr<UnaryServer>(std::move(server));
}

}  // namespace argosy::rpc
