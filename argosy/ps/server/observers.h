#pragma once

#include <cstdint>
#include <map>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/ps/state/limit.h"

namespace argosy::ps {

// Callers that only read: their Hello was checked like a worker's, but they hold no place in the job, nobody waits for them, and
// nothing of them is logged. Each has a number that stands where a worker has its incarnation.
//
// Thread-safe: one lock, held for a few instructions.
class Observers {
 public:
  explicit Observers(Limit& limit) : limit_(limit) {}

  // Whether a caller's incarnation is the number of an observer, of whatever process.
  static bool is_number(uint64_t incarnation) { return incarnation >> 63 != 0; }

  // The observer's number, the same for a Hello that is repeated. The one that was silent for longest makes room where its
  // silence was long enough; otherwise resource_exhausted.
  Result<uint64_t> hello(uint64_t process_id);
  // Whether the number was given out here, and not forgotten since.
  bool knows(uint64_t number);

 private:
  struct Observer {
    uint64_t process_id = 0;
    SteadyClock::time_point heard;
  };
  void make_room() ARGOSY_REQUIRES(mutex_);

  Limit& limit_;
  Mutex mutex_;
  std::map<uint64_t, Observer> known_ ARGOSY_GUARDED_BY(mutex_);  // by number
};

}  // namespace argosy::ps
