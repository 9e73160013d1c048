#include "argosy/table/shard.h"

#include <algorithm>
#include <cstring>

#include "argosy/table/cold_rows.h"

namespace argosy::table {
namespace {

// How far ahead of the key that is compared its bucket and its row are on their way.
constexpr size_t kBucketAhead = 24;
constexpr size_t kRowAhead = 12;
constexpr size_t kMostObsolete = 4096;  // keys that a shard notes before it removes their copies although no row has to leave

void prefetch_row(const float* row, size_t bytes) {
  constexpr size_t kMost = 320;  // beyond this the processor's own prefetcher has seen the pattern
  const char* at = reinterpret_cast<const char*>(row);
  const size_t ahead = std::min(bytes, kMost);
  for (size_t i = 0; i < ahead; i += 64) __builtin_prefetch(at + i, 1);
  __builtin_prefetch(at + ahead - 1, 1);
}

}  // namespace

Shard::Shard(uint32_t number, const SparseSpec& spec, const RowLayout& layout, RowArena& arena, std::shared_ptr<ColdStore> cold,
             uint32_t most_rows)
    : number_(number),
      initializer_(spec.initializer),
      layout_(layout),
      most_rows_(most_rows),
      arena_(&arena),
      cold_(std::move(cold)) {
  note_size();
}

void Shard::note_size() const {
  noted_rows_.store(memory_rows() + cold_rows_, std::memory_order_relaxed);
  noted_waiting_.store(waiting_.size(), std::memory_order_relaxed);
  noted_cold_.store(cold_rows_, std::memory_order_relaxed);
  noted_bytes_.store(memory_bytes(), std::memory_order_relaxed);
}

TableSize Shard::size() const { return {noted_rows_, noted_waiting_, noted_cold_, noted_bytes_}; }

void Shard::find(std::span<const Probe> probes, uint32_t* slots) const {
  const size_t n = probes.size();
  const size_t row_bytes = layout_.bytes();
  for (size_t i = 0; i < n + kBucketAhead; ++i) {
    if (i < n) index_.prefetch(probes[i].hash);
    if (const size_t at = i - (kBucketAhead - kRowAhead); at < n) {
      slots[at] = index_.guess(probes[at].hash);
      if (slots[at] != kNoSlot) prefetch_row(arena_->row(slots[at]), row_bytes);
    }
    if (const size_t at = i - kBucketAhead; at < n) {
      if (slots[at] == kNoSlot || key_of(slots[at]) != probes[at].key) slots[at] = find(probes[at].key, probes[at].hash);
    }
  }
}

uint32_t Shard::find(uint64_t key, uint32_t hash) const { return index_.find(hash, key, Keys{*arena_}); }

Status Shard::bring_back(std::span<const Probe> probes, uint32_t* slots, ColdRows& cold) {
  for (size_t i = 0; i < probes.size(); ++i) {
    if (const float* const from = cold.row(i); from != nullptr && slots[i] == kNoSlot && !is_obsolete(probes[i].key)) {
      ASSIGN_OR_RETURN(slots[i], put_back(probes[i], from));
    }
    if (slots[i] == kNoSlot) continue;
    RowHeader& head = RowLayout::header(arena_->row(slots[i]));
    head.flags = head.flags | RowHeader::kUsed;
    cold.drop(i);
  }
  return {};
}

Result<uint32_t> Shard::put_back(const Probe& probe, const float* row) {
  if (const uint32_t slot = find(probe.key, probe.hash); slot != kNoSlot) return slot;  // a key may come twice
  ASSIGN_OR_RETURN(const uint32_t slot, take_slot());
  std::memcpy(arena_->row(slot), row, layout_.bytes());
  const uint32_t marks = marks_of_new(slot) != 0 ? RowHeader::kKept | RowHeader::kCameBack : 0;
  RowLayout::header(arena_->row(slot)).flags = RowHeader::kLive | RowHeader::kOnDisk | marks;
  index_.insert(probe.hash, slot, Keys{*arena_});
  --cold_rows_;
  return slot;
}

void Shard::leave_on_disk(std::span<const Probe> probes, const uint32_t* slots, ColdRows& cold) const {
  for (size_t i = 0; i < probes.size(); ++i) {
    if (cold.row(i) != nullptr && (slots[i] != kNoSlot || is_obsolete(probes[i].key))) cold.drop(i);
  }
}

Result<uint32_t> Shard::take_slot() {
  if (free_ != kNoSlot) {
    const uint32_t slot = free_;
    free_ = static_cast<uint32_t>(key_of(slot));
    return slot;
  }
  if (fresh_ == positions()) {
    ASSIGN_OR_RETURN(const uint32_t first, arena_->take_chunk());
    chunks_.push_back(first);
  }
  const size_t position = fresh_++;
  return slot_number(position);
}

void Shard::release(uint32_t slot) {
  RowHeader& head = RowLayout::header(arena_->row(slot));
  index_.erase(index_hash(mix64(head.key)), slot);
  head = RowHeader{.key = free_, .seen_step = 0, .pushes = 0, .flags = 0};
  free_ = slot;
}

Result<uint32_t> Shard::create(uint64_t key, uint32_t hash) {
  ASSIGN_OR_RETURN(const uint32_t slot, take_slot());
  float* const row = arena_->row(slot);
  layout_.reset(row, key);
  if (cut_ != nullptr) RowLayout::header(row).flags = RowLayout::header(row).flags | marks_of_new(slot);
  if (!obsolete_.empty() && obsolete_.erase(key) > 0)
    RowLayout::header(row).flags = RowLayout::header(row).flags | RowHeader::kOnDisk;
  row_initial_value(initializer_, key, layout_.value(row));
  index_.insert(hash, slot, Keys{*arena_});
  return slot;
}

void Shard::erase(uint32_t slot) {
  const RowHeader head = RowLayout::header(arena_->row(slot));
  const bool has_copy = (head.flags & (RowHeader::kOnDisk | RowHeader::kLeaving)) != 0;
  if (has_copy) obsolete_.insert(head.key);
  if (cut_ != nullptr) {
    keep(slot);
    if (has_copy && !cut_->cold_read) {
      if (head.flags & RowHeader::kCameBack) cut_->dropped_cold.insert(head.key);
      if (!cut_->dropped_cold.contains(head.key)) cut_->dropped.insert(head.key);
    }
  }
  release(slot);
}

bool Shard::wants_eviction() const {
  return cold_ != nullptr && (index_.size() > most_rows_ || obsolete_.size() > kMostObsolete);
}

Shard::Eviction Shard::begin_eviction() {
  Eviction out;
  const size_t surplus = index_.size() > most_rows_ ? index_.size() - (most_rows_ - most_rows_ / 16) : 0;
  // Two rounds of the hand reach every row with its mark taken off. A row that leaves is marked, so that it is met once.
  for (size_t looked = 0; looked < 2 * fresh_ && out.leaving.size() < surplus; ++looked, ++hand_) {
    if (hand_ >= fresh_) hand_ = 0;
    const uint32_t slot = slot_at(hand_);
    if (slot == kNoSlot) continue;
    RowHeader& head = RowLayout::header(arena_->row(slot));
    if (head.flags & RowHeader::kLeaving) continue;
    if (head.flags & RowHeader::kUsed) {
      head.flags = head.flags & ~RowHeader::kUsed;
      continue;
    }
    if ((head.flags & RowHeader::kChanged) || !(head.flags & RowHeader::kOnDisk)) {
      out.batch.put(number_, head.key, arena_->row(slot), layout_.bytes());
    }
    head.flags = (head.flags | RowHeader::kLeaving) & ~RowHeader::kChanged;
    out.leaving.push_back(slot);
  }
  for (const uint64_t key : obsolete_) {
    if (out.obsolete.size() == kMostObsolete) break;
    out.batch.erase(number_, key);
    out.obsolete.push_back(key);
  }
  return out;
}

// A slot that has lost its mark was given up meanwhile, and may be another row's.
void Shard::finish_eviction(const Eviction& eviction, bool written, bool may_leave) {
  for (const uint32_t slot : eviction.leaving) {
    RowHeader& head = RowLayout::header(arena_->row(slot));
    if (!(head.flags & RowHeader::kLeaving)) continue;
    // A write that failed may have left a copy all the same.
    head.flags = (head.flags & ~RowHeader::kLeaving) | RowHeader::kOnDisk | (written ? 0 : RowHeader::kChanged);
    if (!may_leave || (head.flags & (RowHeader::kUsed | RowHeader::kChanged))) continue;
    release(slot);
    ++cold_rows_;
  }
  ++moves_;
  if (!written || !may_leave) return;  // who goes over the rows on disk may have begun before the copies were removed
  for (const uint64_t key : eviction.obsolete) obsolete_.erase(key);
}

void Shard::end_rewrite() {
  rewritten_ = false;
  ++moves_;
}

void Shard::drop_cold(std::span<const uint64_t> keys) {
  cold_rows_ -= keys.size();
  if (cut_ != nullptr && !cut_->cold_read) cut_->dropped_cold.insert(keys.begin(), keys.end());
}

void Shard::begin_cut() {
  cut_ = std::make_unique<ShardCut>();
  cut_->dropped = obsolete_;
}

// Slots rise with positions, because chunks are taken in that order; so a slot tells whether its row was read.
void Shard::keep(uint32_t slot) {
  if (cut_ == nullptr || slot < cut_->cursor) return;
  float* const row = arena_->row(slot);
  RowHeader& head = RowLayout::header(row);
  if (head.flags & RowHeader::kKept) return;
  cut_->rows.insert(cut_->rows.end(), row, row + layout_.words());
  head.flags = head.flags | RowHeader::kKept;
}

void Shard::keep_waiting(uint64_t key) {
  if (cut_ == nullptr || cut_->waiting_read) return;
  const auto now = waiting_.find(key);
  cut_->waiting.try_emplace(key, now == waiting_.end() ? std::nullopt : std::optional(now->second));
}

void Shard::end_cut() {
  if (cut_ == nullptr) return;
  for (size_t position = 0; position < fresh_; ++position) {
    const uint32_t slot = slot_at(position);
    if (slot == kNoSlot || slot < cut_->cursor) continue;
    RowHeader& head = RowLayout::header(arena_->row(slot));
    head.flags = head.flags & ~(RowHeader::kKept | RowHeader::kCameBack);
  }
  cut_.reset();
}

void Shard::swap(Shard& other) {
  std::swap(arena_, other.arena_);
  std::swap(cold_, other.cold_);
  std::swap(index_, other.index_);
  std::swap(chunks_, other.chunks_);
  std::swap(free_, other.free_);
  std::swap(fresh_, other.fresh_);
  std::swap(hand_, other.hand_);
  std::swap(cold_rows_, other.cold_rows_);
  std::swap(obsolete_, other.obsolete_);
  ++moves_;
  ++other.moves_;
  std::swap(waiting_, other.waiting_);
}

uint32_t Shard::slot_at(size_t position) const {
  const uint32_t slot = slot_number(position);
  return RowLayout::header(arena_->row(slot)).flags & RowHeader::kLive ? slot : kNoSlot;
}

uint64_t Shard::memory_bytes() const {
  return positions() * layout_.bytes() + index_.bytes() + chunks_.capacity() * sizeof(uint32_t) +
         waiting_.capacity() * (sizeof(Waiting::value_type) + 1) + obsolete_.capacity() * (sizeof(uint64_t) + 1);
}

void Shard::clear() {
  for (size_t position = 0; position < fresh_; ++position) {
    if (const uint32_t slot = slot_at(position); slot != kNoSlot) release(slot);
  }
  waiting_.clear();
  cold_rows_ = 0;
  obsolete_.clear();
}

}  // namespace argosy::table
