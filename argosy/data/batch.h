#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/base/line_range.h"
#include "argosy/data/buffer.h"
#include "argosy/data/slot.h"

namespace argosy::data {

// The values of one slot for all samples of a batch, one after another in one aligned buffer, so that a tensor can be laid
// over it without a copy. A ragged slot also has offsets: sample i owns values [offsets[i], offsets[i + 1]).
//
// Thread-compatible. Every pointer is good until the next append or reset.
class Column {
 public:
  explicit Column(const SlotSpec& slot) : type_(slot.type), dense_(slot.dense), width_(slot.width) { clear(); }
  Column(Column&&) = default;
  Column& operator=(Column&&) = default;

  SlotType type() const { return type_; }
  bool dense() const { return dense_; }
  int64_t width() const { return width_; }
  int64_t count() const { return count_; }  // values of all samples together

  // REQUIRES: the type is as the name says.
  float* floats() { return typed<float>(SlotType::float32); }
  const float* floats() const { return const_cast<Column*>(this)->floats(); }
  int64_t* ints() { return typed<int64_t>(SlotType::int64); }
  const int64_t* ints() const { return const_cast<Column*>(this)->ints(); }

  // One more than there are samples, the first 0, the last count(); empty for a dense slot.
  std::span<const int64_t> offsets() const {
    return {reinterpret_cast<const int64_t*>(offsets_.data()), dense_ ? 0 : static_cast<size_t>(samples_ + 1)};
  }

  // Room for the next sample's `count` values of type T, of which `written` are there already and stay;
  // add_sample(count) makes them part of the column.
  template <typename T>
  T* room(int64_t count, int64_t written = 0) {
    values_.reserve(static_cast<size_t>(count_ + count) * sizeof(T), static_cast<size_t>(count_ + written) * sizeof(T));
    return reinterpret_cast<T*>(values_.data()) + count_;
  }
  void add_sample(int64_t count) {
    count_ += count;
    ++samples_;
    if (!dense_) push_offset();
  }
  // So many samples of `each` values.
  void add_samples(int64_t samples, int64_t each) {
    if (dense_) {
      count_ += samples * each;
      samples_ += samples;
      return;
    }
    const size_t used = static_cast<size_t>(samples_ + 1) * sizeof(int64_t);
    offsets_.reserve(used + static_cast<size_t>(samples) * sizeof(int64_t), used);
    int64_t* offsets = reinterpret_cast<int64_t*>(offsets_.data()) + samples_ + 1;
    for (int64_t i = 0; i < samples; ++i) offsets[i] = count_ += each;
    samples_ += samples;
  }

  // Forgets all samples after the first `samples`, and what room() was given for and never added.
  void truncate(int64_t samples) {
    if (samples >= samples_) return;
    count_ = dense_ ? samples * width_ : offsets()[static_cast<size_t>(samples)];
    samples_ = samples;
  }
  void clear() {
    count_ = samples_ = 0;
    if (!dense_) push_offset();
  }

 private:
  template <typename T>
  T* typed(SlotType type) {
    ARGOSY_CHECK(type_ == type, "a column was read as the other type");
    return reinterpret_cast<T*>(values_.data());
  }
  void push_offset() {
    const size_t used = static_cast<size_t>(samples_) * sizeof(int64_t);
    offsets_.reserve(used + sizeof(int64_t), used);
    reinterpret_cast<int64_t*>(offsets_.data())[samples_] = count_;
  }

  SlotType type_;
  bool dense_;
  int64_t width_;
  int64_t count_ = 0;
  int64_t samples_ = 0;
  Buffer values_, offsets_;
};

// Some samples, column by column in the order of the slots. A reader hands the same Batch in again and again;
// its buffers then stop growing after a few rounds. Movable, not copyable; thread-compatible.
struct Batch {
  int64_t size = 0;
  uint64_t number = 0;  // in its pass, from 0
  std::vector<Column> columns;
  std::vector<FileLineRange> lines;  // that it was made of; empty where nobody asks for them (FileHandout)

  // Empties the batch for samples of these slots, and keeps the buffers where the slots are those of last time.
  void reset(std::span<const SlotSpec> slots);

  // Takes back what a sample that turned out to be bad has left in some columns.
  void drop_unfinished_sample() {
    for (Column& column : columns) column.truncate(size);
  }
};

}  // namespace argosy::data
