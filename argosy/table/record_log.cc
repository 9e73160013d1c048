#include "argosy/table/record_log.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "argosy/base/clock.h"
#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/table/checksum.h"
#include "argosy/table/log_format.h"
#include "argosy/table/log_mark.h"

namespace argosy::table {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kWriteback = 8 << 20;
constexpr std::string_view kClosed = "closed";  // in place of a boot: nothing was left to sync
constexpr std::array<std::byte, 8> kZeros{};

}  // namespace

Result<Fd> lock_log(const fs::path& folder) {
  const fs::path path = folder / "LOCK";
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd.open()) return system_error("cannot open", path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return system_error("cannot lock", path);
  return Status::failed_precondition(
      "log folder '{}' is in use by another process; give each server a folder of its own, or stop the other one first",
      folder.string());
}

struct RecordLog::Append {
  std::span<const Bytes> pieces;
  RecordHeader header;
  HeaderBytes header_bytes;
  uint64_t position = 0;
  bool taken = false;  // by the thread that writes
  bool done = false;
  Status status;
};

Result<std::unique_ptr<RecordLog>> RecordLog::open(const fs::path& folder, LogOptions options) {
  RETURN_IF_ERROR(make_folder(folder).with_context("the log of a server"));
  ASSIGN_OR_RETURN(Fd lock, lock_log(folder));
  std::unique_ptr<RecordLog> log(new RecordLog(folder, options, std::move(lock)));
  RETURN_IF_ERROR(log->open_files());
  return log;
}

Status RecordLog::open_files() {
  ASSIGN_OR_RETURN(segments_, list_segments(folder_));
  if (segments_.empty()) {
    RETURN_IF_ERROR(begin_segment(0));
    return start_syncing();
  }
  RETURN_IF_ERROR(repair_last_segment(segments_.back()));
  ASSIGN_OR_RETURN(DiskFile file, DiskFile::open_to_write(segments_.back().path));
  file_ = std::make_shared<DiskFile>(std::move(file));
  return start_syncing();
}

Status RecordLog::repair_last_segment(LogSegment& segment) {
  const auto mark = read_mark(folder_);
  const bool power_cut = mark && mark->boot != kClosed && mark->boot != boot_id();
  ASSIGN_OR_RETURN(const uint64_t good, find_good_size(segment, power_cut ? mark->synced : kAllSynced));
  if (power_cut) {
    log_warning(
        "log '{}': the machine was started again since this log was written, and with durability=wal the last bytes before that "
        "need not have reached the disk: up to {} s of acknowledged changes before the cut may be lost (everything before "
        "position "
        "{} is here, and {} bytes behind it)",
        folder_.string(), mark->seconds, mark->synced, segment.first + good - std::min(segment.first + good, mark->synced));
  }
  if (mark && mark->synced > segment.end()) {
    log_error("log '{}' ends at position {}, but was on the disk up to {}: acknowledged changes are missing", folder_.string(),
              segment.end(), mark->synced);
  }
  if (good == segment.size && good > 0) return {};
  log_warning("log file '{}': the {} bytes from byte {} on are {}, and are cut off", segment.path.string(), segment.size - good,
              good, power_cut ? "no whole records" : "of an append that was never finished");
  ASSIGN_OR_RETURN(DiskFile file, DiskFile::open_to_write(segment.path));
  RETURN_IF_ERROR(file.truncate(good));
  segment.size = good;
  if (good == 0) {
    const HeaderBytes header = encode_segment_header(segment.first);
    const Bytes piece(header);
    RETURN_IF_ERROR(file.write_at(0, {&piece, 1}));
    segment.size = header.size();
  }
  return file.sync();
}

// The file appears under its name with its header on the disk, so that no crash leaves one without.
Status RecordLog::begin_segment(uint64_t first) {
  const fs::path path = segment_path(folder_, first);
  const HeaderBytes header = encode_segment_header(first);
  RETURN_IF_ERROR(write_file_atomically(path, {reinterpret_cast<const char*>(header.data()), header.size()}));
  ASSIGN_OR_RETURN(DiskFile file, DiskFile::open_to_write(path));
  const MutexLock lock(mutex_);
  file_ = std::make_shared<DiskFile>(std::move(file));
  flushed_ = 0;
  segments_.push_back({.path = path, .first = first, .size = header.size()});
  synced_ = segments_.back().end();
  return {};
}

