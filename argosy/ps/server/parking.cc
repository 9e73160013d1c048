#include "argosy/ps/server/parking.h"

#include "argosy/base/mutex.h"

namespace argosy::ps {
namespace {

Status server_stopping() { return Status::unavailable("the server is stopping"); }

}  // namespace

Parking::Parking(int threads, std::function<void(const CallPtr&)> handle, Limit& calls, Limit& bytes)
    : handle_(std::move(handle)), calls_limit_(calls), bytes_limit_(bytes) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back("ps-wake", [this] { run(); });
}

Parking::~Parking() { stop(); }

uint64_t Parking::version(Topic topic) const {
  MutexLock lock(mutex_);
  return lot(topic).version;
}

void Parking::park(Topic topic, uint64_t seen_version, CallPtr call) {
  Status refusal;
  {
    MutexLock lock(mutex_);
    refusal = stopped_ ? server_stopping() : make_room(*call);
    if (refusal.ok() && lot(topic).version == seen_version) {
      lot(topic).calls.push_back(std::move(call));
      return;
    }
    if (refusal.ok()) ready_.push_back(call);
  }
  if (refusal.ok()) return woken_.notify_one();
  // A thaw comes soon, whatever the callers do: they may try again.
  call->fail(topic == Topic::thaw ? Status::unavailable("{}", refusal.message()) : refusal);
}

Status Parking::make_room(const Call& call) {
  RETURN_IF_ERROR(calls_limit_.take(1));
  Status room = bytes_limit_.take(call.bytes());
  if (!room.ok()) calls_limit_.give_back(1);
  return room;
}

void Parking::leave(const Call& call) {
  calls_limit_.give_back(1);
  bytes_limit_.give_back(call.bytes());
}

void Parking::wake(Topic topic) {
  {
    MutexLock lock(mutex_);
    Lot& woken = lot(topic);
    ++woken.version;
    if (woken.calls.empty()) return;
    ready_.insert(ready_.end(), std::make_move_iterator(woken.calls.begin()), std::make_move_iterator(woken.calls.end()));
    woken.calls.clear();
  }
  woken_.notify_all();
}

bool Parking::has(Topic topic) const {
  MutexLock lock(mutex_);
  return !lot(topic).calls.empty();
}

std::vector<Parking::Parked> Parking::take_if(const std::function<bool(Topic, const Call&)>& chosen) {
  MutexLock lock(mutex_);
  std::vector<Parked> taken;
  for (size_t i = 0; i < kTopics; ++i) {
    const auto topic = static_cast<Topic>(i);
    std::erase_if(lots_[i].calls, [&](CallPtr& call) ARGOSY_REQUIRES(mutex_) {
      if (!call->reply.cancelled() && !chosen(topic, *call)) return false;
      leave(*call);
      if (call->reply.cancelled()) return true;
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
      MutexLock lock(mutex_);
      woken_.wait(lock, [this]() ARGOSY_REQUIRES(mutex_) { return stopped_ || !ready_.empty(); });
      if (ready_.empty()) return;
      call = std::move(ready_.front());
      ready_.pop_front();
      leave(*call);
    }
    handle_(call);
  }
}

void Parking::stop() {
  std::vector<CallPtr> left;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    for (Lot& one : lots_) {
      for (const CallPtr& call : one.calls) leave(*call);
      left.insert(left.end(), one.calls.begin(), one.calls.end());
      one.calls.clear();
    }
  }
  woken_.notify_all();
  for (const CallPtr& call : left) call->fail(server_stopping());
  for (Thread& thread : threads_) thread.join();
}

}  // namespace argosy::ps
