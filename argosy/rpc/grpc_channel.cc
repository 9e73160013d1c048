#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_callback.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <unordered_set>

#include "argosy/rpc/channel.h"
#include "argosy/rpc/credentials.h"
#include "argosy/rpc/endpoint.h"
#include "argosy/rpc/frame.h"
#include "argosy/rpc/grpc_bytes.h"
#include "argosy/rpc/grpc_settings.h"

namespace argosy::rpc {
namespace {

using namespace std::chrono_literals;

class Call;

// The calls under way of one channel; lives as long as the last of them. Thread-safe.
class CallSet {
 public:
  bool add(Call* call);  // false once closed
  void remove(Call* call);
  void close_and_wait();  // cancels all, and waits for their callbacks

 private:
  std::mutex mutex_;
  std::condition_variable removed_;
  std::unordered_set<Call*> calls_;  // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_
};

// What the calls of a channel share.
struct Route {
  std::string peer;  // "host:port"
  std::string hint;  // what may be wrong where the peer cannot be reached
  std::string token;
  CallSet calls;
  std::atomic<int64_t> unix_again{0};  // steady clock, ns: until then the Unix socket is taken for dead
};

int64_t now_ns() { return SteadyClock::now().time_since_epoch().count(); }

std::chrono::system_clock::time_point wall_time(Deadline deadline) {
  const auto left = std::clamp<std::chrono::nanoseconds>(deadline.when() - SteadyClock::now(), 0ns, std::chrono::hours(24 * 365));
  return std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::system_clock::duration>(left);
}

// One call; deletes itself when it is done.
class Call final : public grpc::ClientUnaryReactor {
 public:
  Call(std::shared_ptr<Route> route, const Message& message, Deadline deadline, bool by_unix_socket, Callback done)
      : route_(std::move(route)),
        request_(to_byte_buffer(message.method, message.header, message.payload)),
        method_(message.method),
        by_unix_socket_(by_unix_socket),
        done_(std::move(done)) {
    context_.set_deadline(wall_time(deadline));
    if (!route_->token.empty()) context_.AddMetadata(kTokenKey, route_->token);
  }

  void start(grpc::GenericStub& stub) {
    stub.PrepareUnaryCall(&context_, kCallName, {}, &request_, &response_, this);
    StartCall();
  }
  void cancel() { context_.TryCancel(); }

  void OnDone(const grpc::Status& status) override {
    if (by_unix_socket_ && status.error_code() == grpc::UNAVAILABLE) {
      route_->unix_again = now_ns() + std::chrono::nanoseconds(1s).count();
    }
    finish(status.ok() ? read_answer() : transport_error(status));
  }

  void finish(Result<Received> answer) {
    request_.Clear();
    std::exchange(done_, nullptr)(std::move(answer));
    route_->calls.remove(this);
    delete this;
  }

 private:
  Result<Received> read_answer() {
    auto frame = decode_frame(response_);
    if (!frame.ok()) return frame.status().with_context("answer of {}", route_->peer);
    if (frame->kind != 0) return Status(static_cast<Code>(std::min<uint16_t>(frame->kind, 16)), std::move(frame->header));
    return Received{method_, std::move(frame->header), std::move(frame->payload)};
  }

  Status transport_error(const grpc::Status& status) const {
    const double seconds = watch_.seconds();
    switch (status.error_code()) {
      case grpc::DEADLINE_EXCEEDED:
        return Status::deadline_exceeded("{} did not answer in {:.3g} s (method {})", route_->peer, seconds, method_);
      case grpc::CANCELLED: return Status::cancelled("the call of method {} to {} was cancelled", method_, route_->peer);
      case grpc::UNAVAILABLE:
        return Status::unavailable("{} cannot be reached: {}; {}", route_->peer, status.error_message(), route_->hint);
      default: return Status(static_cast<Code>(status.error_code()), fmt::format("{}: {}", route_->peer, status.error_message()));
    }
  }

