#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"

namespace argosy::rpc {

// What one end of a gRPC stream may do next. gRPC takes one write and one read at a time, and neither once the stream has
// ended; calls come from many threads at any time. Every method tells its caller what to do, without the lock held: write the
// frame front(), end the stream, or nothing. `end` is told once: when the stream is closed, no write is under way and nobody
// holds it. Thread-safe.
class StreamState {
 public:
  enum class Then { nothing, write, end };

  struct Outgoing {
    grpc::ByteBuffer bytes;
    uint64_t call = 0;
    std::shared_ptr<void> kept;  // released when the frame has been written or dropped
    SteadyClock::time_point expires = SteadyClock::time_point::max();  // nobody waits for it from then on; for `skip`
  };
  using Skip = std::function<bool(const Outgoing&)>;

  // Frames for which `skip` holds when their turn comes are dropped. It is called under the lock.
  explicit StreamState(Skip skip = nullptr) : skip_(std::move(skip)) {}

  // Writes `first`, and nothing else before open_gate(). REQUIRES: nothing was added yet.
  Then begin(Outgoing&& first);
  Then open_gate();

  // False where the stream is closed: then the frame was not taken and there is nothing to do.
  bool add(Outgoing&& frame, Then& then);
  Then written(bool ok);  // the write of front() has ended
  grpc::ByteBuffer* front() { return &writing_.bytes; }

  // Drops the waiting frames for which `skip` holds by now.
  void drop_skipped();
  size_t waiting() const;       // frames, without the one that is being written
  size_t unsent_bytes() const;  // with it

  // Keeps the end off until as many releases. False where the stream is closed.
  bool hold();
  Then release();

  Then close();  // no more frames; those that wait are dropped
  bool closed() const;

 private:
  Then next_write() ARGOSY_REQUIRES(mutex_);
  Then end_if_idle() ARGOSY_REQUIRES(mutex_);

  const Skip skip_;
  mutable Mutex mutex_;
  std::deque<Outgoing> waiting_ ARGOSY_GUARDED_BY(mutex_);
  Outgoing writing_;  // stays where it is while gRPC reads it; not guarded
  size_t writing_bytes_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool gate_is_open_ ARGOSY_GUARDED_BY(mutex_) = true;
  int holders_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool is_writing_ ARGOSY_GUARDED_BY(mutex_) = false;
  bool closed_ ARGOSY_GUARDED_BY(mutex_) = false, ended_ ARGOSY_GUARDED_BY(mutex_) = false;
};

}  // namespace argosy::rpc
