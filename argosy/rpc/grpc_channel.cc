#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "argosy/base/address.h"
#include "argosy/base/endpoint_name.h"
#include "argosy/base/mutex.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/client_stream.h"
#include "argosy/rpc/credentials.h"
#include "argosy/rpc/door_greeting.h"
#include "argosy/rpc/endpoint.h"
#include "argosy/rpc/grpc_library.h"
#include "argosy/rpc/grpc_settings.h"
#include "argosy/rpc/named_channel.h"
#include "argosy/rpc/wire_frame.h"

namespace argosy::rpc {
namespace {

constexpr std::chrono::milliseconds kTryEvery{50};  // while a peer is waited for

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestFrame);  // our own limit ends one call, gRPC's would end the stream
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttpFrameBytes);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindowBytes);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadChunkBytes);
  arguments.SetInt(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kLargestReadChunkBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, kResolveEveryMs);
  // A channel has a connection of its own, goes to the address that it was given, and repeats nothing by itself.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return arguments;
}

std::string unreachable_hint(const Security& security) {
  if (!security.tls()) return "is it running? If it uses TLS, this side needs TLS too, and it has none";
  return fmt::format(
      "is it running? This side uses TLS (authority '{}', certificate '{}'): the server must use it too, with a certificate "
      "for this address that the authority signed, and must accept this side's",
      security.ca, security.certificate);
}

// A way to reach the peer: by TCP, or by the Unix socket of a server on this machine.
struct Route {
  Route(std::shared_ptr<grpc::Channel> channel, std::string socket)
      : channel(std::move(channel)), stub(this->channel), socket(std::move(socket)) {}

  std::shared_ptr<grpc::Channel> channel;
  grpc::GenericStub stub;
  std::string socket;  // empty for TCP
  Deadline dead_until = Deadline::after_seconds(0);
};

class GrpcChannel final : public Channel {
 public:
  GrpcChannel(std::shared_ptr<ClientShared> shared, std::vector<Route> routes)
      : shared_(std::move(shared)), tcp_(routes.back().channel), routes_(std::move(routes)) {}

  ~GrpcChannel() override {
    shared_->calls.stop();
    MutexLock lock(mutex_);
    closed_ = true;
    stream_.reset();
    for (const auto& [number, stream] : open_) {
      if (stream != nullptr) stream->cancel();
    }
    stream_ended_.wait(lock, [&]() ARGOSY_REQUIRES(mutex_) { return open_.empty(); });
  }

  void call(Message message, Deadline deadline, Callback done) override {
    if (deadline.passed()) {
      return done(
          Status::deadline_exceeded("the deadline of a call of method {} to {} has passed", message.method, shared_->peer));
    }
    const size_t bytes = payload_bytes(message.payload);
    if (Status size = check_frame_size(message.header.size(), bytes, shared_->max_message_bytes); !size.ok()) {
      return done(size.with_context("call of method {} to {}", message.method, shared_->peer));
    }
    const auto stream = open_stream();
    const CallTable::Id id = stream == nullptr ? 0 : shared_->calls.begin(message.method, deadline, stream->number(), done);
    if (id == 0) return done(Status::cancelled("the channel to {} is closed", shared_->peer));
    stream->send(id, message, deadline);
  }

  Status wait_ready(Deadline deadline) override;
  const std::string& peer() const override { return shared_->peer; }

 private:
  // The stream in use, or a new one; null once the channel is closed.
  std::shared_ptr<ClientStream> open_stream();
  Route& best_route() ARGOSY_REQUIRES(mutex_);
  void stream_ended(Route& route, uint64_t number, const grpc::Status& status);

  const std::shared_ptr<ClientShared> shared_;
  const std::shared_ptr<grpc::Channel> tcp_;
  Mutex mutex_;
  ConditionVariable stream_ended_;
  std::vector<Route> routes_ ARGOSY_GUARDED_BY(mutex_);  // the best first; the last is TCP, which is always tried
  std::shared_ptr<ClientStream> stream_ ARGOSY_GUARDED_BY(mutex_);
  // By number: those that gRPC is not done with; null at the end.
  std::map<uint64_t, std::shared_ptr<ClientStream>> open_ ARGOSY_GUARDED_BY(mutex_);
  uint64_t last_number_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool closed_ ARGOSY_GUARDED_BY(mutex_) = false;
};