// Returns when this thread may write, or when `append` has been written by another one.
Status RecordLog::take_turn(Lock& lock, const Append* append) {
  const bool rotates = append == nullptr;
  const auto finished = [&]() ARGOSY_REQUIRES(mutex_) {
    return (!writing_ && (rotates || rotators_ == 0)) || (!rotates && append->done);
  };
  const auto wait = std::chrono::duration<double>(options_.wait_seconds);
  while (!turn_ended_.wait_for(lock, wait, finished)) {
    if (rotates || !append->taken) {
      return Status::deadline_exceeded("the disk under '{}' has not finished a write in {} s", folder_.string(),
                                       options_.wait_seconds);
    }
    // The writer reads the caller's memory, so the caller has to stay until the kernel returns.
    log_warning("the disk under '{}' has not finished a write in {} s; still waiting", folder_.string(), options_.wait_seconds);
  }
  if (rotates || !append->done) writing_ = true;
  return {};
}

void RecordLog::end_turn(Lock& lock) {
  writing_ = false;
  lock.unlock();
  turn_ended_.notify_all();
}

Result<uint64_t> RecordLog::append(std::span<const Bytes> pieces) {
  Append append{.pieces = pieces};
  for (const Bytes piece : pieces) append.header.length += piece.size();
  append.header.checksum = checksum_of(pieces);
  RETURN_IF_ERROR(append_together({&append, 1}));
  return append.position;
}

Result<uint64_t> RecordLog::append_all(std::span<const Bytes> records) {
  std::vector<Append> appends(records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    appends[i].pieces = records.subspan(i, 1);
    appends[i].header.length = records[i].size();
    appends[i].header.checksum = checksum_of(records[i]);
  }
  RETURN_IF_ERROR(append_together(appends));
  return appends.back().position;
}

// They come into a batch together.
Status RecordLog::append_together(std::span<Append> appends) {
  Append& append = appends.back();
  Lock lock(mutex_);
  for (Append& one : appends) waiting_.push_back(&one);
  if (Status status = take_turn(lock, &append); !status.ok()) {
    std::erase_if(waiting_, [&](const Append* one) { return one >= appends.data() && one <= &append; });
    return status;
  }
  if (!append.done) {
    if (!sync_error_.ok()) broken_ = sync_error_;
    const std::vector<Append*> batch = std::exchange(waiting_, {});
    for (Append* one : batch) one->taken = true;
    const uint64_t first = segments_.back().first;
    const uint64_t offset = segments_.back().size;
    lock.unlock();
    const Status status = write_batch(batch, first, offset);
    lock.lock();
    for (Append* one : batch) {
      one->status = status;
      one->done = true;
      if (status.ok()) segments_.back().size += record_size(one->header.length);
    }
    end_turn(lock);
  }
  return append.status;
}

// REQUIRES: this thread has the turn.
Status RecordLog::write_batch(std::span<Append* const> batch, uint64_t first, uint64_t offset) {
  if (!broken_.ok()) return broken_;
  uint64_t end = offset;
  std::vector<Bytes> pieces;
  for (Append* append : batch) {
    append->position = first + end;
    append->header.batch = first + offset;
    append->header_bytes = encode_record_header(append->header, append->position);
    pieces.emplace_back(append->header_bytes);
    pieces.insert(pieces.end(), append->pieces.begin(), append->pieces.end());
    pieces.push_back(Bytes(kZeros).first(padding_after(append->header.length)));
    end += record_size(append->header.length);
  }
  if (Status status = file_->write_at(offset, pieces); !status.ok()) return undo_write(offset, status);
  if (options_.sync) {
    if (Status status = file_->sync(); !status.ok()) {
      broken_ =
          Status::failed_precondition("the log accepts nothing more until the server is started again: {}", status.message());
      return broken_;
    }
  } else if (end - flushed_ >= kWriteback) {
    file_->start_writeback(flushed_, end - flushed_);
    flushed_ = end;
  }
  return {};
}

// Takes back what part of a batch has reached the file, so that the next one follows the last whole record.
Status RecordLog::undo_write(uint64_t offset, const Status& reason) {
  if (Status status = ARGOSY_PLANTED("write_not_undone") ? Status() : file_->truncate(offset); !status.ok()) {
    broken_ = Status::failed_precondition("the log accepts nothing more until the server is started again: {}, then {}",
                                          reason.message(), status.message());
    return broken_;
  }
  return reason.with_context("the log keeps the {} bytes that it has; this record is not among them and can be tried again",
                             bytes());
}

// ---- Syncing.

Status RecordLog::start_syncing() {
  if (options_.sync) {
    remove_mark(folder_);
    return {};
  }
  if (options_.sync_seconds <= 0) return {};
  RETURN_IF_ERROR(file_->sync());
  synced_ = end();
  remove_mark(folder_);  // the new one is made so that it is on the disk
  RETURN_IF_ERROR(write_mark(folder_, {.synced = synced_, .seconds = options_.sync_seconds, .boot = boot_id()}));
  sync_thread_ = Thread("log-sync", [this] { keep_synced(); });
  return {};
}

