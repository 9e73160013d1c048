#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace argosy::table {

inline constexpr uint32_t kNoSlot = 0xffff'ffff;

// Which slot holds a key. The keys themselves stand in the rows; an entry is the slot and 8 bits of the key's hash, and 12
// entries share a cache line, so a lookup touches one line here and the row that it needs anyway. A full bucket overflows
// into the next and counts what it passed on; so an erased entry leaves no mark behind.
//
// Calls get the rows to ask them for what is not here: rows.key(slot), rows.hash(slot), and rows.prefetch(slot) before one of
// these. Hashes are 32 bits: the lowest 24 choose the bucket, the highest 8 are the mark. Thread-compatible.
class SlotIndex {
 public:
  uint32_t size() const { return size_; }
  size_t bytes() const { return bucket_count() * sizeof(Bucket); }

  void prefetch(uint32_t hash) const { __builtin_prefetch(&buckets_[hash & mask_]); }

  // A slot that probably holds the key: the first in the key's own bucket whose mark fits. kNoSlot: find() knows.
  uint32_t guess(uint32_t hash) const {
    const Bucket& bucket = buckets_[hash & mask_];
    const uint32_t match = matches(bucket, mark_of(hash));
    return match ? bucket.slots[std::countr_zero(match)] : kNoSlot;
  }

  template <typename Rows>
  uint32_t find(uint32_t hash, uint64_t key, const Rows& rows) const {
    for (uint32_t at = hash & mask_, steps = 0; steps <= mask_; at = (at + 1) & mask_, ++steps) {
      const Bucket& bucket = buckets_[at];
      for (uint32_t match = matches(bucket, mark_of(hash)); match; match &= match - 1) {
        const uint32_t slot = bucket.slots[std::countr_zero(match)];
        if (rows.key(slot) == key) return slot;
      }
      if (bucket.passed == 0) break;
    }
    return kNoSlot;
  }

  // REQUIRES: the key is not there.
  template <typename Rows>
  void insert(uint32_t hash, uint32_t slot, const Rows& rows) {
    if (size_ >= most_) grow(rows);
    place(hash, slot);
    ++size_;
  }

  // REQUIRES: the slot is there under this hash.
  void erase(uint32_t hash, uint32_t slot) {
    for (uint32_t at = hash & mask_;; at = (at + 1) & mask_) {
      Bucket& bucket = buckets_[at];
      for (uint32_t match = matches(bucket, mark_of(hash)); match; match &= match - 1) {
        const int entry = std::countr_zero(match);
        if (bucket.slots[entry] != slot) continue;
        bucket.marks[entry] = 0;
        --size_;
        return;
      }
      if (bucket.passed < kManyPassed) --bucket.passed;
    }
  }

  void clear() { *this = SlotIndex(); }

 private:
  static constexpr uint32_t kEntries = 12;
  static constexpr uint8_t kManyPassed = 255;  // the count stays there
  struct alignas(64) Bucket {
    uint8_t marks[kEntries];  // 0: free
    uint8_t passed;           // entries that belong here and stand in a later bucket, as far as it can count
    uint8_t unused[3];
    uint32_t slots[kEntries];
  };
  static_assert(sizeof(Bucket) == 64);

  static uint8_t mark_of(uint32_t hash) { return static_cast<uint8_t>(std::max(hash >> 24, 1u)); }

  static uint32_t matches(const Bucket& bucket, uint8_t mark) {
#if defined(__SSE2__)
    const __m128i marks = _mm_load_si128(reinterpret_cast<const __m128i*>(&bucket));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(marks, _mm_set1_epi8(static_cast<char>(mark))))) & 0xfff;
#else
    uint32_t found = 0;
    for (uint32_t i = 0; i < kEntries; ++i) found |= static_cast<uint32_t>(bucket.marks[i] == mark) << i;
    return found;
#endif
  }

  size_t bucket_count() const { return size_t{mask_} + 1; }

  void place(uint32_t hash, uint32_t slot) {
    for (uint32_t at = hash & mask_;; at = (at + 1) & mask_) {
      Bucket& bucket = buckets_[at];
      if (const uint32_t free = matches(bucket, 0)) {
        const int entry = std::countr_zero(free);
        bucket.marks[entry] = mark_of(hash);
        bucket.slots[entry] = slot;
        return;
      }
      if (bucket.passed < kManyPassed) ++bucket.passed;
    }
  }

  template <typename Rows>
  void grow(const Rows& rows) {
    constexpr size_t kAhead = 3;  // buckets
    const auto old = std::move(buckets_);
    const size_t old_count = bucket_count();
    mask_ = static_cast<uint32_t>(old_count * 2 - 1);
    most_ = static_cast<uint32_t>(std::min<size_t>(bucket_count() * 10, kNoSlot));  // of 12 entries each
    buckets_ = std::make_unique<Bucket[]>(bucket_count());
    const auto each_slot = [&](size_t bucket, const auto& work) {
      for (uint32_t entry = 0; bucket < old_count && entry < kEntries; ++entry) {
        if (old[bucket].marks[entry]) work(old[bucket].slots[entry]);
      }
    };
    for (size_t i = 0; i < old_count + kAhead; ++i) {
      each_slot(i, [&](uint32_t slot) { rows.prefetch(slot); });
      if (i >= kAhead) each_slot(i - kAhead, [&](uint32_t slot) { place(rows.hash(slot), slot); });
    }
  }

  std::unique_ptr<Bucket[]> buckets_ = std::make_unique<Bucket[]>(1);
  uint32_t mask_ = 0;
  uint32_t most_ = 10;  // entries before it grows
  uint32_t size_ = 0;
};

}  // namespace argosy::table
