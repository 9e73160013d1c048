#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "argosy/base/status.h"

namespace argosy::table {

// What a row counts besides its value.
struct RowCounters {
  uint32_t seen_step = 0;     // the table's step of the last gradient, modulo 2^32
  uint32_t pushes = 0;        // gradients received, up to kMaxPushes
  uint32_t seen_seconds = 0;  // the time of the last gradient, as given with its step; 0 where no TTL is kept
  float show = 0, click = 0;

  friend bool operator==(const RowCounters&, const RowCounters&) = default;
};

// A row outside its table. The spans point into the bytes that it was decoded from.
struct RowView {
  uint64_t key = 0;
  bool admitted = true;  // false: the counters of a key that is still waiting; value and states are empty
  RowCounters counters;
  std::span<const float> value;
  std::span<const float> states;  // the rule's element states, one after the other, `width` numbers each
};

// Rows as bytes, all of one size, as they stand in exports and snapshots. Little-endian:
//
//   u64 key · u32 flags (bit 0: admitted) · u32 seen_step · u32 pushes · u32 seen_seconds · f32 show · f32 click ·
//   f32 value[width] · f32 states[states][width]          (zeros for a key that is not admitted)
//
// Immutable, so safe to share between threads.
class RowCodec {
 public:
  static constexpr size_t kHeadBytes = 32;

  RowCodec(size_t width, size_t element_states) : width_(width), element_states_(element_states) {}

  size_t width() const { return width_; }
  size_t element_states() const { return element_states_; }
  size_t record_bytes() const { return kHeadBytes + sizeof(float) * width_ * (1 + element_states_); }

  // REQUIRES: value and states have the codec's sizes, or the row is not admitted.
  void append(const RowView& row, std::string& out) const;

  // REQUIRES: bytes.size() == record_bytes(), at an address that is a multiple of 4. Bytes that no append() makes are
  // data_loss, and the message names the key.
  Result<RowView> decode(std::string_view bytes) const;

  // How many records `bytes` holds; data_loss if they are not whole.
  Result<size_t> count(std::string_view bytes) const;

 private:
  size_t width_, element_states_;
};

}  // namespace argosy::table
