#include "argosy/rpc/named_channel.h"

#include <algorithm>
#include <chrono>

#include "argosy/base/endpoint_name.h"
#include "argosy/base/log.h"

namespace argosy::rpc {
namespace {

constexpr std::chrono::milliseconds kLookEvery{200};
constexpr double kReadyTrySeconds = 0.5;

// Whether waiting longer may help a peer to be ready.
bool may_pass(Code code) { return code == Code::unavailable || code == Code::deadline_exceeded || code == Code::cancelled; }

}  // namespace

NamedChannel::NamedChannel(std::string name, Connect connect) : name_(std::move(name)), connect_(std::move(connect)) {
  Links none;
  look_up(none);
  thread_ = Thread("rpc-name", [this] { watch(); });
}

NamedChannel::~NamedChannel() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Result<std::shared_ptr<NamedChannel::Link>> NamedChannel::link() {
  MutexLock lock(mutex_);
  if (link_ == nullptr) return why_not_;
  return link_;
}

void NamedChannel::call(Message message, Deadline deadline, Callback done) {
  const auto used = link();
  if (!used.ok()) return done(used.status());
  // The callback keeps no link: it runs on a thread of the link's channel, which must not be the one that destroys it.
  const Link& to = **used;
  to.channel->call(std::move(message), deadline,
                   [name = name_, address = to.address, left = to.is_left, done = std::move(done)](Result<Received> answer) {
                     if (*left && !answer.ok() && answer.status().code() == Code::cancelled)
                       answer = Status::unavailable("'{}' is no longer at {}", name, address);
                     done(std::move(answer));
                   });
}

Status NamedChannel::wait_ready(Deadline deadline) {
  const Stopwatch watch;
  for (;;) {
    const auto used = link();
    const double seconds = std::min(kReadyTrySeconds, deadline.seconds_left());
    const Status status = used.ok() ? (*used)->channel->wait_ready(Deadline::after_seconds(seconds)) : used.status();
    if (status.ok() || !may_pass(status.code())) return status;
    if (deadline.seconds_left() < 0.05) {
      return Status::unavailable("'{}' was not ready in {:.3g} s: {}", name_, watch.seconds(), status.message());
    }
    MutexLock lock(mutex_);
    if (link_ == nullptr) changed_.wait_for(lock, kLookEvery);
  }
}

void NamedChannel::watch() {
  Links left;
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (changed_.wait_for(lock, kLookEvery, [&]() ARGOSY_REQUIRES(mutex_) { return stopped_; })) return;
    }
    look_up(left);
    // Those that call are in the middle of it for moments only; afterwards nobody else has the link.
    std::erase_if(left, [](const std::shared_ptr<Link>& one) { return one.use_count() == 1; });
  }
}

void NamedChannel::look_up(Links& left) {
  const std::shared_ptr<Link> used = [&] {
    MutexLock lock(mutex_);
    return link_;
  }();
  const auto address = look_up_endpoint(name_);
  if (used != nullptr && (!address.ok() || *address == used->address)) return;
  auto channel = address.ok() ? connect_(*address) : Result<std::unique_ptr<Channel>>(address.status());
  MutexLock lock(mutex_);
  if (!channel.ok()) {
    why_not_ = Status::unavailable("{}", channel.status().message());
    return;
  }
  if (used != nullptr) {
    log_info("'{}' is at {} now, and was at {}", name_, *address, used->address);
    *used->is_left = true;
    left.push_back(used);
  }
  link_ = std::make_shared<Link>(Link{*address, std::move(*channel)});
  changed_.notify_all();
}

}  // namespace argosy::rpc
