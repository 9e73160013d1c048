#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/rpc/channel.h"

namespace argosy::rpc {

// A channel to a server that is known by a name (base/endpoint_name.h) and may come back at another address. The name is looked
// up again and again: when it stands for another address, a channel to that takes the place of the one before, whose calls under
// way end as `unavailable`, as those of a broken connection do. A name that stands for nothing any more keeps its last address.
//
// Owns the thread "rpc-name". Thread-safe.
class NamedChannel final : public Channel {
 public:
  using Connect = std::function<Result<std::unique_ptr<Channel>>(const std::string& address)>;

  NamedChannel(std::string name, Connect connect);
  ~NamedChannel() override;

  void call(Message message, Deadline deadline, Callback done) override;
  Status wait_ready(Deadline deadline) override;
  const std::string& peer() const override { return name_; }

 private:
  struct Link {
    std::string address;
    std::unique_ptr<Channel> channel;
    std::shared_ptr<std::atomic<bool>> is_left = std::make_shared<std::atomic<bool>>(false);  // another one has its place
  };
  using Links = std::vector<std::shared_ptr<Link>>;

  Result<std::shared_ptr<Link>> link();  // or why there is none
  void watch();
  // Looks the name up; a link that another one takes the place of goes to `left`.
  void look_up(Links& left);

  const std::string name_;
  const Connect connect_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::shared_ptr<Link> link_ ARGOSY_GUARDED_BY(mutex_);
  Status why_not_ ARGOSY_GUARDED_BY(mutex_);  // there is no link
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace argosy::rpc
