#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/rpc/channel.h"

namespace argosy::ps {

// Which server is followed: what it has answered to the first Hello.
struct PrimaryInfo {
  std::string job, run;
  JobSpec spec;
  int server = 0, servers = 1;
};

// A follower's way to the server that it follows: says who it is, and makes single calls. After a call that failed with
// `unauthenticated` the server's process is a new one, and hello() comes again.
//
// Thread-compatible, but for interrupt().
class PrimaryLink {
 public:
  // `run`: of the job; empty: as the server says the first time.
  PrimaryLink(std::unique_ptr<rpc::Channel> channel, std::string run);

  const std::string& peer() const { return channel_->peer(); }

  // The first Hello. Waits for a server that is away for `seconds`, and for one that has no job yet until interrupt(); says from
  // time to time what it waits for. What a server refuses is final.
  Status find(double seconds);
  const PrimaryInfo& info() const { return *info_; }  // REQUIRES: find() was ok

  // Once, for a process that may be another one. failed_precondition where the server belongs to another run or job, is another
  // one of it, or has other tables than at first.
  Status hello(Deadline deadline);

  // `request.caller` is filled in.
  template <typename Reply, typename Request>
  Result<Reply> call(wire::Method method, Request request, Deadline deadline, rpc::PayloadBuffer* payload = nullptr) {
    *request.mutable_caller() = caller_;
    ASSIGN_OR_RETURN(auto answer, send(method, request.SerializeAsString(), deadline));
    return read<Reply>(std::move(answer), payload);
  }

  // The same in two steps, so that something can be done meanwhile: what is not taken before the next call is dropped.
  template <typename Request>
  void begin(wire::Method method, Request request, Deadline deadline) {
    *request.mutable_caller() = caller_;
    send_off(method, request.SerializeAsString(), deadline);
  }
  template <typename Reply>
  Result<Reply> take(rpc::PayloadBuffer* payload = nullptr) {
    ASSIGN_OR_RETURN(auto answer, wait_for_answer());
    return read<Reply>(std::move(answer), payload);
  }

  // The call under way, and those that come, fail with `cancelled`. Any thread.
  void interrupt();

 private:
  struct Answer;
  template <typename Reply>
  Result<Reply> read(rpc::Received answer, rpc::PayloadBuffer* payload) {
    Reply reply;
    if (!reply.ParseFromString(answer.header)) return Status::data_loss("an answer of {} cannot be read", peer());
    if (payload != nullptr) *payload = std::move(answer.payload);
    return reply;
  }
  void send_off(wire::Method method, std::string header, Deadline deadline);
  Result<rpc::Received> wait_for_answer();
  Result<rpc::Received> send(wire::Method method, std::string header, Deadline deadline);
  wire::HelloRequest greeting() const;
  Status keep(const wire::HelloReply& reply);
  Status wait(double seconds);

  const uint64_t process_id_;
  const std::string run_;
  wire::Caller caller_;
  std::optional<PrimaryInfo> info_;
  Deadline deadline_ = Deadline::after_seconds(0);  // of the call under way
  const std::shared_ptr<Answer> answer_;  // of the call under way; callbacks outlive calls that were interrupted
  const std::unique_ptr<rpc::Channel> channel_;  // last: ends before what its callbacks use
};

}  // namespace argosy::ps
