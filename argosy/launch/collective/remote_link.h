#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/wake.h"
#include "argosy/launch/collective/node_link.h"
#include "argosy/rpc/channel.h"

namespace argosy::launch {

// The line of another node's launcher to the meeting place: one call that says what is to be said, and one that listens, each
// begun anew by receive() when it has ended. A call that fails because the peer cannot be reached is repeated: for 5 s where
// connecting fails, which worked before, and until the silence has lasted for 15 s otherwise. Any other failure is final. The
// destructor says what is still to be said, and tells the meeting place that this launcher ends, for 2 s at most each. Confined
// to one thread; the channel's threads bring the answers.
class RemoteLink : public NodeLink {
 public:
  explicit RemoteLink(std::unique_ptr<rpc::Channel> channel);
  ~RemoteLink() override;

  void send(const LauncherMessage& message) override;
  std::vector<LauncherMessage> receive() override;
  int fd() const override { return came_.fd(); }
  std::string broken() const override;

 private:
  // A call that is repeated for as long as there is something to do.
  struct Repeated {
    bool under_way = false;
    Stopwatch since_failed;
    bool failed = false;  // the last time; waits a moment before the next
    bool begin();  // whether it is to be begun now
  };

  bool has_more_to_say() const;
  void begin_calls();
  void say();
  void listen();
  void said(size_t count, const Status& status);
  void heard(const Result<rpc::Received>& answer);
  bool accepted(Repeated& call, const Status& status)
      ARGOSY_REQUIRES(mutex_);  // notes what the peer's answer says about the line
  std::string place() const { return "the meeting place " + channel_->peer(); }

  const std::string node_;  // what it calls itself
  const Wake came_;

  mutable Mutex mutex_;  // not held while a call is begun
  std::deque<LauncherMessage> to_say_ ARGOSY_GUARDED_BY(mutex_);  // not acknowledged
  std::vector<LauncherMessage> inbox_ ARGOSY_GUARDED_BY(mutex_);
  int64_t said_ ARGOSY_GUARDED_BY(mutex_) = 0, heard_ ARGOSY_GUARDED_BY(mutex_) = 0;  // acknowledged to us; by us
  Repeated saying_ ARGOSY_GUARDED_BY(mutex_), listening_ ARGOSY_GUARDED_BY(mutex_);
  std::string refused_ ARGOSY_GUARDED_BY(mutex_), last_failure_ ARGOSY_GUARDED_BY(mutex_);
  bool met_ ARGOSY_GUARDED_BY(mutex_) = false;                           // it has been answered once
  std::optional<Stopwatch> since_unreachable_ ARGOSY_GUARDED_BY(mutex_);  // no connection can be made
  Stopwatch since_heard_ ARGOSY_GUARDED_BY(mutex_), since_looked_ ARGOSY_GUARDED_BY(mutex_);

  std::unique_ptr<rpc::Channel> channel_;  // destroyed first: it waits for the callbacks, which use the rest
};

}  // namespace argosy::launch
