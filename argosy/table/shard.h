#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/random.h"
#include "argosy/base/status.h"
#include "argosy/table/cold_store.h"
#include "argosy/table/cold_turn.h"
#include "argosy/table/row_arena.h"
#include "argosy/table/row_layout.h"
#include "argosy/table/slot_index.h"
#include "argosy/table/table_size.h"

namespace argosy::table {

class ColdRows;

// A key on its way to its row.
struct Probe {
  uint64_t key;
  uint32_t hash;      // for SlotIndex
  uint32_t position;  // of the key in the caller's batch
};

// Which bits of mix64(key) are used for what: the highest choose the shard, those from 16 on are SlotIndex's hash. The
// lowest are left alone: servers are chosen by a remainder, so all keys of one server may agree in them.
inline uint32_t index_hash(uint64_t mixed) { return static_cast<uint32_t>(mixed >> 16); }

// What is left to be read of a shard as it was at one moment, the cut, while it goes on changing: what is changed before it was
// read is kept here as it was, once, so it is never more than the shard itself.
struct ShardCut {
  uint32_t cursor = 0;      // rows in memory at lower slots have been read, or did not exist
  std::vector<float> rows;  // kept: RowLayout::words() each
  bool waiting_read = false;
  absl::flat_hash_map<uint64_t, std::optional<RowCounters>> waiting;  // of keys that changed since; nothing: did not wait then
  bool cold_read = false;
  absl::flat_hash_set<uint64_t> dropped;       // the copy on disk is not the row: dropped since, from memory, or already then
  absl::flat_hash_set<uint64_t> dropped_cold;  // were on disk only and have been dropped since
};

// The rows of one shard, by key: in memory, or on disk only. Rows are made here and nowhere else. The disk itself is read and
// written by the callers, between two calls of this, without mutex().
//
// A row that leaves memory is in three places one after the other: in memory; in memory while it is written (kLeaving), free to
// be used, changed or dropped as any other; on disk only. A row that is dropped leaves an obsolete copy on disk, which is noted
// here until it has been removed there.
//
// Thread-compatible: the caller holds mutex(), but for mutex() itself, turn() and size().
class Shard {
 public:
  // All of a table's shards share the arena and the overflow, null where there is no memory limit. `most_rows` is what may
  // stay in memory, 0 for all.
  Shard(uint32_t number, const SparseSpec& spec, const RowLayout& layout, RowArena& arena, std::shared_ptr<ColdStore> cold,
        uint32_t most_rows);

  // The shard's lock, for ShardLock. How much there is is noted when it is given back, for size() to tell without it.
  class Mutex {
   public:
    explicit Mutex(const Shard& shard) : shard_(shard) {}
    void lock() ARGOSY_UNCHECKED_LOCKING { mutex_.lock(); }
    void unlock() ARGOSY_UNCHECKED_LOCKING {
      shard_.note_size();
      mutex_.unlock();
    }

   private:
    const Shard& shard_;
    argosy::Mutex mutex_;
  };
  Mutex& mutex() const { return mutex_; }
  // Of who moves rows to disk, or changes those on disk.
  ColdTurn& turn() { return turn_; }
  // As of when mutex() was last given back. Any thread, without it.
  TableSize size() const;

  // The slots of the probes' rows, kNoSlot for those that are not in memory.
  void find(std::span<const Probe> probes, uint32_t* slots) const;
  uint32_t find(uint64_t key) const { return find(key, index_hash(mix64(key))); }
  uint32_t find(uint64_t key, uint32_t hash) const;
  // Puts the rows of `cold` that are still on disk only back into memory, and notes that all rows of the probes are in use.
  Status bring_back(std::span<const Probe> probes, uint32_t* slots, ColdRows& cold);
  // Drops what is not, or no longer, on disk only from `cold`.
  void leave_on_disk(std::span<const Probe> probes, const uint32_t* slots, ColdRows& cold) const;

  // A new row with its initial value. REQUIRES: the key has none, in memory or on disk.
  Result<uint32_t> create(uint64_t key, uint32_t hash);
  float* row(uint32_t slot) { return arena_->row(slot); }
  const float* row(uint32_t slot) const { return arena_->row(slot); }
  void erase(uint32_t slot);

  // Rows on their way to disk.
  struct Eviction {
    ColdStore::Batch batch;
    std::vector<uint32_t> leaving;
    std::vector<uint64_t> obsolete;  // copies that the batch removes
  };
  // Whether there are more rows in memory than there should be, or much that is obsolete on disk.
  bool wants_eviction() const;
  bool is_far_beyond_limit() const { return cold_ != nullptr && index_.size() > most_rows_ + most_rows_ / 4; }
  // Takes the rows that have not been used for longest, until the limit is kept with some room. They stay in memory until the
  // batch is written. REQUIRES: the caller has the turn, here and in finish_eviction().
  Eviction begin_eviction();
  // Frees the rows that nobody has used meanwhile; none of them without `may_leave`, or where the batch was not written.
  void finish_eviction(const Eviction& eviction, bool written, bool may_leave);

