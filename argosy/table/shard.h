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
#include "argosy/table/row_arena.h"
#include "argosy/table/row_layout.h"
#include "argosy/table/slot_index.h"
#include "argosy/table/table_size.h"

namespace argosy::table {

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
  uint32_t cursor = 0;      // rows in memory at lower slots have been read
  std::vector<float> rows;  // kept: RowLayout::words() each
  bool waiting_read = false;
  absl::flat_hash_map<uint64_t, std::optional<RowCounters>> waiting;  // of keys that changed since; nothing: did not wait then
  bool cold_read = false;
  absl::flat_hash_set<uint64_t> dropped;       // were in memory, with an older copy on disk, and have been dropped since
  absl::flat_hash_set<uint64_t> dropped_cold;  // were on disk only, came back and have been dropped since
};

// The rows of one shard, by key: in memory, or on disk only. Rows are made here and nowhere else.
//
// Thread-compatible: the caller holds mutex(), but for mutex() itself and size().
class Shard {
 public:
  // All of a table's shards share the arena and the overflow, null where there is no memory limit. `most_rows` is what may
  // stay in memory, 0 for all.
  Shard(uint32_t number, const SparseSpec& spec, const RowLayout& layout, RowArena& arena, std::shared_ptr<ColdStore> cold,
        uint32_t most_rows);

  // The shard's lock, for std::lock_guard and the like. It may be held while rows move to or from disk, so how much there is is
  // noted when it is given back, for size() to tell without it.
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
  // As of when mutex() was last given back. Any thread, without it.
  TableSize size() const;

  // The slots of the probes' rows, kNoSlot for those that are not in memory.
  void find(std::span<const Probe> probes, uint32_t* slots) const;
  uint32_t find(uint64_t key) const { return find(key, index_hash(mix64(key))); }
  uint32_t find(uint64_t key, uint32_t hash) const;
  // Brings those that are on disk back into memory, and notes that all of them are in use.
  Status bring_back(std::span<const Probe> probes, uint32_t* slots);
  // Reads values of rows that are on disk and leaves them there; found(i, row) for the i-th probe without a slot.
  Status read_through(std::span<const Probe> probes, const uint32_t* slots,
                      const std::function<void(size_t, const float*)>& found) const;

  // A new row with its initial value. REQUIRES: the key has none, in memory or on disk.
  Result<uint32_t> create(uint64_t key, uint32_t hash);
  float* row(uint32_t slot) { return arena_->row(slot); }
  const float* row(uint32_t slot) const { return arena_->row(slot); }
  // Drops a row, on disk first: after an error it is still here.
  Status erase(uint32_t slot);
  // Drops rows that are on disk only, or replaces them there.
  Status rewrite_cold(ColdStore::Batch&& batch, uint64_t erased);

  // Moves the rows that have not been used for longest to disk, until the limit is kept with some room. A row leaves memory
  // when it is written: after an error all of them are still here.
  Status evict();

  // Slots by position, for walking over all rows; kNoSlot where no row is. Rows keep their positions while they live.
  size_t positions() const { return chunks_.size() * arena_->chunk_rows(); }
  uint32_t slot_at(size_t position) const;
  size_t used_positions() const { return fresh_; }  // no row is at this position or behind it

  using Waiting = absl::flat_hash_map<uint64_t, RowCounters>;
  Waiting& waiting() { return waiting_; }
  const Waiting& waiting() const { return waiting_; }

  // ---- A cut. Code that changes a row or a waiting key calls keep() or keep_waiting() with it before; erase() does by itself.

  // REQUIRES: !is_cut().
  void begin_cut() { cut_ = std::make_unique<ShardCut>(); }
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

  Status clear();

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
  mutable Mutex mutex_{*this};  // guards what follows
  RowArena* arena_;
  std::shared_ptr<ColdStore> cold_;
  SlotIndex index_;
  std::vector<uint32_t> chunks_;  // their first slots
  uint32_t free_ = kNoSlot;       // the first of a list through the free slots' keys
  size_t fresh_ = 0;              // positions from here on have never been used
  size_t hand_ = 0;               // the position that eviction looks at next
  uint64_t cold_rows_ = 0;
  Waiting waiting_;
  std::unique_ptr<ShardCut> cut_;  // null: nobody reads the shard as it was
};

}  // namespace argosy::table
