#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace argosy::rpc {

// A fixed number of bytes from a 64-byte boundary on, not initialised: what a payload arrives in. Any type may be laid over
// it where its size allows. Thread-compatible.
class PayloadBuffer {
 public:
  static constexpr size_t kAlignment = 64;

  PayloadBuffer() = default;
  explicit PayloadBuffer(size_t size) : bytes_(allocate(size)), size_(size) {}
  PayloadBuffer(PayloadBuffer&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  PayloadBuffer& operator=(PayloadBuffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // `count` values of type T from byte `offset` on; empty where they do not lie within the buffer or would not be aligned.
  // A caller that expects values checks the size of the answer.
  template <typename T>
  std::span<const T> values(size_t offset, size_t count) const {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    if (offset % alignof(T) != 0 || offset > size_ || count > (size_ - offset) / sizeof(T)) return {};
    return {reinterpret_cast<const T*>(data() + offset), count};
  }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, std::align_val_t{kAlignment}); }
  };
  using Bytes = std::unique_ptr<std::byte[], Free>;

  static Bytes allocate(size_t size) {
    return size == 0 ? Bytes() : Bytes(static_cast<std::byte*>(::operator new(size, std::align_val_t{kAlignment})));
  }

  Bytes bytes_;
  size_t size_ = 0;
};

}  // namespace argosy::rpc
