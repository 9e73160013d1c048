#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"

namespace argosy::rpc {

// When the streams of a server are read from. gRPC reads with few threads, and one of them stays with a connection as long as
// that has more: a caller with hundreds of requests on their way would keep the others from being read at all. So a stream that
// brings more requests within a millisecond than a caller does who waits for its answers is in a hurry, and takes turns with the
// others that are: one of them is read from at a time, at fixed intervals, until it has brought a few. Together they get a
// bounded part of the server, however many they are, in pieces that are short beside a call: whose call comes meanwhile waits for
// one piece. The rest is for those who are not in a hurry. Who is alone is not held up.
//
// Thread-safe. Owns the thread "rpc-turns".
class ReadTurns {
 public:
  using Source = uint64_t;
  using Time = SteadyClock::time_point;
  using Read = std::function<bool()>;  // false where there is nothing to read from any more: the turn is the next one's

  // How often a turn comes, and how many requests it is.
  struct Pace {
    std::chrono::nanoseconds interval;
    int requests = 1;
  };
  // Of a server with so many threads: the same part of it, in turns that are not too short for a timer.
  static Pace pace_of(int threads);

  // What a stream has brought lately. Thread-compatible.
  struct Burst {
    Time began = {};
    int left = 0;  // requests, before it has to wait for a turn
    bool waited = false;  // for the turn that its next request begins
  };

  explicit ReadTurns(Pace pace) : pace_(pace), thread_("rpc-turns", [this] { run(); }) {}
  ~ReadTurns() { stop(); }

  // A stream of `source` has brought a request. Whether it may be read from at once; if not, it waits for a turn.
  bool goes_on(Burst& burst, Source source, Time now);
  void wait_for_turn(Read read);  // dropped after stop()
  // Drops the reads that wait. Safe to call twice, not from a read.
  void stop();

 private:
  void run();
  bool is_alone(Source source, Time now);

  const Pace pace_;
  std::atomic<Source> last_source_ = 0;
  std::atomic<Time> last_change_ = Time{};  // of last_source_

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Read> waiting_ ARGOSY_GUARDED_BY(mutex_);
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace argosy::rpc
