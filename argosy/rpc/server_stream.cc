#include "argosy/rpc/server_stream.h"

#include <algorithm>
#include <utility>

#include "argosy/rpc/credentials.h"
#include "argosy/rpc/grpc_bytes.h"

namespace argosy::rpc {
namespace {

constexpr int64_t kMostWaitingBytes = 64 << 20;  // of one stream; one request more is read all the same

Deadline deadline_of(const FrameInfo& info) {
  constexpr uint64_t kYear = 365ull * 24 * 3600 * 1'000'000;
  return Deadline::after(std::chrono::microseconds(std::min(info.wait_us, kYear)));
}

class StreamSink final : public ReplySink {
 public:
  StreamSink(std::shared_ptr<ServerStream> stream, const FrameInfo& info, std::shared_ptr<void> ticket)
      : stream_(std::move(stream)), call_(info.call), deadline_(deadline_of(info)), ticket_(std::move(ticket)) {}

  void finish(Status status, std::string header, std::vector<Slice> payload) override {
    stream_->answer(call_, status, header, payload, std::move(ticket_));
  }
  bool cancelled() const override { return stream_->closed() || deadline_.passed(); }

 private:
  const std::shared_ptr<ServerStream> stream_;
  const uint64_t call_;
  const Deadline deadline_;
  std::shared_ptr<void> ticket_;
};

Status check_token(const grpc::GenericCallbackServerContext& context, const ServerShared& shared) {
  if (shared.token.empty()) return Status::ok_status();
  const auto sent = context.client_metadata().find(kTokenKey);
  if (sent == context.client_metadata().end()) {
    return Status::unauthenticated("server {} asks for the job's token, and {} sent none; give both sides the same one",
                                   shared.endpoint, context.peer());
  }
  if (same_token({sent->second.data(), sent->second.size()}, shared.token)) return Status::ok_status();
  return Status::unauthenticated("server {} has another job token than {}; give both sides the same one, or is it another job's?",
                                 shared.endpoint, context.peer());
}

grpc::Status to_grpc(const Status& status) { return {static_cast<grpc::StatusCode>(status.code()), status.message()}; }

}  // namespace

std::shared_ptr<void> CallsUnderWay::enter(const std::shared_ptr<CallsUnderWay>& calls) {
  std::lock_guard lock(calls->mutex_);
  if (calls->closed_) return nullptr;
  ++calls->count_;
  return {calls.get(), [calls](void*) { calls->leave(); }};
}

void CallsUnderWay::leave() {
  std::lock_guard lock(mutex_);
  if (--count_ == 0) left_.notify_all();
}

bool CallsUnderWay::close_and_wait(Deadline deadline) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  return left_.wait_until(lock, deadline.when(), [&] { return count_ == 0; });
}

ServerStream* ServerStream::open(std::shared_ptr<ServerShared> shared, grpc::GenericCallbackServerContext* context) {
  const auto stream = std::make_shared<ServerStream>(std::move(shared), context->peer());
  stream->self_ = stream;
  if (Status token = check_token(*context, *stream->shared_); !token.ok()) {
    stream->refuse(token);
  } else {
    stream->StartRead(&stream->incoming_);
  }
  return stream.get();
}

void ServerStream::act(StreamState::Then then) {
  if (then == StreamState::Then::write) StartWrite(state_.front());
  if (then == StreamState::Then::end) {
    std::unique_lock lock(mutex_);
    const grpc::Status status = to_grpc(refusal_);
    lock.unlock();
    Finish(status);
  }
}

void ServerStream::refuse(const Status& status) {
  shared_->refused.fetch_add(1, std::memory_order_relaxed);
  {
    std::lock_guard lock(mutex_);
    if (refusal_.ok()) refusal_ = status;
  }
  act(state_.close());
}

void ServerStream::OnReadDone(bool ok) {
  if (!ok) return act(state_.close());
  grpc::ByteBuffer request;
  request.Swap(&incoming_);
  const size_t bytes = request.Length();
  shared_->bytes_in.fetch_add(bytes, std::memory_order_relaxed);
  if (read_on(static_cast<int64_t>(bytes)) && !state_.closed()) StartRead(&incoming_);
  shared_->pool.add([self = shared_from_this(), request] { self->handle(request); });
}

bool ServerStream::read_on(int64_t arrived) {
  std::lock_guard lock(mutex_);
  waiting_bytes_ += arrived;
  paused_ = waiting_bytes_ > kMostWaitingBytes;
  return !paused_;
}

void ServerStream::resume(int64_t taken) {
  {
    std::lock_guard lock(mutex_);
    waiting_bytes_ -= taken;
    if (!paused_ || waiting_bytes_ > kMostWaitingBytes) return;
    paused_ = false;
  }
  if (!state_.hold()) return;  // gRPC must not be done with the stream when the read begins
  StartRead(&incoming_);
  act(state_.release());
}

void ServerStream::handle(const grpc::ByteBuffer& request) {
  auto frame = decode_frame(request);
  resume(static_cast<int64_t>(request.Length()));
  if (!frame.ok()) return refuse(frame.status().with_context("server {}", shared_->endpoint));
  handle(std::move(*frame));
}

void ServerStream::handle(Frame frame) {
  auto ticket = CallsUnderWay::enter(shared_->under_way);
  const bool stopping = ticket == nullptr;
  const auto sink = std::make_shared<StreamSink>(shared_from_this(), frame.info, std::move(ticket));
  Reply reply(sink);
  if (stopping) return reply.fail(Status::unavailable("server {} is stopping", shared_->endpoint));
  if (frame.info.kind == kPingMethod) return reply.send({});
  if (Status size = check_frame_size(frame.header.size(), frame.payload.size(), shared_->max_message_bytes); !size.ok()) {
    shared_->refused.fetch_add(1, std::memory_order_relaxed);
    return reply.fail(size.with_context("server {}, method {}", shared_->endpoint, frame.info.kind));
  }
  shared_->calls.fetch_add(1, std::memory_order_relaxed);
  shared_->handler(Request{frame.info.kind, std::move(frame.header), std::move(frame.payload), peer_, deadline_of(frame.info)},
                   std::move(reply));
}

void ServerStream::answer(uint64_t call, const Status& status, const std::string& header, const std::vector<Slice>& payload,
                          std::shared_ptr<void> ticket) {
  if (Status size = check_frame_size(header.size(), payload_bytes(payload), kLargestFrame); !size.ok()) {
    return answer(call, size.with_context("answer of {}", shared_->endpoint), {}, {}, std::move(ticket));
  }
  const FrameInfo info{.kind = static_cast<uint16_t>(status.code()), .call = call};
  StreamState::Outgoing frame{status.ok() ? to_byte_buffer(info, header, payload) : to_byte_buffer(info, status.message(), {}),
                              call, std::move(ticket)};
  const size_t bytes = frame.bytes.Length();
  StreamState::Then then;
  if (!state_.add(std::move(frame), then)) return;  // the caller has gone
  shared_->bytes_out.fetch_add(bytes, std::memory_order_relaxed);
  act(then);
}

}  // namespace argosy::rpc
