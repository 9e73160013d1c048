#include "argosy/rpc/call_table.h"

#include "argosy/base/mutex.h"

namespace argosy::rpc {

CallTable::CallTable(std::string peer) : peer_(std::move(peer)), thread_("rpc-calls", [this] { run(); }) {}

CallTable::Id CallTable::begin(uint16_t method, Deadline deadline, uint64_t connection, Callback& done) {
  MutexLock lock(mutex_);
  if (stopped_) return 0;
  const Id id = ++last_id_;
  calls_.emplace(id, Call{method, connection, deadline, {}, std::move(done)});
  const auto at = deadlines_.emplace(deadline.when(), id).first;
  if (at == deadlines_.begin()) changed_.notify_one();  // the thread sleeps until a later one
  return id;
}

CallTable::Taken CallTable::take(Id id) {
  MutexLock lock(mutex_);
  const auto call = calls_.find(id);
  if (call == calls_.end()) return {};
  Taken taken{call->second.method, std::move(call->second.done)};
  erase(call);
  return taken;
}

void CallTable::end(Id id, Result<Received> answer) {
  MutexLock lock(mutex_);
  const auto call = calls_.find(id);
  if (call == calls_.end()) return;
  end(call, std::move(answer));
  changed_.notify_one();
}

void CallTable::end_connection(uint64_t connection, const Status& status) {
  MutexLock lock(mutex_);
  for (auto call = calls_.begin(); call != calls_.end();) {
    call = call->second.connection == connection ? end(call, status) : std::next(call);
  }
  changed_.notify_one();
}

bool CallTable::ended(Id id) const {
  MutexLock lock(mutex_);
  return !calls_.contains(id);
}

void CallTable::stop() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    for (auto call = calls_.begin(); call != calls_.end();) {
      const uint16_t method = call->second.method;
      call = end(call, Status::cancelled("the call of method {} to {} was cancelled: its channel was closed", method, peer_));
    }
    changed_.notify_one();
  }
  thread_.join();
}

CallTable::Calls::iterator CallTable::end(Calls::iterator call, Result<Received> answer) {
  ended_.push_back({std::move(call->second.done), std::move(answer)});
  return erase(call);
}

CallTable::Calls::iterator CallTable::erase(Calls::iterator call) {
  deadlines_.erase({call->second.deadline.when(), call->first});
  return calls_.erase(call);
}

void CallTable::end_late_calls() {
  while (!deadlines_.empty() && deadlines_.begin()->first <= SteadyClock::now()) {
    const auto call = calls_.find(deadlines_.begin()->second);
    end(call, Status::deadline_exceeded("{} did not answer in {:.3g} s (method {})", peer_, call->second.watch.seconds(),
                                        call->second.method));
  }
}

void CallTable::run() {
  MutexLock lock(mutex_);
  for (;;) {
    end_late_calls();
    if (!ended_.empty()) {
      Ended next = std::move(ended_.front());
      ended_.pop_front();
      lock.unlock();
      next.done(std::move(next.answer));
      next.done = nullptr;
      lock.lock();
    } else if (stopped_) {
      return;
    } else if (deadlines_.empty()) {
      changed_.wait(lock);
    } else {
      const auto until = deadlines_.begin()->first;  // a copy: the entry may go while this waits
      changed_.wait_until(lock, until);
    }
  }
}

}  // namespace argosy::rpc
