#include "argosy/rpc/server_stream.h"

#include <algorithm>
#include <new>
#include <utility>

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/rpc/credentials.h"
#include "argosy/rpc/grpc_bytes.h"

namespace argosy::rpc {
namespace {

constexpr size_t kLittleUnsent = 4096;

Deadline deadline_of(const FrameInfo& info) {
  constexpr uint64_t kYear = 365ull * 24 * 3600 * 1'000'000;
  return Deadline::after(std::chrono::microseconds(std::min(info.wait_us, kYear)));
}

class StreamSink final : public ReplySink {
 public:
  StreamSink(std::shared_ptr<ServerStream> stream, const FrameInfo& info, std::shared_ptr<CallsUnderWay::Ticket> ticket)
      : stream_(std::move(stream)), call_(info.call), deadline_(deadline_of(info)), ticket_(std::move(ticket)) {}

  void finish(Status status, std::string header, std::vector<Slice> payload) override {
    stream_->answer(call_, deadline_.when(), status, header, payload, std::move(ticket_));
  }
  bool cancelled() const override { return stream_->closed() || deadline_.passed(); }

 private:
  const std::shared_ptr<ServerStream> stream_;
  const uint64_t call_;
  const Deadline deadline_;
  std::shared_ptr<CallsUnderWay::Ticket> ticket_;
};

// A caller in messages: gRPC says of those on the Unix socket no more than that.
std::string caller_name(const std::string& peer) { return peer.starts_with("unix:") ? "a process of this machine" : peer; }

Status check_token(const grpc::GenericCallbackServerContext& context, const ServerShared& shared) {
  if (shared.token.empty()) return Status::ok_status();
  const auto sent = context.client_metadata().find(kTokenKey);
  if (sent == context.client_metadata().end()) {
    return Status::unauthenticated("server {} asks for the job's token, and {} sent none; give both sides the same one",
                                   shared.endpoint, caller_name(context.peer()));
  }
  if (ARGOSY_PLANTED("any_token") || same_token({sent->second.data(), sent->second.size()}, shared.token))
    return Status::ok_status();
  return Status::unauthenticated("server {} has another job token than {}; give both sides the same one, or is it another job's?",
                                 shared.endpoint, caller_name(context.peer()));
}

// Whose turn its requests take: a connection's, however many streams it has. All callers on Unix sockets have the same name.
WorkPool::Source source_of(const std::string& peer, const ServerStream* stream) {
  return peer.starts_with("ip") ? std::hash<std::string>{}(peer) : reinterpret_cast<uintptr_t>(stream);
}

Status too_much_unsent(const ServerShared& shared) {
  return Status::resource_exhausted(
      "server {}: the limit reply_limit is reached: {} bytes of answers wait for callers that do not take them, {} at most; ask "
      "for less at a time, or raise reply_limit (ARGOSY_REPLY_LIMIT)",
      shared.endpoint, shared.under_way->unsent_bytes(), shared.limits.reply_bytes);
}

grpc::Status to_grpc(const Status& status) { return {static_cast<grpc::StatusCode>(status.code()), status.message()}; }

}  // namespace

void CallsUnderWay::Ticket::answered(uint64_t bytes) {
  unsent_ = bytes;
  calls_->unsent_.fetch_add(bytes, std::memory_order_relaxed);
}

std::shared_ptr<CallsUnderWay::Ticket> CallsUnderWay::enter(const std::shared_ptr<CallsUnderWay>& calls) {
  {
    MutexLock lock(calls->mutex_);
    if (calls->closed_) return nullptr;
    ++calls->count_;
  }
  return std::make_shared<Ticket>(calls);
}

void CallsUnderWay::leave(uint64_t unsent) {
  unsent_.fetch_sub(unsent, std::memory_order_relaxed);
  MutexLock lock(mutex_);
  if (--count_ == 0) left_.notify_all();
}

bool CallsUnderWay::close_and_wait(Deadline deadline) {
  MutexLock lock(mutex_);
  closed_ = true;
  return left_.wait_until(lock, deadline.when(), [&]() ARGOSY_REQUIRES(mutex_) { return count_ == 0; });
}

ServerStream::ServerStream(std::shared_ptr<ServerShared> shared, std::string peer)
    : shared_(std::move(shared)),
      peer_(std::move(peer)),
      source_(source_of(peer_, this)),
      state_([counter = &shared_->replies_expired](const auto& frame) {
        if (frame.expires > SteadyClock::now()) return false;
        counter->fetch_add(1, std::memory_order_relaxed);
        return true;
      }) {
  shared_->streams.fetch_add(1, std::memory_order_relaxed);
}

// Replies may hold the stream longer than gRPC does, so that it counts towards `streams`, and for the door, until the last call
// is answered: a caller that hangs up and comes again has not got rid of what it asked for.
ServerStream::~ServerStream() {
  shared_->streams.fetch_sub(1, std::memory_order_relaxed);
  if (let_in_) shared_->door->stream_ended(peer_);
}

ServerStream* ServerStream::open(std::shared_ptr<ServerShared> shared, grpc::GenericCallbackServerContext* context) {
  const auto stream = std::make_shared<ServerStream>(std::move(shared), context->peer());
  ServerShared& known = *stream->shared_;
  // gRPC has a bare pointer: the stream holds itself until OnDone, the last that gRPC does with it.
  stream->self_ = stream;
  if (Status token = check_token(*context, known); !token.ok()) {
    known.door->turn_out(stream->peer_);
    stream->refuse(token);
  } else if (known.streams > known.limits.streams) {
    known.streams_refused.fetch_add(1, std::memory_order_relaxed);
    stream->refuse(Status::resource_exhausted("server {}: the limit streams is reached: {} at a time; close some channels first",
                                              known.endpoint, known.limits.streams));
  } else if (stream->let_in_ = known.door->let_in(stream->peer_); !stream->let_in_) {
    stream->refuse(Status::resource_exhausted("server {}: {} streams of one connection at a time", known.endpoint,
                                              known.limits.streams_per_connection));
  } else {
    stream->StartRead(&stream->incoming_);
  }
  return stream.get();
}

// state_ tells one caller at a time to write, and one ever to end, so that no lock is held here; gRPC may call back from inside.
void ServerStream::act(StreamState::Then then) {
  if (then == StreamState::Then::write) StartWrite(state_.front());
  if (then == StreamState::Then::end) {
    MutexLock lock(mutex_);
    const grpc::Status status = to_grpc(refusal_);
    lock.unlock();
    Finish(status);
  }
}

// The first reason counts: later ones follow from it.
void ServerStream::refuse(const Status& status) {
  shared_->refused.fetch_add(1, std::memory_order_relaxed);
  {
    MutexLock lock(mutex_);
    if (refusal_.ok()) refusal_ = status;
  }
  act(state_.close());
}

void ServerStream::OnReadDone(bool ok) {
  if (!ok) return act(state_.close());
  grpc::ByteBuffer request;
  request.Swap(&incoming_);
  if (!std::exchange(heard_, true)) shared_->door->heard_from(peer_);
  const size_t bytes = request.Length();
  shared_->bytes_in.fetch_add(bytes, std::memory_order_relaxed);
  // The next read may begin before this request is handed on: incoming_ is empty again.
  if (read_on(bytes)) read_next();
  shared_->pool(lane_of(request)).add(source_, [self = shared_from_this(), request] { self->handle(request); });
}

void ServerStream::read_next() {
  if (shared_->turns.goes_on(burst_, source_, SteadyClock::now())) {
    if (!state_.closed()) StartRead(&incoming_);
  } else {
    shared_->turns.wait_for_turn([self = shared_from_this()] { return self->begin_read(); });
  }
}

// Outside of gRPC's reactions, where it must not be done with the stream when the read begins. False where it is.
bool ServerStream::begin_read() {
  if (!state_.hold()) return false;
  StartRead(&incoming_);
  act(state_.release());
  return true;
}

Lane ServerStream::lane_of(const grpc::ByteBuffer& request) const {
  if (shared_->lane == nullptr) return Lane::change;
  const auto method = peek_kind(request);
  return !method || *method == kPingMethod ? Lane::urgent : shared_->lane(*method);
}

// A stream is read from or paused, never both: the thread that sets paused_ leaves the next read to the one who clears it, so
// that gRPC never has two. One request more than the limits allow is in memory, the one that was being read.
bool ServerStream::read_on(size_t arrived) {
  MutexLock lock(mutex_);
  waiting_bytes_ += arrived;
  ++waiting_requests_;
  paused_ = too_many_wait();
  return !paused_;
}

void ServerStream::taken(size_t bytes) {
  {
    MutexLock lock(mutex_);
    waiting_bytes_ -= bytes;
    --waiting_requests_;
  }
  resume();
}

void ServerStream::resume() {
  {
    MutexLock lock(mutex_);
    if (!paused_ || too_many_wait()) return;
    paused_ = false;
  }
  begin_read();
}

// Answers too: who asks and does not take them would fill the memory with small ones, which reply_bytes does not refuse.
bool ServerStream::too_many_wait() const {
  const RpcLimits& limits = shared_->limits;
  return waiting_bytes_ > limits.waiting_bytes || waiting_requests_ > limits.waiting_requests ||
         state_.waiting() > limits.waiting_answers;
}

// The answers may have been what reading waited for.
void ServerStream::OnWriteDone(bool ok) {
  act(state_.written(ok));
  resume();
}

// On a thread of a pool. The request stops counting towards waiting_bytes_ when it has been copied; from then on it is the
// handler's, whose limits are its own.
void ServerStream::handle(const grpc::ByteBuffer& request) {
  Result<WireFrame> frame = Status::resource_exhausted("there is no memory for a message of {} bytes", request.Length());
  try {
    frame = decode_frame(request);
  } catch (const std::bad_alloc&) {
    // The stream ends with this error: without its call's number nobody can be answered.
  }
  taken(request.Length());
  if (!frame.ok()) return refuse(frame.status().with_context("server {}", shared_->endpoint));
  handle(std::move(*frame));
}

// From here on a call is answered exactly once: `reply` answers by itself where the handler drops it or throws. The ticket goes
// with the reply and then with the answer, so that stop() waits until the last answer has left or its caller has gone.
void ServerStream::handle(WireFrame frame) {
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
  const uint16_t method = frame.info.kind;
  try {
    shared_->handler(Request{method, std::move(frame.header), std::move(frame.payload), peer_, deadline_of(frame.info)},
                     std::move(reply));
  } catch (const std::exception& error) {  // the reply went with the handler, and has answered `internal`
    log_error("server {}: the handler of method {} threw: {}", shared_->endpoint, method, error.what());
  }
}

// A caller that has taken its answers so far always gets the next; the last one may be on its way to gRPC still.
bool ServerStream::has_room_for(size_t reply_bytes) {
  const auto fits = [&] { return shared_->under_way->unsent_bytes() + reply_bytes <= shared_->limits.reply_bytes; };
  const auto takes_them = [&] { return state_.unsent_bytes() <= kLittleUnsent; };
  if (fits() || takes_them()) return true;
  state_.drop_skipped();
  return fits() || takes_them();
}

// An answer that cannot be sent is replaced by an error, never dropped: its caller waits for one.
void ServerStream::answer(uint64_t call, SteadyClock::time_point expires, const Status& status, const std::string& header,
                          const std::vector<Slice>& payload, std::shared_ptr<CallsUnderWay::Ticket> ticket) {
  const size_t payload_size = payload_bytes(payload);
  if (Status size = check_frame_size(header.size(), payload_size, kLargestFrame); !size.ok()) {
    return answer(call, expires, size.with_context("answer of {}", shared_->endpoint), {}, {}, std::move(ticket));
  }
  if (!payload.empty() && !has_room_for(header.size() + payload_size)) {
    shared_->replies_refused.fetch_add(1, std::memory_order_relaxed);
    return answer(call, expires, too_much_unsent(*shared_), {}, {}, std::move(ticket));
  }
  const FrameInfo info{.kind = static_cast<uint16_t>(status.code()), .call = call};
  StreamState::Outgoing frame{status.ok() ? to_byte_buffer(info, header, payload) : to_byte_buffer(info, status.message(), {}),
                              call, nullptr, expires};
  const size_t bytes = frame.bytes.Length();
  if (ticket != nullptr) ticket->answered(bytes);
  frame.kept = std::move(ticket);
  StreamState::Then then;
  if (!state_.add(std::move(frame), then)) return;  // the caller has gone
  shared_->bytes_out.fetch_add(bytes, std::memory_order_relaxed);
  act(then);
}

}  // namespace argosy::rpc
