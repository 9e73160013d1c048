#pragma once

#include <cstdint>
#include <map>
#include <memory>
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

  // What a worker has not been told, for a snapshot: a taken answer counts as not told. Only this survives a restart, so a
  // worker may be told of a row twice, never not at all. The keys are shared with the tracker and sorted by who asks for them,
  // so that pending() is short however many there are.
  class Pending {
   public:
    uint32_t worker() const { return worker_; }
    std::vector<uint64_t> keys() const;  // ascending

   private:
    friend class ChangeTracker;
    using Part = std::shared_ptr<const std::vector<uint64_t>>;
    uint32_t worker_ = 0;
    std::vector<Part> parts_;
  };
  std::vector<Pending> pending();
  void restore(std::map<uint32_t, std::vector<uint64_t>> keys_of_workers);

 private:
  struct Worker {
    std::vector<Pending::Part> sealed;  // what is pending and was shown to a snapshot: never changed again
    size_t sealed_keys = 0;             // in all of them
    std::vector<uint64_t> pending;      // the rest; both together have repetitions beyond `unique`
    size_t unique = 0;
    Pending::Part taken;  // null: nothing
    uint64_t number = 0;
  };
  static void seal(Worker& worker);
  static void compact(Worker& worker);

  mutable Mutex mutex_;
  std::map<uint32_t, Worker> workers_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::table
