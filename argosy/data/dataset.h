#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/batch.h"
#include "argosy/data/criteo.h"
#include "argosy/data/remote_store.h"
#include "argosy/data/slot.h"

namespace argosy::data {

// What a dataset reads and how it cuts it into batches.
struct DatasetOptions {
  std::vector<SlotSpec> slots;
  std::string pipe_command = "cat";
  int batch_size = 1;
  int threads = 1;  // that parse while an InMemoryDataset loads; a reader's own count is given to start()
  std::vector<std::string> files;
  int64_t max_bad_lines = 0;            // so many are skipped, counted and, the first of them, logged; one more ends the run
  RemoteStore store;                    // of hdfs: and afs: paths
  std::optional<CriteoOptions> criteo;  // set: lines are Criteo's tab-separated text; not set: MultiSlot text
  bool drop_last = false;               // leaves out a batch that is smaller than batch_size
};

// Refuses options that cannot work: bad slots, counts that are not positive, no files, local files that do not exist.
Status check_options(const DatasetOptions& options);

// What has been read since start(); seconds are summed over threads.
struct DatasetCounters {
  int64_t lines = 0;
  int64_t bytes = 0;  // of text, after unpacking and the pipe command
  int64_t bad_lines = 0;
  double read_seconds = 0;
  double parse_seconds = 0;
};

// Batches for `threads` threads. start(), then every thread calls next() with its own number until false, then stop().
// Another start() begins a new pass from the first sample.
//
// next() may be called by different threads at the same time for different numbers; stop() at any time by anyone. After
// stop(), and after an error, every next() returns the same error (`cancelled` for a stop).
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual Status start(int threads) = 0;

  // Fills `batch`, whose buffers are reused; false, and an empty batch, when there is no more data for this thread.
  // REQUIRES: start() was ok; 0 <= thread < threads.
  virtual Result<bool> next(int thread, Batch& batch) = 0;

  // Ends waiting threads, kills pipe commands that still run, joins readers. Safe to call twice.
  virtual void stop() = 0;

  virtual DatasetCounters counters() const = 0;
  virtual const DatasetOptions& options() const = 0;
};

}  // namespace argosy::data
