#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/ps/state/state.h"
#include "argosy/rpc/handler.h"

namespace argosy::ps {

// An answer that is ready to go.
struct Outgoing {
  std::string header;
  std::vector<rpc::Slice> payload = {};
};

template <typename Message>
Outgoing outgoing(const Message& message, std::vector<rpc::Slice> payload = {}) {
  return {message.SerializeAsString(), std::move(payload)};
}

// Who keeps answers back until they may go.
class AnswerGuard {
 public:
  virtual ~AnswerGuard() = default;
  virtual void pass(rpc::Reply reply, Status status, Outgoing answer) = 0;  // `answer`: where `status` is ok
};

// A request and the duty to answer it. Has one owner at a time (a handler, or the place where it waits), and once more as
// the owner of a payload that is held for a step.
struct Call {
  Call(rpc::Request from, rpc::Reply to) : request(std::move(from)), reply(std::move(to)) {}

  wire::Method method() const { return static_cast<wire::Method>(request.method); }
  uint64_t bytes() const { return request.header.size() + request.payload.size(); }

  void send(Outgoing answer) {
    if (guard != nullptr) return guard->pass(std::move(reply), {}, std::move(answer));
    reply.send(std::move(answer.header), std::move(answer.payload));
  }
  void fail(Status status) {
    if (guard != nullptr && status.code() != Code::unavailable) return guard->pass(std::move(reply), std::move(status), {});
    reply.fail(std::move(status));
  }

  // When a call that waits is answered that it has timed out: so long before its caller gives up that the caller learns for
  // whom, also where this process or that one is held up for some seconds.
  SteadyClock::time_point give_up() const {
    const double patience = std::chrono::duration<double>(request.deadline.when() - arrived).count();
    const double margin = std::min(patience / 4, 5.0);
    return request.deadline.when() - std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(margin));
  }
  double waited_seconds() const { return std::chrono::duration<double>(SteadyClock::now() - arrived).count(); }

  rpc::Request request;
  rpc::Reply reply;
  const SteadyClock::time_point arrived = SteadyClock::now();
  AnswerGuard* guard = nullptr;  // null: answers go at once. Outlives the call
};

using CallPtr = std::shared_ptr<Call>;

// The call as a record. The call keeps the payload.
inline Record record_of(const CallPtr& call, uint32_t seconds) {
  return {call->method(), seconds, call->request.header, {call->request.payload.data(), call->request.payload.size()}, call};
}

}  // namespace argosy::ps
