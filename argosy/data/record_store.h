#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/data/batch.h"

namespace argosy::data {

// One sample as bytes: slot after slot, a dense slot as its values, a ragged one as a varint count and its values. That is
// about as small as a sample gets, lies in one place of memory, and can be sent to another worker as it is.
// Thread-safe after construction.
class RecordCodec {
 public:
  explicit RecordCodec(std::span<const SlotSpec> slots) : slots_(slots.begin(), slots.end()) {}

  size_t size(const Batch& batch, int64_t sample) const;
  // Writes size() bytes and returns their end.
  char* write(const Batch& batch, int64_t sample, char* out) const;
  // Adds the sample to the batch. REQUIRES: `record` was written by write() or found good by is_record().
  void read(const char* record, Batch& batch) const;
  // Whether the bytes are one whole sample of these slots and nothing else.
  bool is_record(std::string_view bytes) const;

  // Differs between slots of different number, type or width: two workers with one fingerprint can exchange records.
  uint64_t fingerprint() const;
  std::span<const SlotSpec> slots() const { return slots_; }

 private:
  std::vector<SlotSpec> slots_;
};

// Samples in memory, each a record in one of a few large chunks, reached through an order that can be changed at will.
// Thread-compatible; several threads may gather() at once.
class RecordStore {
 public:
  explicit RecordStore(std::span<const SlotSpec> slots) : codec_(slots) {}
  RecordStore(RecordStore&&) = default;
  RecordStore& operator=(RecordStore&&) = default;

  // Where a record is: the number of its chunk in the upper half, the byte in the lower.
  using Place = uint64_t;

  int64_t size() const { return static_cast<int64_t>(order_.size()); }
  size_t bytes() const;  // of memory, the order included
  std::vector<Place>& order() { return order_; }

  // Adds every sample of the batch at the end.
  void append(const Batch& batch);

  // Takes the chunks of `other`, whose places then count from the number that comes back. Its order is not taken.
  uint64_t adopt_chunks(RecordStore other);

  // Adds `count` samples from `first` on in the order to a batch that was reset for the slots.
  void gather(int64_t first, int64_t count, Batch& batch) const;

  void shuffle(uint64_t seed);

  // The same samples in the same order, but for the columns `slots`, all of which a sample has from one other: drawn from
  // `candidates` samples, which are themselves drawn from those up to this one, by `seed`. REQUIRES: candidates > 0.
  RecordStore with_slots_of_others(std::span<const size_t> slots, int64_t candidates, uint64_t seed) const;

  // Records as blocks for other workers. Taking goes chunk by chunk and frees the memory at once; each record goes to one
  // of `blocks`, drawn from (seed, its number). False when nothing is left. REQUIRES: prepare_take() was called.
  void prepare_take();
  bool take(uint64_t seed, std::span<std::string> blocks);
  // How much take() has given away, from 0 to 1.
  double taken_ratio() const { return size() == 0 ? 1 : static_cast<double>(taken_) / static_cast<double>(size()); }

  // Adds the records of a block made by take(). A block that is damaged or has other slots adds nothing and is an error.
  Status give(std::string_view block);

 private:
  struct Chunk {
    Buffer bytes;
    size_t used = 0;
  };
  const char* record(Place place) const { return chunks_[place >> 32].bytes.data() + (place & 0xffffffff); }
  char* make_room(size_t size);  // at the end of the last chunk, and puts its place at the end of the order

  RecordCodec codec_;
  std::vector<Chunk> chunks_;
  std::vector<Place> order_;
  int64_t taken_ = 0;  // records of order_ that take() has given away
};

}  // namespace argosy::data
