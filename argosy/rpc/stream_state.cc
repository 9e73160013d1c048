#include "argosy/rpc/stream_state.h"

#include <utility>

#include "argosy/base/mutex.h"

namespace argosy::rpc {

StreamState::Then StreamState::begin(Outgoing&& first) {
  MutexLock lock(mutex_);
  gate_is_open_ = false;
  writing_ = std::move(first);
  is_writing_ = true;
  return Then::write;
}

StreamState::Then StreamState::open_gate() {
  MutexLock lock(mutex_);
  gate_is_open_ = true;
  return closed_ || is_writing_ ? Then::nothing : next_write();
}

bool StreamState::add(Outgoing&& frame, Then& then) {
  then = Then::nothing;
  MutexLock lock(mutex_);
  if (closed_) return false;
  waiting_.push_back(std::move(frame));
  if (!is_writing_) then = next_write();
  return true;
}

StreamState::Then StreamState::written(bool ok) {
  Outgoing done;  // released without the lock
  std::deque<Outgoing> dropped;
  MutexLock lock(mutex_);
  done = std::exchange(writing_, {});
  is_writing_ = false;
  if (!ok) closed_ = true;
  if (!closed_) return next_write();
  dropped.swap(waiting_);
  return end_if_idle();
}

void StreamState::drop_skipped() {
  std::deque<Outgoing> dropped;  // released without the lock
  MutexLock lock(mutex_);
  std::deque<Outgoing> stay;
  for (Outgoing& frame : waiting_) (skip_ != nullptr && skip_(frame) ? dropped : stay).push_back(std::move(frame));
  waiting_.swap(stay);
}

size_t StreamState::unsent_bytes() const {
  MutexLock lock(mutex_);
  size_t sum = is_writing_ ? writing_bytes_ : 0;
  for (const Outgoing& frame : waiting_) sum += frame.bytes.Length();
  return sum;
}

size_t StreamState::waiting() const {
  MutexLock lock(mutex_);
  return waiting_.size();
}

bool StreamState::hold() {
  MutexLock lock(mutex_);
  if (closed_) return false;
  ++holders_;
  return true;
}

StreamState::Then StreamState::release() {
  MutexLock lock(mutex_);
  --holders_;
  return closed_ ? end_if_idle() : Then::nothing;
}

StreamState::Then StreamState::close() {
  std::deque<Outgoing> dropped;
  MutexLock lock(mutex_);
  closed_ = true;
  dropped.swap(waiting_);
  return end_if_idle();
}

bool StreamState::closed() const {
  MutexLock lock(mutex_);
  return closed_;
}

StreamState::Then StreamState::next_write() {
  while (gate_is_open_ && !waiting_.empty()) {
    writing_ = std::move(waiting_.front());
    waiting_.pop_front();
    if (skip_ != nullptr && skip_(writing_)) continue;
    is_writing_ = true;
    writing_bytes_ = writing_.bytes.Length();
    return Then::write;
  }
  writing_ = {};
  return Then::nothing;
}

StreamState::Then StreamState::end_if_idle() {
  if (is_writing_ || holders_ > 0 || ended_) return Then::nothing;
  ended_ = true;
  return Then::end;
}

}  // namespace argosy::rpc
