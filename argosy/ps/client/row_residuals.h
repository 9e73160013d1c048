#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace argosy::ps {

// What rounding has left out of the gradients of a table's rows, until a row is pushed again. Holds so many rows at most: those
// that were pushed last; what is left of a row that is dropped is lost, which is counted. Thread-compatible.
class RowResiduals {
 public:
  // REQUIRES: width > 0.
  RowResiduals(size_t width, size_t most_rows) : width_(width), most_rows_(most_rows) {}

  // Adds what is kept of each key to its row.
  void add_to(std::span<const uint64_t> keys, std::span<float> rows) const;
  // Replaces what is kept of these keys, of which there are no two equal ones.
  void keep(std::span<const uint64_t> keys, std::span<const float> rows);

  size_t rows() const { return young_.places.size() + old_.places.size(); }
  uint64_t dropped() const { return dropped_; }

 private:
  // Two of them: when the young one is full, it becomes the old one, and what was the old one goes.
  struct Generation {
    std::unordered_map<uint64_t, size_t> places;
    std::vector<float> rows;
  };
  const float* find(uint64_t key) const;
  float* place_of(uint64_t key);

  size_t width_, most_rows_;
  Generation young_, old_;
  uint64_t dropped_ = 0;
};

}  // namespace argosy::ps
