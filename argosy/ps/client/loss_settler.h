#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/ps/spec/messages.pb.h"

namespace argosy::ps {

// A worker's part in settling what lost workers have left on some of the servers (messages.proto: UnsettledLoss): hears what
// servers list and answer, and says what to send them next. An answer that never comes is asked for again.
//
// Thread-safe.
class LossSettler {
 public:
  explicit LossSettler(int servers) : servers_(servers) {}

  void heard(const wire::HeartbeatReply& reply);
  void answered(int server, const wire::UnsettledLoss& loss, const wire::SettleLossReply& reply);

  struct Call {
    int server = 0;
    wire::SettleLossRequest request;  // without its caller
  };
  // What is to be sent now: questions that have no answer yet, or the decision once all have one.
  std::vector<Call> due();

 private:
  struct Loss {
    wire::UnsettledLoss what;
    std::vector<std::optional<bool>> has;  // by server
  };

  const int servers_;
  Mutex mutex_;
  std::map<std::string, Loss> losses_ ARGOSY_GUARDED_BY(mutex_);  // by what, serialised
};

}  // namespace argosy::ps