  // Between these two nobody brings rows back, and nobody trusts what was read of the disk. REQUIRES: the caller has the turn.
  void begin_rewrite() { rewritten_ = true; }
  void end_rewrite();
  bool is_rewritten() const { return rewritten_; }
  // Notes that rows that were on disk only have been removed there.
  void drop_cold(std::span<const uint64_t> keys);

  // Counts what makes a row on disk another one, or moves rows there: what was read at the same number is still so.
  uint64_t moves() const { return moves_; }
  // What the disk has of this key is no row.
  bool is_obsolete(uint64_t key) const { return !obsolete_.empty() && obsolete_.contains(key); }
  // REQUIRES: the disk has something of this key.
  bool is_on_disk_only(uint64_t key) const { return find(key) == kNoSlot && !is_obsolete(key); }

  // Slots by position, for walking over all rows; kNoSlot where no row is. Rows keep their positions while they live.
  size_t row_bytes() const { return layout_.bytes(); }
  size_t positions() const { return chunks_.size() * arena_->chunk_rows(); }
  uint32_t slot_at(size_t position) const;
  uint32_t slot_number(size_t position) const {
    return chunks_[position / arena_->chunk_rows()] + static_cast<uint32_t>(position % arena_->chunk_rows());
  }
  size_t used_positions() const { return fresh_; }  // no row is at this position or behind it

  using Waiting = absl::flat_hash_map<uint64_t, RowCounters>;
  Waiting& waiting() { return waiting_; }
  const Waiting& waiting() const { return waiting_; }

  // ---- A cut. Code that changes a row or a waiting key calls keep() or keep_waiting() with it before; erase() does by itself.

  // REQUIRES: !is_cut().
  void begin_cut();
  // Forgets what is left. Takes a look at every row that was not read.
  void end_cut();
  void drop_cut() { cut_.reset(); }  // REQUIRES: everything was read
  bool is_cut() const { return cut_ != nullptr; }
  ShardCut* cut() const { return cut_.get(); }
  void keep(std::span<const uint32_t> slots) {
    if (cut_ == nullptr) return;
    for (const uint32_t slot : slots) {
      if (slot != kNoSlot) keep(slot);
    }
  }
  void keep(uint32_t slot);
  void keep_waiting(uint64_t key);

  // Changes places with a shard of another table of the same layout; the caller holds both locks.
  void swap(Shard& other);

  // Where the shard's rows on disk are; shared, since a cursor over them may outlive a swap().
  const std::shared_ptr<ColdStore>& cold() const { return cold_; }
  uint32_t number() const { return number_; }
  uint64_t memory_rows() const { return index_.size(); }
  uint64_t cold_rows() const { return cold_rows_; }
  uint64_t memory_bytes() const;

  // REQUIRES: nothing of the shard is left on disk.
  void clear();

 private:
  // The rows as SlotIndex asks for them.
  struct Keys {
    const RowArena& arena;
    uint64_t key(uint32_t slot) const { return RowLayout::header(arena.row(slot)).key; }
    uint32_t hash(uint32_t slot) const { return index_hash(mix64(key(slot))); }
    void prefetch(uint32_t slot) const { __builtin_prefetch(arena.row(slot)); }
  };
  uint64_t key_of(uint32_t slot) const { return Keys{*arena_}.key(slot); }
  Result<uint32_t> take_slot();
  Result<uint32_t> put_back(const Probe& probe, const float* row);
  void release(uint32_t slot);
  // What a row that was not in memory at the cut is marked with.
  uint32_t marks_of_new(uint32_t slot) const { return cut_ != nullptr && slot >= cut_->cursor ? RowHeader::kKept : 0; }

  const uint32_t number_;
  const RowInitializer initializer_;
  const RowLayout& layout_;
  const uint32_t most_rows_;

  void note_size() const;

  // Of size(); written by who holds mutex_.
  mutable std::atomic<uint64_t> noted_rows_ = 0, noted_waiting_ = 0, noted_cold_ = 0, noted_bytes_ = 0;
  ColdTurn turn_;
  mutable Mutex mutex_{*this};  // guards what follows
  RowArena* arena_;
  std::shared_ptr<ColdStore> cold_;
  SlotIndex index_;
  std::vector<uint32_t> chunks_;  // their first slots
  uint32_t free_ = kNoSlot;       // the first of a list through the free slots' keys
  size_t fresh_ = 0;              // positions from here on have never been used
  size_t hand_ = 0;               // the position that eviction looks at next
  uint64_t cold_rows_ = 0;
  absl::flat_hash_set<uint64_t> obsolete_;  // keys without a row that may have a copy on disk
  uint64_t moves_ = 0;
  bool rewritten_ = false;
  Waiting waiting_;
  std::unique_ptr<ShardCut> cut_;  // null: nobody reads the shard as it was
};

// Holds a shard's lock, but for what is between unlock() and lock().
class ShardLock : public std::unique_lock<Shard::Mutex> {
 public:
  using std::unique_lock<Shard::Mutex>::unique_lock;
};

}  // namespace argosy::table