std::shared_ptr<ClientStream> GrpcChannel::open_stream() {
  MutexLock lock(mutex_);
  if (closed_) return nullptr;
  if (stream_ != nullptr && !stream_->closed()) return stream_;
  Route& route = best_route();
  stream_ = ClientStream::open(shared_, route.stub, ++last_number_, [this, &route](uint64_t number, const grpc::Status& status) {
    stream_ended(route, number, status);
  });
  open_.emplace(last_number_, stream_);
  return stream_;
}

Route& GrpcChannel::best_route() {
  const auto usable = [](const Route& route) {
    return route.socket.empty() || (route.dead_until.passed() && is_own_socket(route.socket));
  };
  return *std::find_if(routes_.begin(), routes_.end(), usable);
}

void GrpcChannel::stream_ended(Route& route, uint64_t number, const grpc::Status& status) {
  std::shared_ptr<ClientStream> ended;
  {
    MutexLock lock(mutex_);
    if (!status.ok()) route.dead_until = Deadline::after_seconds(1);
    if (stream_ != nullptr && stream_->number() == number) stream_.reset();
    ended = std::move(open_.at(number));
  }
  // Before the destructor may go on: the stream refers to gRPC's channel, whose last reference must not go on gRPC's own
  // thread, which would then wait for itself.
  ended.reset();
  MutexLock lock(mutex_);
  open_.erase(number);
  stream_ended_.notify_all();
}

Status GrpcChannel::wait_ready(Deadline deadline) {
  const Stopwatch watch;
  std::string reason = fmt::format("no connection came about; {}", shared_->hint);
  for (;;) {
    Status ping = call_and_wait(Message{.method = kPingMethod}, deadline).status();
    const bool unreachable = ping.code() == Code::unavailable;
    if (unreachable) reason = ping.message();
    if (!unreachable && ping.code() != Code::deadline_exceeded) return ping;
    if (deadline.seconds_left() < 0.05) {
      return Status::unavailable("{} was not ready in {:.3g} s: {}", shared_->peer, watch.seconds(), reason);
    }
    // Until gRPC has tried to connect again, or for long enough that a server on this machine may have its socket.
    tcp_->WaitForStateChange(tcp_->GetState(false), std::chrono::system_clock::now() + kTryEvery);
  }
}

}  // namespace

Result<std::unique_ptr<Channel>> connect_channel(const std::string& endpoint, const ChannelOptions& options) {
  if (is_endpoint_name(endpoint)) {
    RETURN_IF_ERROR(check_endpoint(endpoint));
    const auto connect = [options](const std::string& address) { return connect_channel(address, options); };
    return std::unique_ptr<Channel>(std::make_unique<NamedChannel>(endpoint, connect));
  }
  ASSIGN_OR_RETURN(const Address parsed, Address::parse_with_port(endpoint));
  keep_grpc();
  ASSIGN_OR_RETURN(const auto credentials, channel_credentials(options.security));
  auto shared = std::make_shared<ClientShared>(endpoint);
  shared->hint = unreachable_hint(options.security);
  shared->token = options.security.token;
  shared->max_message_bytes = options.max_message_bytes;

  grpc::ChannelArguments arguments = channel_arguments();
  std::vector<Route> routes;
  if (options.unix_socket && !options.security.tls()) {
    const auto address = local_address(parsed.host);
    const auto socket = address ? socket_path(*address, parsed.port) : std::nullopt;
    if (socket) routes.emplace_back(grpc::CreateCustomChannel("unix:" + *socket, credentials, arguments), *socket);
  }
  greet(arguments, options.security.token);
  routes.emplace_back(grpc::CreateCustomChannel("dns:///" + endpoint, credentials, arguments), "");
  return std::unique_ptr<Channel>(std::make_unique<GrpcChannel>(std::move(shared), std::move(routes)));
}

}  // namespace argosy::rpc
