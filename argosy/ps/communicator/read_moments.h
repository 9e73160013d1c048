#pragma once

#include <map>
#include <optional>
#include <span>
#include <thread>

#include "argosy/base/mutex.h"
#include "argosy/ps/client/client_types.h"

namespace argosy::ps {

// When a worker read what its batches are computed from, in the servers' own counts: a push carries it, and servers tell from it
// how stale gradients are (server/table_staleness.h).
//
// Which reading belongs to which batch is known by threads. Rows are pulled by the thread that has taken the batch
// (begin_batch), which may be another than the one that computes it, or by the one that computes it. Dense parameters count as
// read when the thread was last here before it computed; a thread's first batch, where another thread takes and pulls it, counts
// as computed from those that are there when its gradients come.
//
// Thread-safe. Keeps some numbers per server for each batch that was begun and not pushed, and for each thread.
class ReadMoments {
 public:
  // This thread has taken a batch.
  void begun(BatchId batch);
  // This thread has pulled rows, for the batch that it has begun or, if it has begun none, computes.
  void pulled(const ReadAt& rows);
  // Geo: it has read rows of the worker's own copy.
  void read_copy();
  // Geo: the copy has what others had changed.
  void received_rows(const ReadAt& rows);
  // Dense parameters are there, for all threads.
  void received(ReadAt dense);
  // This thread has computed the gradients of `batch`.
  void computed(BatchId batch);
  // This thread goes on after its step, with the dense parameters that are there now.
  void step_done();
  // All batches begun before are over, pushed or not. While no thread trains.
  void forget_batches();

  struct Moment {
    ReadAt rows, dense;
  };
  // The oldest of these batches, which are over with it.
  Moment take(std::span<const BatchId> batches);

 private:
  struct PerThread {
    std::optional<BatchId> begun;  // and no step of it by this thread
    Moment moment;                 // rows: pulled with no batch begun
  };

  static void keep_oldest_of(ReadAt& kept, const ReadAt& other);

  void pulled_locked(const ReadAt& rows) ARGOSY_REQUIRES(mutex_);

  Mutex mutex_;
  ReadAt dense_ ARGOSY_GUARDED_BY(mutex_);
  ReadAt rows_of_copy_ ARGOSY_GUARDED_BY(mutex_);
  std::map<std::thread::id, PerThread> threads_ ARGOSY_GUARDED_BY(mutex_);
  std::map<BatchId, Moment> batches_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::ps
