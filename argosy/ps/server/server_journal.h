#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "argosy/ps/state/state.h"
#include "argosy/table/record_log.h"

namespace argosy::ps {

// A record's bytes as the log has them, read; nothing is copied.
Result<Record> decode_record(argosy::Bytes bytes);
// The bytes that the log has of a record.
std::vector<std::byte> encode_record(const Record& record);
// What stands in the log for `bytes` of records that were moved out of it. REQUIRES: bytes is 16 or more.
std::string set_aside_record(uint64_t bytes);
// "PUSH of worker 1, batch 17 of round 0": which record is meant, as far as it can be read.
std::string describe(const Record& record);

// The log of a server: its records, in table::RecordLog. A record's bytes, little-endian, everything from a multiple of 8 on:
//
//   u16 method · u16 version (1) · u32 seconds · u32 size of the header · u32 0 · header · zeros up to a multiple of 8 · payload
//
// Thread-safe.
class Journal {
 public:
  static Result<std::unique_ptr<Journal>> open(const std::filesystem::path& folder, const table::LogOptions& options);

  // Returns when the record is safe. `unavailable`: the disk is full, say; nothing was written and it may be tried again.
  // failed_precondition: the log is in an unknown state and the process has to end.
  Status append(const Record& record);

  // Shows the records from `from` on, but for those that `argosy repair` has set aside. The visitor's error ends it, with the
  // record's file, position and kind before the message; a record that cannot be read is data_loss.
  Status replay(uint64_t from, const std::function<Status(const Record&)>& visit) const;

  table::RecordLog& log() { return *log_; }

 private:
  explicit Journal(std::unique_ptr<table::RecordLog> log) : log_(std::move(log)) {}

  const std::unique_ptr<table::RecordLog> log_;
};

}  // namespace argosy::ps
