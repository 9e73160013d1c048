#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/ps/client/pool.h"
#include "argosy/rpc/message.h"

namespace argosy::ps {

// Memory for a payload, used again for later ones.
class Bytes {
 public:
  // At least `size` bytes, of any content.
  std::byte* reserve(size_t size) {
    if (memory_.size() < size) memory_ = rpc::PayloadBuffer(std::max(size, size_t{4096}));
    return memory_.data();
  }

 private:
  rpc::PayloadBuffer memory_;
};

// Puts a payload together: pieces that are copied into pooled memory, and pieces that are sent from where they lie.
// Thread-compatible.
class PayloadWriter {
 public:
  // REQUIRES: copy() is asked for `copied_bytes` in all, at most.
  PayloadWriter(Pool<Bytes>& pool, size_t copied_bytes) : bytes_(pool.take()), left_(copied_bytes) {
    next_ = bytes_->reserve(copied_bytes);
  }

  // Room for `count` values, to be filled by the caller.
  template <typename T>
  T* room(size_t count) {
    const size_t size = count * sizeof(T);
    ARGOSY_CHECK(size <= left_, "a payload outgrows the memory that was counted for it");
    std::byte* place = next_;
    next_ += size;
    left_ -= size;
    if (size == 0) return reinterpret_cast<T*>(place);
    if (!slices_.empty() && slices_.back().owner == bytes_) {
      slices_.back().size += size;
    } else {
      slices_.push_back({place, size, bytes_});
    }
    return reinterpret_cast<T*>(place);
  }

  template <typename T>
  void copy(std::span<const T> values) {
    std::copy(values.begin(), values.end(), room<T>(values.size()));
  }

  template <typename T>
  void refer(std::span<const T> values, const std::shared_ptr<const void>& owner) {
    if (!values.empty()) slices_.push_back(rpc::Slice::of(values, owner));
  }

  std::vector<rpc::Slice> finish() { return std::move(slices_); }

 private:
  std::shared_ptr<Bytes> bytes_;
  size_t left_;
  std::byte* next_;
  std::vector<rpc::Slice> slices_;
};

}  // namespace argosy::ps
