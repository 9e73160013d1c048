#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"

namespace argosy::table {

// Which rows of a geo table each worker has not been told of. Keys are kept a worker, each once; what is taken is forgotten
// only when the worker asks for more, which says that the answer has arrived.
//
// Thread-safe: one lock, never held over other work.
class ChangeTracker {
 public:
  // Starts to remember for `worker`, from nothing: it has no rows yet. Also for one that was started again.
  void track(uint32_t worker);
  void forget(uint32_t worker);
  void clear();

  // `worker` has changed these rows: all other tracked workers will be told. Call it after the rows have changed.
  void record(uint32_t worker, std::span<const uint64_t> keys);

  // The keys that others have changed, in ascending order. A `number` greater than the last one begins a new answer and
  // forgets the one before; the last number again gives the same keys again. A lower one is aborted: a call that was
  // overtaken. A worker that is not tracked is tracked from now on. No more than `most` keys: the others stay for the next
  // number, and `more` says whether there are any.
  struct Taken {
    std::vector<uint64_t> keys;
    bool more = false;
  };
  Result<Taken> take(uint32_t worker, uint64_t number, uint64_t most);

  // What workers have not been told, for a snapshot: a taken answer counts as not told. Only this survives a restart, so
  // a worker may be told of a row twice, never not at all.
  struct Pending {
    uint32_t worker = 0;
    std::vector<uint64_t> keys;  // ascending
  };
  std::vector<Pending> pending() const;
  void restore(std::vector<Pending> pending);

 private:
  struct Worker {
    std::vector<uint64_t> pending;  // with repetitions beyond `unique`
    size_t unique = 0;
    std::vector<uint64_t> taken;
    uint64_t number = 0;
  };
  static void compact(Worker& worker);

  mutable Mutex mutex_;
  std::map<uint32_t, Worker> workers_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::table
