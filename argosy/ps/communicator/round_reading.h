#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "argosy/base/line_range.h"
#include "argosy/base/mutex.h"
#include "argosy/base/step_gradients.h"
#include "argosy/ps/client/client_types.h"
#include "argosy/ps/spec/ledger.h"
#include "argosy/ps/spec/window.h"

namespace argosy::ps {

// What this worker has read in its current round, batch by batch.
//
// Thread-safe: one lock, held for a few instructions once per batch.
class RoundReading {
 public:
  // Forgets everything: the round begins, or begins again.
  void begin();

  // A batch of a dataset, by its number; `lines` where servers hand out its files.
  void add(BatchId batch, uint32_t samples, std::span<const FileLineRange> lines = {});
  // Those of some batches.
  std::vector<BatchLines> lines(std::span<const BatchId> batches) const;
  // Servers have these: their lines need not be known any more.
  void pushed(std::span<const BatchId> batches);
  // A run of a script that feeds itself failed before it sent anything.
  void drop(BatchId batch);

  // `runs`: how many a script has fed itself in the round; 0: the round is one of a dataset.
  PassReading finish(uint32_t runs) const;

 private:
  mutable Mutex mutex_;
  Window read_ ARGOSY_GUARDED_BY(mutex_);
  uint64_t samples_ ARGOSY_GUARDED_BY(mutex_) = 0;
  std::set<uint32_t> dropped_ ARGOSY_GUARDED_BY(mutex_);
  std::multimap<BatchId, FileLineRange> lines_ ARGOSY_GUARDED_BY(mutex_);  // of batches that were not pushed yet
};

}  // namespace argosy::ps