RecordLog::~RecordLog() {
  {
    const Lock lock(mutex_);
    closing_ = true;
  }
  closing_changed_.notify_all();
  sync_thread_.join();
  if (options_.sync || options_.sync_seconds <= 0 || file_ == nullptr || !sync_tail().ok()) return;
  const Lock lock(mutex_);
  (void)write_mark(folder_, {.synced = synced_, .seconds = options_.sync_seconds, .boot = std::string(kClosed)});
}

void RecordLog::keep_synced() {
  const std::string boot = boot_id();
  const auto pause = std::chrono::duration<double>(options_.sync_seconds);
  Lock lock(mutex_);
  while (!closing_changed_.wait_for(lock, pause, [this]() ARGOSY_REQUIRES(mutex_) { return closing_; })) {
    const uint64_t before = synced_;
    lock.unlock();
    const Status status = sync_tail();
    lock.lock();
    if (!status.ok()) return;
    if (synced_ == before) continue;
    const LogMark mark{.synced = synced_, .seconds = options_.sync_seconds, .boot = boot};
    lock.unlock();
    if (const Status s = write_mark(folder_, mark); !s.ok()) log_warning("{}; a power cut would seem to lose more", s.message());
    lock.lock();
  }
}

// Without the turn: appends go on meanwhile. After an error the system may have dropped the bytes, so nobody may build on them.
Status RecordLog::sync_tail() {
  Lock lock(mutex_);
  RETURN_IF_ERROR(sync_error_);
  const std::shared_ptr<DiskFile> file = file_;
  const uint64_t end = segments_.back().end();
  if (end == synced_) return {};
  lock.unlock();
  const Status status = file->sync();
  lock.lock();
  if (!status.ok()) {
    sync_error_ =
        Status::failed_precondition("the log accepts nothing more until the server is started again: {}", status.message());
    return sync_error_;
  }
  synced_ = std::max(synced_, end);
  return {};
}

Status RecordLog::sync() { return options_.sync ? Status() : sync_tail(); }

uint64_t RecordLog::synced() const {
  const Lock lock(mutex_);
  return options_.sync ? segments_.back().end() : synced_;
}

// A file is on the disk before the next one is there, so that only the last one can be torn. Nearly all of it is brought there
// while appends go on.
Result<uint64_t> RecordLog::rotate() {
  if (!options_.sync) RETURN_IF_ERROR(sync_tail());
  Lock lock(mutex_);
  ++rotators_;
  const Status turn = take_turn(lock, nullptr);
  if (--rotators_ == 0) turn_ended_.notify_all();
  RETURN_IF_ERROR(turn);
  const uint64_t first = segments_.back().end();
  lock.unlock();
  Status status = broken_;
  if (status.ok() && !options_.sync) status = sync_tail();
  if (status.ok()) status = begin_segment(first);
  lock.lock();
  end_turn(lock);
  if (!status.ok()) return status;
  return first;
}

Status RecordLog::drop_before(uint64_t position) {
  Lock lock(mutex_);
  // Oldest first, and from the list only when it is gone: what remains after a crash or an error has no gap.
  while (segments_.size() > 1 && (segments_.front().end() <= position || ARGOSY_PLANTED("log_cut_too_far"))) {
    const LogSegment oldest = segments_.front();
    lock.unlock();
    std::error_code error;
    fs::remove(oldest.path, error);
    if (error) return Status::unavailable("cannot remove the old log file '{}': {}", oldest.path.string(), error.message());
    lock.lock();
    if (segments_.front().first == oldest.first) segments_.erase(segments_.begin());
  }
  return {};
}

Status RecordLog::replay(uint64_t from, const LogVisitor& visitor) const {
  std::vector<LogSegment> segments;
  {
    const Lock lock(mutex_);
    segments = segments_;
  }
  if (from < segments.front().first || from > segments.back().end()) {
    return Status::out_of_range(
        "log '{}' holds positions {} to {}, but the records from {} on are needed; it was cut for a later snapshot, or is the "
        "log "
        "of another server",
        folder_.string(), segments.front().first, segments.back().end(), from);
  }
  for (const LogSegment& segment : segments) {
    if (segment.end() > from) RETURN_IF_ERROR(replay_segment(segment, from, visitor));
  }
  return {};
}

uint64_t RecordLog::first() const {
  const Lock lock(mutex_);
  return segments_.front().first;
}

uint64_t RecordLog::end() const {
  const Lock lock(mutex_);
  return segments_.back().end();
}

fs::path RecordLog::file_of(uint64_t position) const {
  const Lock lock(mutex_);
  const auto later = std::find_if(segments_.begin(), segments_.end(), [&](const auto& s) { return s.first > position; });
  return later == segments_.begin() ? folder_ : std::prev(later)->path;
}

int64_t RecordLog::bytes() const {
  const Lock lock(mutex_);
  return static_cast<int64_t>(segments_.back().end() - segments_.front().first);
}

}  // namespace argosy::table
