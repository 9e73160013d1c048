#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "argosy/optim/rule.h"
#include "argosy/table/row_record.h"
#include "argosy/table/spec.h"

namespace argosy::table {

// What every row begins with.
struct RowHeader {
  static constexpr uint32_t kLive = 1;    // the slot holds a row
  static constexpr uint32_t kUsed = 2;    // touched since the eviction's hand last came by
  static constexpr uint32_t kOnDisk = 4;  // the overflow has a copy of it, older than this one if kChanged is set too
  static constexpr uint32_t kChanged = 8;
  static constexpr uint32_t kLeaving = 16;  // while an eviction writes it
  static constexpr uint32_t kKept = 32;      // of a shard that is cut: ShardCut has it as it was, or it was not there then
  static constexpr uint32_t kCameBack = 64;  // of a shard that is cut: it was on disk only then

  uint64_t key;  // of a free slot: the next free one
  uint32_t seen_step;
  uint32_t pushes : 24;
  uint32_t flags : 8;
};
static_assert(sizeof(RowHeader) == 16 && kMaxPushes == (1u << 24) - 1);

// Where the parts of a row lie, in units of 4 bytes from its beginning:
//
//   RowHeader · [seen_seconds] · [show, click] · value[width] · states[element_states][width] · padding to 8 bytes
//
// The state follows the value directly, so that an update touches as few cache lines as there can be. Counters that a
// table does not need have no place. Immutable.
class RowLayout {
 public:
  // `rule` is null for a geo table.
  RowLayout(const SparseSpec& spec, const optim::Rule* rule);

  size_t width() const { return width_; }
  size_t element_states() const { return element_states_; }
  size_t bytes() const { return words_ * sizeof(float); }
  size_t words() const { return words_; }
  size_t value_offset() const { return value_; }

  static RowHeader& header(float* row) { return *reinterpret_cast<RowHeader*>(row); }
  static const RowHeader& header(const float* row) { return *reinterpret_cast<const RowHeader*>(row); }
  std::span<float> value(float* row) const { return {row + value_, width_}; }
  std::span<const float> value(const float* row) const { return {row + value_, width_}; }
  std::span<float> states(float* row) const { return {row + value_ + width_, width_ * element_states_}; }
  std::span<const float> states(const float* row) const { return {row + value_ + width_, width_ * element_states_}; }

  // The row is in use, and from now on different from its copy on disk. Every writer of a row calls it.
  static void touch(float* row) {
    RowHeader& head = header(row);
    head.flags = head.flags | RowHeader::kChanged | RowHeader::kUsed;
  }

  RowCounters counters(const float* row) const;
  void set_counters(float* row, const RowCounters& counters) const;

  // One more gradient at `step`, with its impressions.
  void count(float* row, const RowCounters& gradient) const;
  bool keeps_seconds() const { return seconds_ != 0; }
  bool counts_show_click() const { return show_ != 0; }

  // Fills in header and states of a new row; the value is left as it is.
  void reset(float* row, uint64_t key) const;

  RowView view(const float* row) const;

 private:
  size_t width_, element_states_;
  size_t seconds_ = 0, show_ = 0;  // offsets; 0: not kept
  size_t value_, words_;
  std::vector<float> initial_states_;
};

// Adds one gradient's counters to those of a row or of a waiting key: `gradient` holds the step, the time, and the
// impressions that came with it.
void count_gradient(RowCounters& counters, const RowCounters& gradient);

}  // namespace argosy::table
