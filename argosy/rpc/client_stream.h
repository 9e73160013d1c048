#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/client_callback.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/rpc/call_table.h"
#include "argosy/rpc/stream_state.h"

namespace argosy::rpc {

// What the streams of a channel share.
struct ClientShared {
  explicit ClientShared(const std::string& peer) : peer(peer), calls(peer) {}

  const std::string peer;  // "host:port"
  std::string hint;        // what may be wrong where the peer cannot be reached
  std::string token;
  size_t max_message_bytes = 0;
  CallTable calls;
};

// One connection's worth of calls: requests go out and answers come in over one gRPC stream, matched by their numbers. A
// stream that breaks ends its calls and is never used again. Thread-safe.
class ClientStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  using Ended = std::function<void(uint64_t number, const grpc::Status&)>;

  // Opens a stream. Its owner keeps it until `ended`, which is the last that it does.
  static std::shared_ptr<ClientStream> open(std::shared_ptr<ClientShared> shared, grpc::GenericStub& stub, uint64_t number,
                                            Ended ended);
  ClientStream(std::shared_ptr<ClientShared> shared, uint64_t number, Ended ended);

  uint64_t number() const { return number_; }
  bool closed() const { return state_.closed(); }

  // Sends the request of a call that the table has for this stream. Where the stream is broken the call ends with the reason.
  void send(CallTable::Id call, const Message& message, Deadline deadline);
  void cancel() { context_.TryCancel(); }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  void act(StreamState::Then then);
  void take_answer(const grpc::ByteBuffer& bytes);
  Status error(const grpc::Status& status) const;
  Status wrong_token() const;

  const std::shared_ptr<ClientShared> shared_;
  const uint64_t number_;
  const Ended ended_;
  grpc::ClientContext context_;
  StreamState state_;
  grpc::ByteBuffer incoming_;
  Mutex mutex_;
  std::optional<Status> end_ ARGOSY_GUARDED_BY(mutex_);  // why it is over, once it is
  Status fault_;  // why this side gave the stream up; touched by reactions to reads and the last one only
};

}  // namespace argosy::rpc
