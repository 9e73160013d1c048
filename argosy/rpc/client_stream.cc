#include "argosy/rpc/client_stream.h"

#include <algorithm>
#include <chrono>

#include "argosy/base/mutex.h"
#include "argosy/rpc/credentials.h"
#include "argosy/rpc/door_pass.h"
#include "argosy/rpc/grpc_bytes.h"
#include "argosy/rpc/grpc_settings.h"
#include "argosy/rpc/wire_frame.h"

namespace argosy::rpc {
namespace {

constexpr uint64_t kFirstPing = 0;  // no call of the table
constexpr uint64_t kFirstPingWaits = 60'000'000;

uint64_t microseconds_left(Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline.when() - SteadyClock::now());
  return static_cast<uint64_t>(std::max<int64_t>(left.count(), 0));
}

Result<Received> to_answer(uint16_t method, WireFrame frame) {
  constexpr auto kLastCode = static_cast<uint16_t>(Code::unauthenticated);
  if (frame.info.kind == 0) return Received{method, std::move(frame.header), std::move(frame.payload)};
  return Status(frame.info.kind <= kLastCode ? static_cast<Code>(frame.info.kind) : Code::unknown, std::move(frame.header));
}

}  // namespace

std::shared_ptr<ClientStream> ClientStream::open(std::shared_ptr<ClientShared> shared, grpc::GenericStub& stub, uint64_t number,
                                                 Ended ended) {
  auto stream = std::make_shared<ClientStream>(std::move(shared), number, std::move(ended));
  stub.PrepareBidiStreamingCall(&stream->context_, kCallName, {}, stream.get());
  stream->AddHold();  // until the state says `end`: sends begin outside of gRPC's callbacks
  stream->state_.hold();  // until there is nothing more to read
  stream->StartRead(&stream->incoming_);
  // A server takes little of a connection on which it has not seen a whole request: the first one is a ping, and the others wait
  // until it is answered.
  const FrameInfo ping{.kind = kPingMethod, .call = kFirstPing, .wait_us = kFirstPingWaits};
  stream->act(stream->state_.begin({to_byte_buffer(ping, "", {}), kFirstPing, nullptr}));
  stream->StartCall();
  return stream;
}

ClientStream::ClientStream(std::shared_ptr<ClientShared> shared, uint64_t number, Ended ended)
    : shared_(std::move(shared)),
      number_(number),
      ended_(std::move(ended)),
      state_([calls = &shared_->calls](const StreamState::Outgoing& frame) { return calls->ended(frame.call); }) {
  if (!shared_->token.empty()) context_.AddMetadata(kTokenKey, shared_->token);
}

void ClientStream::send(CallTable::Id call, const Message& message, Deadline deadline) {
  const FrameInfo info{message.method, call, microseconds_left(deadline)};
  StreamState::Then then;
  if (state_.add({to_byte_buffer(info, message.header, message.payload), call, nullptr}, then)) return act(then);
  MutexLock lock(mutex_);
  const std::optional<Status> end = end_;
  lock.unlock();
  if (end) shared_->calls.end(call, *end);  // otherwise OnDone is still to come, and finds the call in the table
}

void ClientStream::act(StreamState::Then then) {
  if (then == StreamState::Then::write) StartWrite(state_.front());
  if (then == StreamState::Then::end) RemoveHold();
}

void ClientStream::OnWriteDone(bool ok) { act(state_.written(ok)); }

void ClientStream::OnReadDone(bool ok) {
  if (!ok) {
    act(state_.close());
    return act(state_.release());
  }
  grpc::ByteBuffer arrived;
  arrived.Swap(&incoming_);
  StartRead(&incoming_);  // the next one comes in while this one is looked at
  take_answer(arrived);
}

void ClientStream::take_answer(const grpc::ByteBuffer& bytes) {
  auto frame = decode_frame(bytes);
  if (!frame.ok()) {
    if (fault_.ok()) fault_ = frame.status().with_context("answer of {}", shared_->peer);
    return cancel();
  }
  if (frame->info.call == kFirstPing) {
    if (frame->info.kind == 0) return act(state_.open_gate());
    fault_ = to_answer(kPingMethod, std::move(*frame)).status().with_context("{}", shared_->peer);
    return cancel();
  }
  auto [method, done] = shared_->calls.take(frame->info.call);
  if (done == nullptr) return;  // its deadline has passed
  if (Status size = check_frame_size(frame->header.size(), frame->payload.size(), shared_->max_message_bytes); !size.ok()) {
    return done(size.with_context("answer of {} to method {}", shared_->peer, method));
  }
  done(to_answer(method, std::move(*frame)));
}

void ClientStream::OnDone(const grpc::Status& status) {
  state_.close();
  const Status end = error(status);
  {
    MutexLock lock(mutex_);
    end_ = end;
  }
  shared_->calls.end_connection(number_, end);
  const Ended ended = ended_;  // the stream may be gone before it returns
  ended(number_, status);
}

Status ClientStream::wrong_token() const {
  if (shared_->token.empty()) {
    return Status::unauthenticated("{} asks for the job's token, and this side has none; give both sides the same one",
                                   shared_->peer);
  }
  return Status::unauthenticated("{} has another job token than this side; give both sides the same one, or is it another job's?",
                                 shared_->peer);
}

Status ClientStream::error(const grpc::Status& status) const {
  if (!fault_.ok()) return fault_;
  switch (status.error_code()) {
    case grpc::OK:  // the server ended the stream: it stops
      return Status::unavailable("{} closed the connection", shared_->peer);
    case grpc::UNAVAILABLE:
      if (status.error_message().find(kWrongPassError) != std::string::npos) return wrong_token();
      // Nothing that waiting could fix; other failed handshakes may come from a server that is just being stopped.
      if (status.error_message().find("certificate verify failed") != std::string::npos) {
        return Status::unauthenticated("{} has a certificate that is not to be trusted: {}. {}", shared_->peer,
                                       status.error_message(), shared_->hint);
      }
      return Status::unavailable("{} cannot be reached: {}; {}", shared_->peer, status.error_message(), shared_->hint);
    case grpc::CANCELLED: return Status::unavailable("{} cancelled the connection; it may be stopping", shared_->peer);
    default: return Status(static_cast<Code>(status.error_code()), fmt::format("{}: {}", shared_->peer, status.error_message()));
  }
}

}  // namespace argosy::rpc
