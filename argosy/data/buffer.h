#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace argosy::data {

// Bytes that start on a 64-byte boundary, are never initialised and only ever grow, so that a recycled buffer costs
// nothing. From 2 MiB on the system is asked for huge pages: one page fault then stands for 512. Thread-compatible.
class Buffer {
 public:
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kHugePage = 2 << 20;

  Buffer() = default;
  Buffer(Buffer&& other) noexcept : bytes_(std::move(other.bytes_)), capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  char* data() { return bytes_.get(); }
  const char* data() const { return bytes_.get(); }
  size_t capacity() const { return capacity_; }

  // Makes room for `bytes`; the first `keep` bytes stay what they are. Grows at least by half, so that appending is linear.
  void reserve(size_t bytes, size_t keep) {
    if (bytes <= capacity_) return;
    const size_t wanted = std::max(bytes, capacity_ + capacity_ / 2);
    const size_t alignment = wanted < kHugePage ? kAlignment : kHugePage;
    const size_t rounded = (wanted + alignment - 1) / alignment * alignment;
    Bytes grown(static_cast<char*>(std::aligned_alloc(alignment, rounded)));
    if (grown == nullptr) throw std::bad_alloc();
    if (alignment == kHugePage) (void)::madvise(grown.get(), rounded, MADV_HUGEPAGE);  // a wish: it may be refused
    if (keep > 0) std::memcpy(grown.get(), bytes_.get(), keep);
    bytes_ = std::move(grown);
    capacity_ = rounded;
  }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  using Bytes = std::unique_ptr<char[], Free>;

  Bytes bytes_;
  size_t capacity_ = 0;
};

}  // namespace argosy::data
