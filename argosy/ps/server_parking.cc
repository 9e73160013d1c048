#include "argosy/ps/server_parking.h"

namespace argosy::ps {
namespace {

Status stopping() { return Status::unavailable("the server is stopping"); }

}  // namespace

Parking::Parking(int threads, std::function<void(const CallPtr&)> handle) : handle_(std::move(handle)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back("ps-wake", [this] { run(); });
}

Parking::~Parking() { stop(); }

uint64_t Parking::version(Topic topic) const {
  std::lock_guard lock(mutex_);
  return lot(topic).version;
}

void Parking::park(Topic topic, uint64_t seen_version, CallPtr call) {
  bool stopped = false;
  {
    std::lock_guard lock(mutex_);
    stopped = stopped_;
    if (!stopped && lot(topic).version == seen_version) {
      lot(topic).calls.push_back(std::move(call));
      return;
    }
    if (!stopped) ready_.push_back(call);
  }
  if (stopped) {
    call->fail(stopping());
  } else {
    woken_.notify_one();
  }
}

void Parking::wake(Topic topic) {
  {
    std::lock_guard lock(mutex_);
    Lot& woken = lot(topic);
    ++woken.version;
    if (woken.calls.empty()) return;
    ready_.insert(ready_.end(), std::make_move_iterator(woken.calls.begin()), std::make_move_iterator(woken.calls.end()));
    woken.calls.clear();
  }
  woken_.notify_all();
}

bool Parking::has(Topic topic) const {
  std::lock_guard lock(mutex_);
  return !lot(topic).calls.empty();
}

std::vector<Parking::Parked> Parking::take_if(const std::function<bool(Topic, const Call&)>& chosen) {
  std::lock_guard lock(mutex_);
  std::vector<Parked> taken;
  for (size_t i = 0; i < kTopics; ++i) {
    const auto topic = static_cast<Topic>(i);
    std::erase_if(lots_[i].calls, [&](CallPtr& call) {
      if (call->reply.cancelled()) return true;
      if (!chosen(topic, *call)) return false;
      taken.push_back({topic, std::move(call)});
      return true;
    });
  }
  return taken;
}

void Parking::run() {
  for (;;) {
    CallPtr call;
    {
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [this] { return stopped_ || !ready_.empty(); });
      if (ready_.empty()) return;
      call = std::move(ready_.front());
      ready_.pop_front();
    }
    handle_(call);
  }
}

void Parking::stop() {
  std::vector<CallPtr> left;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    for (Lot& one : lots_) {
      left.insert(left.end(), one.calls.begin(), one.calls.end());
      one.calls.clear();
    }
  }
  woken_.notify_all();
  for (const CallPtr& call : left) call->fail(stopping());
  for (Thread& thread : threads_) thread.join();
}

bool Gate::enter() {
  std::lock_guard lock(mutex_);
  if (closed_) return false;
  ++inside_;
  return true;
}

Status Gate::enter_before(Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (!opened_.wait_until(lock, deadline.when(), [this] { return !closed_; })) {
    return Status::deadline_exceeded("a snapshot has kept changes waiting until the deadline");
  }
  ++inside_;
  return {};
}

void Gate::leave() {
  std::lock_guard lock(mutex_);
  if (--inside_ == 0) empty_.notify_all();
}

Status Gate::close(Deadline deadline) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  if (empty_.wait_until(lock, deadline.when(), [this] { return inside_ == 0; })) return {};
  closed_ = false;
  opened_.notify_all();
  return Status::deadline_exceeded("{} changes of the state are still under way", inside_);
}

void Gate::open() {
  std::lock_guard lock(mutex_);
  closed_ = false;
  opened_.notify_all();
}

}  // namespace argosy::ps
