// A table as it was at one moment, read while it changes; and two tables that change places.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "argosy/base/mutex.h"
#include "argosy/table/cold_access.h"
#include "argosy/table/cold_store.h"
#include "argosy/table/row_arena.h"
#include "argosy/table/shard.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

constexpr size_t kLockedBytes = size_t{256} << 10;  // about what is read of a shard under its lock at once
constexpr size_t kLookEvery = 16;                   // such pieces; then copies of other shards are looked at
constexpr size_t kMostKept = size_t{1} << 20;       // bytes of copies in a shard before they are written out

bool later_step(uint32_t step, uint32_t than) { return static_cast<int32_t>(step - than) > 0; }

}  // namespace

// Of each shard: the waiting keys, the rows on disk, those in memory, then what was kept of rows that changed.
struct SparseTable::Cut::State {
  enum Phase { begin, cold, memory, kept };

  SparseTable& table;
  const std::optional<uint64_t> changed_since;
  TableProgress progress = {};
  uint64_t rows = 0;
  std::unique_ptr<ColdStore::View> view = {};
  size_t shard = 0;
  Phase phase = begin;
  size_t at = 0;  // position in the shard
  std::unique_ptr<ColdStore::Cursor> cursor = {};
  size_t pieces = 0;

  State(SparseTable& of, std::optional<uint64_t> since) : table(of), changed_since(since) {}
  ~State() {
    cursor.reset();
    view.reset();
    for (const auto& left : table.shards_) {
      std::lock_guard lock(left->mutex());
      left->end_cut();
    }
    table.is_cut_ = false;
  }

  void append(const RowView& row, std::string& out) const {
    if (!changed_since || later_step(row.counters.seen_step, static_cast<uint32_t>(*changed_since)))
      table.codec_.append(row, out);
  }

  void append_kept(std::span<const float> kept, std::string& out) const {
    for (; !kept.empty(); kept = kept.subspan(table.layout_.words())) append(table.layout_.view(kept.data()), out);
  }

  // Takes the next piece of the current shard; the lock is held no longer than for a copy of it.
  Status advance(std::string& out) {
    Shard& current = *table.shards_[shard];
    if (++pieces % kLookEvery == 0) write_large_copies(out);
    switch (phase) {
      case begin: return read_waiting(current, out);
      case cold: return read_cold(current, out);
      case memory: return read_memory(current, out);
      case kept: return read_kept(current, out);
    }
    return {};
  }

  Status read_waiting(Shard& current, std::string& out) {
    std::vector<std::pair<uint64_t, RowCounters>> found;
    {
      std::lock_guard lock(current.mutex());
      ShardCut& cut = *current.cut();
      found.reserve(current.waiting().size());
      for (const auto& [key, counters] : current.waiting()) {
        if (!cut.waiting.contains(key)) found.emplace_back(key, counters);
      }
      for (const auto& [key, counters] : cut.waiting) {
        if (counters) found.emplace_back(key, *counters);
      }
      cut.waiting.clear();
      cut.waiting_read = true;
    }
    for (const auto& [key, counters] : found) append({.key = key, .admitted = false, .counters = counters}, out);
    if (view != nullptr) cursor = table.cold_->rows(current.number(), view.get());
    phase = cold;
    return {};
  }

  Status read_cold(Shard& current, std::string& out) {
    std::optional<ColdPiece> piece;
    if (cursor) piece.emplace(*cursor, table.layout_, kLockedBytes / table.layout_.bytes() + 1);
    if (cursor) RETURN_IF_ERROR(cursor->status());
    const bool last = !cursor || !cursor->valid();
    std::vector<size_t> cold_rows;
    {
      const ShardLock lock(current.mutex());
      for (size_t i = 0; piece && i < piece->keys.size(); ++i) {
        if (was_on_disk_only(current, piece->keys[i])) cold_rows.push_back(i);
      }
      current.cut()->cold_read = last;
    }
    for (const size_t i : cold_rows) append(table.layout_.view(piece->row(i)), out);
    if (!last) return {};
    cursor.reset();
    phase = memory;
    at = 0;
    return {};
  }

  // Of a key that the disk had something of at the cut.
  static bool was_on_disk_only(const Shard& current, uint64_t key) {
    const ShardCut& cut = *current.cut();
    if (cut.dropped.contains(key)) return false;
    const uint32_t slot = current.find(key);
    const bool came_back = slot != kNoSlot && (RowLayout::header(current.row(slot)).flags & RowHeader::kCameBack);
    return slot == kNoSlot || came_back || cut.dropped_cold.contains(key);
  }

