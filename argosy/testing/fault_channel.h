#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "argosy/rpc/channel.h"

namespace argosy::testing {

// How often something goes wrong, each a probability by itself. A lost request or answer shows as `unavailable`, as a
// broken connection does.
struct Faults {
  double lose_request = 0;  // the peer never sees it
  double lose_answer = 0;   // the peer has done what it was asked for
  double duplicate = 0;     // the peer gets it twice; the first answer counts
  double delay = 0;         // it is sent later, after others
  std::chrono::microseconds longest_delay{2000};
};

struct FaultCounters {
  uint64_t lost_requests = 0, lost_answers = 0, duplicates = 0, delays = 0;
};

// A channel on which calls get lost, come late or come twice, in an order that `seed` decides. Owns the thread "fault-delay".
// Thread-safe, as every channel.
class FaultChannel final : public rpc::Channel {
 public:
  FaultChannel(std::unique_ptr<rpc::Channel> inner, const Faults& faults, uint64_t seed);
  ~FaultChannel() override;

  void set_faults(const Faults& faults);
  void lose_next_request();  // whatever the probabilities are
  void lose_next_answer();
  void set_cut(bool cut);  // while cut, every request is lost and every answer to earlier ones too

  FaultCounters counters() const;

  void call(rpc::Message message, Deadline deadline, rpc::Callback done) override;
  Status wait_ready(Deadline deadline) override { return inner_->wait_ready(deadline); }
  const std::string& peer() const override { return inner_->peer(); }

 private:
  struct State;
  class DelayLine;

  void send(rpc::Message message, Deadline deadline, rpc::Callback done, bool lose_answer, bool duplicate);

  std::unique_ptr<rpc::Channel> inner_;
  std::shared_ptr<State> state_;
  std::unique_ptr<DelayLine> delay_line_;
};

}  // namespace argosy::testing
