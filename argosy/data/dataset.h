#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/batch.h"
#include "argosy/data/column_options.h"
#include "argosy/data/corpus_options.h"
#include "argosy/data/criteo.h"
#include "argosy/data/remote_store.h"
#include "argosy/data/slot.h"

namespace argosy::data {

class ArrowTable;

// Deals the files of one list to the readers of several processes, each file to one of them.
//
// A file that is a table is dealt row group by row group: what is said of files here is said of these, and their lines are rows.
//
// Where another process is lost, files that it had are dealt again: lines that were trained from it are to be left out.
//
// begin_pass() by one thread, before the readers ask; next() by all of them at the same time.
class FileHandout {
 public:
  virtual ~FileHandout() = default;
  // Every file is to be dealt once more. Every process makes the same passes.
  virtual void begin_pass() = 0;
  // The same, where the files are read into memory, for passes that come later.
  virtual void begin_load() { begin_pass(); }
  // The pass that was begun last is dealt again, to this process, as before.
  virtual void repeat_pass() {}
  struct File {
    size_t place = 0;              // in the list
    std::vector<LineRange> skip;   // ascending, of this file
    int64_t in_parts = 0;          // of these lines, those that only a part of the job has
    std::optional<int64_t> lines;  // how many it has, where that is known
  };
  // The next file for one reader of this process, which had read the one before, of `lines` lines; none: all are dealt, but there
  // may be more when it asks again later. A process that is started again and asks the same gets the same.
  virtual Result<std::optional<File>> next(size_t files, int reader, int64_t lines) = 0;
};

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
  std::optional<CorpusOptions> corpus;  // set: lines are sentences, and batch_size counts them, not their samples
  FileFormat format = FileFormat::by_name;
  ColumnOptions columns;                     // of files that are tables
  std::shared_ptr<const ArrowTable> table;   // set: what is read, in place of files
  bool drop_last = false;               // leaves out a batch that is smaller than batch_size
  std::shared_ptr<FileHandout> handout;  // null: this process reads all files
};

// Whether this file is read as a table and not as text.
bool is_table(const DatasetOptions& options, const std::string& file);

// Refuses options that cannot work: bad slots, counts that are not positive, no files, local files that do not exist, settings of
// text where there are tables.
Status check_options(const DatasetOptions& options);

// What has been read since start(); seconds are summed over threads.
struct DatasetCounters {
  int64_t lines = 0;
  int64_t bytes = 0;  // of text, after unpacking and the pipe command
  int64_t bad_lines = 0;
  int64_t lines_of_lost = 0;   // left out, as a hand-out said
  int64_t lines_in_parts = 0;  // of these: see FileHandout::File
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
  // A pass that every process makes is not needed of this one.
  virtual void skip() {}
  // The pass of the last start() was not finished: the next start() begins the same one again.
  virtual void repeat() {}

  // Fills `batch`, whose buffers are reused; false, and an empty batch, when there is no more data for this thread. A batch's
  // number in the pass says what is in it, whichever thread gets it: the same in a pass over the same data with as many threads.
  // REQUIRES: start() was ok; 0 <= thread < threads.
  virtual Result<bool> next(int thread, Batch& batch) = 0;

  // Ends waiting threads, kills pipe commands that still run, joins readers. Safe to call twice.
  virtual void stop() = 0;

  virtual DatasetCounters counters() const = 0;
  // How much of the pass has been read, from 0 to 1; none where its size is not known. By anyone.
  virtual std::optional<double> read_ratio() const { return std::nullopt; }
  virtual const DatasetOptions& options() const = 0;
};

}  // namespace argosy::data
