#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "argosy/base/queue.h"
#include "argosy/base/thread.h"
#include "argosy/data/dataset.h"
#include "argosy/data/line_parser.h"
#include "argosy/data/text_block.h"

namespace argosy::data {

// The parser that the options ask for.
Result<std::unique_ptr<LineParser>> make_parser(const DatasetOptions& options);

// One pass over the files: reader threads open one file each, as they become free, and put blocks of lines into a queue;
// whoever wants samples takes blocks from it and parses them, so that several threads share one file. With one reader the
// blocks come in the order of the files.
//
// Owns the threads "data-read-N". Thread-safe. The first failure of anybody ends the pass for everybody.
class FileFeed {
 public:
  // Starts min(consumers, files) readers. `options` and `parser` must outlive the feed.
  FileFeed(const DatasetOptions& options, const LineParser& parser, int consumers);
  ~FileFeed() { stop(); }

  // Moves the next block into `block`, whose buffer is recycled; false when all files have been read.
  Result<bool> next_block(TextBlock& block);

  // Parses lines of `block` into `batch` until the batch has `limit` samples or the block is done. Bad lines are dropped
  // while the options allow it.
  Status parse(TextBlock& block, int64_t limit, Batch& batch);

  // Ends the pass as a failure would, with `cancelled`, and joins the readers. Safe to call twice.
  void stop();
  DatasetCounters counters() const;

 private:
  void read_files();
  Status read_file(int64_t file);
  Status note_bad_line(const TextBlock& block, const LineError& error);
  Status fail(Status status);  // keeps the first failure, ends the pass, returns the failure that was kept
  Status failure() const;
  void count_time(std::atomic<int64_t>& nanoseconds, const Stopwatch& since);

  const DatasetOptions& options_;
  const LineParser& parser_;
  StopSignal stop_;
  Queue<TextBlock> full_, empty_;
  std::atomic<int64_t> next_file_{0};
  std::atomic<int> readers_left_{0};
  std::atomic<int64_t> lines_{0}, bytes_{0}, bad_lines_{0}, read_ns_{0}, parse_ns_{0};
  mutable std::mutex mutex_;
  Status failure_;               // guarded by mutex_
  std::mutex join_mutex_;        // one stop() at a time
  std::vector<Thread> readers_;  // last: joined while all above is alive
};

}  // namespace argosy::data
