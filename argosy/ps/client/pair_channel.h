#pragma once

#include <memory>
#include <string>

#include "argosy/ps/spec/messages.pb.h"
#include "argosy/rpc/channel.h"

namespace argosy::ps {

// The way to a server with two processes (replicas=1). Calls go to the one that answered last; where that is away, or says that
// it is not the primary, the call fails with `unavailable` as any other, and the next one goes to the other process. So who
// repeats calls finds the primary. A process that is stopped refuses nothing: look() finds out about those.
//
// Thread-safe.
class PairChannel final : public rpc::Channel {
 public:
  // `who`: who asks the processes which of them leads, as far as it is known before a Hello.
  PairChannel(std::unique_ptr<rpc::Channel> server, std::unique_ptr<rpc::Channel> follower, wire::Caller who = {});
  ~PairChannel() override;

  void call(rpc::Message message, Deadline deadline, rpc::Callback done) override;
  Status wait_ready(Deadline deadline) override;
  const std::string& peer() const override { return peer_; }

  // The process that is spoken to is the primary of this caller's epoch.
  void met(const wire::Caller& who);
  // To be called a few times per second: where a call has waited for long, asks the other process whether it is the primary of a
  // later epoch. Then what waits fails with `unavailable`, to be repeated there.
  void look();

 private:
  struct Shared;
  rpc::Channel& way(size_t which) { return which == 0 ? *server_ : *follower_; }

  const std::string peer_;
  const std::shared_ptr<Shared> shared_;
  const std::unique_ptr<rpc::Channel> server_, follower_;  // last: they end before what their callbacks use
};

}  // namespace argosy::ps
