#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/table/cold_rows.h"
#include "argosy/table/cold_store.h"
#include "argosy/table/cold_turn.h"
#include "argosy/table/shard.h"

namespace argosy::table {

// What a call wants with rows that are on disk only.
struct ColdAccess {
  bool leave = false;                              // they are read, and stay there; otherwise they come back into memory
  const std::atomic<int>* leave_while = nullptr;  // not 0: as `leave`

  bool leaves() const { return leave || (leave_while != nullptr && leave_while->load() != 0); }
};

// Finds the rows of the probes wherever they are: slots of those in memory, copies in `cold` of those that are on disk only and
// stay there. Gives the shard's lock back while it reads from disk. What it returns is true of the moment at which it returns.
// unavailable: another call uses the disk for longer than anybody waits.
Status find_rows(Shard& shard, ShardLock& lock, std::span<const Probe> probes, uint32_t* slots, const ColdAccess& access,
                 ColdRows& cold);

// A time in which the caller alone moves a shard's rows between memory and disk, and changes those on disk: who looks for a row
// on disk waits. REQUIRES: the thread does not hold the shard's lock, when it begins and when it ends.
class ColdRewrite {
 public:
  static Result<ColdRewrite> begin(Shard& shard);
  ColdRewrite(ColdRewrite&&) = default;
  ColdRewrite& operator=(ColdRewrite&&) = delete;
  ~ColdRewrite();

 private:
  ColdRewrite(Shard& shard, ColdTurn::Holder turn);
  Shard& shard_;
  ColdTurn::Holder turn_;  // null: moved from
};

// The turn, or unavailable where it does not come in time.
Result<ColdTurn::Holder> take_cold_turn(Shard& shard);

// Rows of a shard on disk that were read one after the other, without its lock.
struct ColdPiece {
  std::vector<uint64_t> keys;
  std::vector<float> rows;  // words() each

  // Takes the next rows of `cursor`, at most so many.
  ColdPiece(ColdStore::Cursor& cursor, const RowLayout& layout, size_t most);
  float* row(size_t i) { return rows.data() + i * words_; }

 private:
  size_t words_;
};

}  // namespace argosy::table
