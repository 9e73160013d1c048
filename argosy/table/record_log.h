#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/disk_file.h"
#include "argosy/base/fd.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/base/thread.h"
#include "argosy/table/log_segment.h"

namespace argosy::table {

struct LogOptions {
  // false (`wal`): an acknowledged record is with the kernel, and survives the death of the process.
  // true (`wal_sync`): it is on the disk, and survives a power cut.
  bool sync = false;
  // Of `wal`: the thread "log-sync" brings what was appended to the disk so often, while appends go on: no more than this is lost
  // by a power cut. 0: never.
  double sync_seconds = 0;
  // From this size on a snapshot is due. Appends are never refused for it.
  int64_t max_bytes = int64_t{4} << 30;
  // An append that has not been begun after this time, because the writes before it hang, is `deadline_exceeded`.
  double wait_seconds = 60;
};

// Keeps every other process from opening the log of this folder, while the result lives; failed_precondition where one has it.
Result<Fd> lock_log(const std::filesystem::path& folder);

// A write-ahead log: opaque records in append-only files of one folder. A position is the place of a byte in the whole log,
// counted from the log's first day; a record's is that of its first byte, so later records have larger ones.
//
// What append() has acknowledged is found again by the next open(), in the order of the positions, whole and once. What was
// being appended when the process died is there as a whole record or not at all. A machine that dies may take what was not synced
// with it; the rest is found, up to the first record that is not whole, and how much may be missing is said in the program's log.
//
// Thread-safe; owns the thread "log-sync". Appends that arrive while another is being written are written, and synced, together.
class RecordLog {
 public:
  // Opens the log of `folder` or begins one. Bytes of an unfinished append at the end are cut off with a line in the program's
  // log; damage before the end is `data_loss` and names file and byte. A folder that another process has open is refused.
  static Result<std::unique_ptr<RecordLog>> open(const std::filesystem::path& folder, LogOptions options);
  ~RecordLog();  // syncs what is not on the disk yet
  RecordLog(const RecordLog&) = delete;
  RecordLog& operator=(const RecordLog&) = delete;

  // Adds a record, the pieces one after the other, and returns its position. After an error nothing of the record is in the log;
  // it may be tried again (`resource_exhausted`: the disk is full) unless the code is `failed_precondition`: then the file is in
  // an unknown state, and only a new process finds out what it holds.
  Result<uint64_t> append(std::span<const Bytes> pieces);

  // The same for several records, one after the other: all or none. Returns the last one's position. REQUIRES: there is one.
  Result<uint64_t> append_all(std::span<const Bytes> records);

  // Begins a new file and returns its position: all records so far are before it, all later ones behind it. A snapshot of the
  // state at this moment, once it is safe, makes drop_before() of this position possible.
  Result<uint64_t> rotate();

  // Returns when all that is acknowledged so far is on the disk. Appends go on meanwhile.
  Status sync();

  // Removes the files that hold nothing at `position` or behind it.
  Status drop_before(uint64_t position);

  // Shows the records from position `from` on to the visitor, as far as they were there at the call. `from` is what rotate() or
  // append() returned, or first(). `out_of_range` if records from there on are missing: the log was cut for a later snapshot,
  // or is not the one that the position is from.
  Status replay(uint64_t from, const LogVisitor& visitor) const;

  uint64_t first() const;  // position at which the oldest file begins
  uint64_t end() const;    // position of the next record
  uint64_t synced() const;  // everything below it is on the disk, as far as this process knows
  int64_t bytes() const;   // on the disk
  std::filesystem::path file_of(uint64_t position) const;  // for messages
  bool snapshot_due() const { return bytes() >= options_.max_bytes; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  struct Append;  // one caller of append(), on its stack
  using Lock = MutexLock;

  RecordLog(std::filesystem::path folder, LogOptions options, Fd folder_lock)
      : folder_(std::move(folder)), options_(options), folder_lock_(std::move(folder_lock)) {}
  Status open_files() ARGOSY_UNCHECKED_LOCKING;  // by open(): no other thread has the log yet
  Status repair_last_segment(LogSegment& segment);
  Status start_syncing() ARGOSY_UNCHECKED_LOCKING;  // likewise
  void keep_synced();  // the body of "log-sync"
  Status sync_tail();
  Status begin_segment(uint64_t first);

  Status append_together(std::span<Append> appends);
  Status take_turn(Lock& lock, const Append* append) ARGOSY_REQUIRES(mutex_);  // of an append, or of rotate() without one
  void end_turn(Lock& lock) ARGOSY_UNCHECKED_LOCKING;  // REQUIRES: `lock` holds mutex_; it does not any more afterwards
  Status write_batch(std::span<Append* const> batch, uint64_t first, uint64_t offset);
  Status undo_write(uint64_t offset, const Status& reason);

  const std::filesystem::path folder_;
  const LogOptions options_;
  const Fd folder_lock_;

  mutable Mutex mutex_;
  ConditionVariable turn_ended_;
  std::vector<Append*> waiting_ ARGOSY_GUARDED_BY(mutex_);      // not yet taken by a writer
  bool writing_ ARGOSY_GUARDED_BY(mutex_) =
      false;              // somebody has the turn: that thread alone, without the lock, uses file_ and broken_
  int rotators_ ARGOSY_GUARDED_BY(mutex_) = 0;  // callers of rotate() that wait for the turn: they go before appends
  std::vector<LogSegment> segments_
      ARGOSY_GUARDED_BY(mutex_);  // the last one is being written; its size is what has been acknowledged

  ConditionVariable closing_changed_;
  bool closing_ ARGOSY_GUARDED_BY(mutex_) = false;
  uint64_t synced_ ARGOSY_GUARDED_BY(mutex_) = 0;  // everything below this position is on the disk, as far as this process knows
  Status sync_error_ ARGOSY_GUARDED_BY(mutex_);  // not ok: bytes that were acknowledged may never reach the disk

  std::shared_ptr<DiskFile>
      file_;  // of the last segment; replaced with the turn and the lock, so a copy taken with the lock is good
  uint64_t flushed_ = 0;  // of that file: how far the kernel was told to begin to write
  Status broken_;  // not ok: the last file is in an unknown state

  Thread sync_thread_;
};

}  // namespace argosy::table
