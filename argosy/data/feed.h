#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/queue.h"
#include "argosy/base/thread.h"
#include "argosy/data/block_lanes.h"
#include "argosy/data/dataset.h"
#include "argosy/data/file_parts.h"
#include "argosy/data/line_parser.h"

namespace argosy::data {

// The parser that the options ask for. `pass`: how many passes were made before, for formats in which each draws anew.
Result<std::unique_ptr<LineParser>> make_parser(const DatasetOptions& options, uint64_t pass = 0);

// One pass over the parts of files: R reader threads read every R-th part each, or what a hand-out gives them, and put blocks of
// lines (of rows, where the part is of a table) into lanes; consumers take lines from there and parses them, so that several
// threads share one file. Which lines are taken as the n-th does not depend on the speed of anybody. With one reader they come in
// the order of the files.
//
// Owns the threads "data-read-N". Thread-safe. The first failure of anybody ends the pass for everybody.
class FileFeed {
 public:
  // Starts min(consumers, parts) readers. `options` and `parser` must outlive the feed.
  // A warning says where no text has come from any file for `patience_seconds`.
  FileFeed(const DatasetOptions& options, std::shared_ptr<const FileParts> parts, const LineParser& parser, int consumers,
           double patience_seconds = BlockLanes::kPatienceSeconds);
  ~FileFeed() { stop(); }

  // The next `lines` lines, and how many times that was asked before; fewer lines at the end, false when all files have been
  // read. See BlockLanes::take. Pieces must not outlive the feed.
  Result<bool> next_lines(int64_t lines, std::vector<TextPiece>& pieces, uint64_t& number);
  // As many as happen to lie together.
  Result<bool> next_block(TextPiece& piece);

  // Parses the piece into `batch`. Bad lines are dropped while the options allow it.
  Status parse(TextPiece& piece, Batch& batch);

  // Ends the pass as a failure would, with `cancelled`, and joins the readers. Safe to call twice.
  void stop();
  DatasetCounters counters() const;
  // See BatchSource: by text where that is what the files hold, otherwise by whole files.
  std::optional<double> read_ratio() const;

 private:
  void read_files(int reader);
  // After so many; none: it has read its last one. `lines`: that the last one had.
  Result<std::optional<FileHandout::File>> next_file(int reader, size_t read, int64_t lines);
  Result<int64_t> read_part(int reader, PartReader& rows, const FileHandout::File& file);  // how many lines it has
  Result<int64_t> read_text(int reader, const FileHandout::File& file);
  Result<int64_t> read_rows(int reader, PartReader& rows, const FileHandout::File& file);
  std::shared_ptr<TextOrigin> origin_of(size_t part) const;
  Status push(int reader, const std::shared_ptr<TextBlock>& block, const std::vector<LineRange>& skip);
  std::shared_ptr<TextBlock> new_block();
  Result<bool> answer(QueueState state) const;
  Status take_rows(TextPiece& piece, Batch& batch);
  Status note_bad_line(const TextPiece& piece, const LineError& error);
  Status note_bad(std::string message);
  Status fail(Status status);  // keeps the first failure, ends the pass, returns the failure that was kept
  Status failure() const;
  void warn_of_silence() const;
  void count_time(std::atomic<int64_t>& nanoseconds, const Stopwatch& since);

  const DatasetOptions& options_;
  const std::shared_ptr<const FileParts> parts_;
  const LineParser& parser_;
  const int reader_count_;
  const double patience_seconds_;
  const std::vector<int64_t> part_bytes_;  // of each part; empty: not known, or another process reads some of them
  const bool plain_;                       // what is read is what the files hold
  std::atomic<int64_t> finished_bytes_{0};  // of parts of text that were read to their ends, and of rows
  StopSignal stop_;
  TextClock clock_;
  Queue<TextBlock> empty_;  // buffers of blocks that have been parsed
  BlockLanes lanes_;        // after empty_, where its blocks go
  std::atomic<int64_t> lines_{0}, bytes_{0}, bad_lines_{0}, lines_of_lost_{0}, lines_in_parts_{0}, read_ns_{0}, parse_ns_{0};
  mutable Mutex mutex_;
  Status failure_ ARGOSY_GUARDED_BY(mutex_);
  Mutex join_mutex_;        // one stop() at a time
  std::vector<Thread> readers_;  // last: joined while all above is alive
};

}  // namespace argosy::data
