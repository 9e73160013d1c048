#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace argosy::ps {

// Which keys of some lists live on which server. Kept from call to call, so that a split allocates nothing once it has seen
// its largest. Thread-compatible.
class RowSplit {
 public:
  void assign(std::span<const std::span<const uint64_t>> lists, int servers);

  // How many keys of a list, and of all lists, live on `server`.
  size_t count(int server, size_t list) const { return counts_[cell(server, list)]; }
  size_t count(int server) const;

  // Copies the keys of a list that live on `server`, in the order of the list; gather() their rows, of `width` floats each;
  // scatter() is gather()'s opposite.
  void copy_keys(int server, size_t list, std::span<const uint64_t> keys, uint64_t* to) const;
  void gather(int server, size_t list, const float* rows, size_t width, float* to) const;
  void scatter(int server, size_t list, const float* from, size_t width, float* rows) const;

 private:
  size_t cell(int server, size_t list) const { return static_cast<size_t>(server) * lists_ + list; }
  std::span<const uint32_t> places(int server, size_t list) const {
    return {places_.data() + starts_[cell(server, list)], counts_[cell(server, list)]};
  }

  int servers_ = 0;
  size_t lists_ = 0;
  std::vector<size_t> counts_, starts_;  // by cell
  std::vector<uint16_t> owners_;         // of the list at hand
  std::vector<uint32_t> places_;         // by list, then server: places in the list, ascending; not kept for one server
};

}  // namespace argosy::ps