  std::shared_ptr<Route> route_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_, response_;
  uint16_t method_;
  bool by_unix_socket_;
  Stopwatch watch_;
  Callback done_;
};

bool CallSet::add(Call* call) {
  std::lock_guard lock(mutex_);
  if (closed_) return false;
  calls_.insert(call);
  return true;
}

void CallSet::remove(Call* call) {
  std::lock_guard lock(mutex_);
  calls_.erase(call);
  removed_.notify_all();
}

void CallSet::close_and_wait() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  for (Call* call : calls_) call->cancel();
  removed_.wait(lock, [&] { return calls_.empty(); });
}

grpc::ChannelArguments channel_arguments(size_t max_message_bytes) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(std::min(max_message_bytes, kLargestFrame)));
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
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
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
      "is it running? This side uses TLS (authority '{}', certificate '{}'): the server must use it too, show a certificate of "
      "that "
      "authority for this address, and accept this side's",
      security.ca, security.certificate);
}

class GrpcChannel final : public Channel {
 public:
  GrpcChannel(std::shared_ptr<Route> route, std::shared_ptr<grpc::Channel> by_tcp, std::shared_ptr<grpc::Channel> by_unix_socket,
              std::string socket)
      : route_(std::move(route)), tcp_(std::move(by_tcp)), socket_(std::move(socket)) {
    if (by_unix_socket != nullptr) unix_ = std::make_unique<grpc::GenericStub>(std::move(by_unix_socket));
  }
  ~GrpcChannel() override { route_->calls.close_and_wait(); }

  void call(Message message, Deadline deadline, Callback done) override {
    if (Status size = check_frame_size(message.header.size(), payload_bytes(message.payload), kLargestFrame); !size.ok()) {
      return done(size.with_context("call to {}", route_->peer));
    }
    const bool by_unix_socket = unix_ != nullptr && now_ns() >= route_->unix_again && is_own_socket(socket_);
    auto* call = new Call(route_, message, deadline, by_unix_socket, std::move(done));
    if (!route_->calls.add(call)) return call->finish(Status::cancelled("the channel to {} is closed", route_->peer));
    call->start(by_unix_socket ? *unix_ : tcp_);
  }

  Status wait_ready(Deadline deadline) override;
  const std::string& peer() const override { return route_->peer; }

 private:
  std::shared_ptr<Route> route_;
  grpc::GenericStub tcp_;
  std::unique_ptr<grpc::GenericStub> unix_;  // null where there is none
  std::string socket_;
};

Status GrpcChannel::wait_ready(Deadline deadline) {
  for (;;) {
    const auto ping = call_and_wait(Message{.method = kPingMethod}, deadline);
    if (ping.ok() || ping.status().code() != Code::unavailable) return ping.status();
    const double pause = std::min(0.05, deadline.seconds_left());
    if (pause <= 0) return ping.status();
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  }
}

}  // namespace

Result<std::unique_ptr<Channel>> connect_channel(const std::string& endpoint, const ChannelOptions& options) {
  ASSIGN_OR_RETURN(const Endpoint parsed, parse_endpoint(endpoint));
  ASSIGN_OR_RETURN(auto credentials, channel_credentials(options.security));
  auto route = std::make_shared<Route>();
  route->peer = endpoint;
  route->hint = unreachable_hint(options.security);
  route->token = options.security.token;

  const grpc::ChannelArguments arguments = channel_arguments(options.max_message_bytes);
  auto by_tcp = grpc::CreateCustomChannel("dns:///" + endpoint, credentials, arguments);
  std::shared_ptr<grpc::Channel> by_unix_socket;
  std::optional<std::string> socket;
  if (options.unix_socket && !options.security.tls()) {
    const auto address = local_address(parsed.host);
    if (address) socket = socket_path(*address, parsed.port);
    if (socket) by_unix_socket = grpc::CreateCustomChannel("unix:" + *socket, credentials, arguments);
  }
  return std::unique_ptr<Channel>(
      std::make_unique<GrpcChannel>(std::move(route), std::move(by_tcp), std::move(by_unix_socket), socket.value_or("")));
}

}  // namespace argosy::rpc