  Status read_memory(Shard& current, std::string& out) {
    const size_t enough = out.size() + kLockedBytes;
    const size_t most = at + kLockedBytes / 16;  // rows that are not wanted take time, too
    std::lock_guard lock(current.mutex());
    ShardCut& cut = *current.cut();
    for (; at < current.positions(); ++at) {
      if (out.size() >= enough || at >= most) return {};
      const uint32_t slot = current.slot_at(at);
      cut.cursor = current.slot_number(at) + 1;  // of a free slot, too: a row that is made there later is none of the cut's
      if (slot == kNoSlot) continue;
      RowHeader& head = RowLayout::header(current.row(slot));
      if (!(head.flags & RowHeader::kKept)) append(table.layout_.view(current.row(slot)), out);
      head.flags = head.flags & ~(RowHeader::kKept | RowHeader::kCameBack);
    }
    cut.cursor = kNoSlot;  // all: further chunks as well
    phase = kept;
    return {};
  }

  Status read_kept(Shard& current, std::string& out) {
    std::vector<float> rows_kept;
    {
      std::lock_guard lock(current.mutex());
      rows_kept = std::move(current.cut()->rows);
      current.drop_cut();
    }
    append_kept(rows_kept, out);
    phase = begin;
    at = 0;
    ++shard;
    return {};
  }

  void write_large_copies(std::string& out) {
    for (size_t i = shard; i < table.shards_.size(); ++i) {
      std::vector<float> rows_kept;
      {
        std::lock_guard lock(table.shards_[i]->mutex());
        std::vector<float>& there = table.shards_[i]->cut()->rows;
        if (there.size() * sizeof(float) < kMostKept) continue;
        rows_kept = std::exchange(there, {});
      }
      append_kept(rows_kept, out);
    }
  }
};

SparseTable::Cut::Cut(std::unique_ptr<State> state) : state_(std::move(state)) {}
SparseTable::Cut::Cut(Cut&& other) noexcept = default;
SparseTable::Cut::~Cut() = default;

const TableProgress& SparseTable::Cut::progress() const { return state_->progress; }
uint64_t SparseTable::Cut::rows() const { return state_->rows; }

Result<bool> SparseTable::Cut::next(size_t max_bytes, std::string& out) {
  const size_t before = out.size();
  const size_t enough = before + std::max<size_t>(max_bytes, 1);
  while (state_->shard < state_->table.shards_.size() && out.size() < enough) RETURN_IF_ERROR(state_->advance(out));
  return out.size() > before;
}

Result<SparseTable::Cut> SparseTable::begin_cut(std::optional<uint64_t> changed_since) {
  if (is_cut_.exchange(true)) return Status::failed_precondition("table '{}' is being written already", spec_.name);
  auto state = std::make_unique<Cut::State>(*this, changed_since);
  for (const auto& shard : shards_) {
    std::lock_guard lock(shard->mutex());
    shard->begin_cut();
    state->rows += shard->memory_rows() + shard->cold_rows() + shard->waiting().size();
  }
  // After all shards: from then on none moves rows to disk.
  if (cold_ != nullptr) state->view = cold_->view();
  state->progress = progress();
  return Cut(std::move(state));
}

Status SparseTable::swap_rows(SparseTable& other) {
  if (is_cut_ || other.is_cut_) {
    return Status::failed_precondition("table '{}' cannot get other rows while it is written", spec_.name);
  }
  if (spec_ != other.spec_ || shards_.size() != other.shards_.size()) {
    return Status::failed_precondition("table '{}' cannot take the rows of another kind of table", spec_.name);
  }
  std::vector<ColdTurn::Holder> turns;  // nothing moves to disk meanwhile
  for (const auto& shard : shards_) {
    ASSIGN_OR_RETURN(auto turn, take_cold_turn(*shard));
    turns.push_back(std::move(turn));
  }
  // A pair of locks at a time: pulls go on for the other shards. Nobody else locks `other`, so the order cannot deadlock.
  for (size_t i = 0; i < shards_.size(); ++i) {
    std::lock_guard lock(shards_[i]->mutex());
    std::lock_guard other_lock(other.shards_[i]->mutex());
    shards_[i]->swap(*other.shards_[i]);
  }
  // Pulls and Exports reach both through their shards; only changes, of which none is under way, use these.
  std::swap(arena_, other.arena_);
  std::swap(cold_, other.cold_);
  changes_.clear();
  TwoMutexLock lock(step_mutex_, other.step_mutex_);
  std::swap(steps_, other.steps_);
  std::swap(scalars_, other.scalars_);
  return {};
}

}  // namespace argosy::table
