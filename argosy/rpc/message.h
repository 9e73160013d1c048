#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "argosy/rpc/payload_buffer.h"

namespace argosy::rpc {

// Memory to send, and what keeps it alive. The transport reads it in place, at a time of its own choosing: it may still hold
// the slice after a call has ended by its deadline. The bytes must therefore live, unchanged, as long as `owner` does;
// without an owner, for the rest of the process.
struct Slice {
  const void* data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;

  // A slice over memory that `owner` keeps.
  template <typename T>
  static Slice of(std::span<const T> values, std::shared_ptr<const void> owner) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {values.data(), values.size_bytes(), std::move(owner)};
  }
  // Takes over a vector, string or PayloadBuffer of plain values.
  template <typename Container>
  static Slice own(Container values) {
    static_assert(std::is_trivially_copyable_v<std::remove_pointer_t<decltype(values.data())>>);
    auto kept = std::make_shared<const Container>(std::move(values));
    return {kept->data(), kept->size() * sizeof(*kept->data()), kept};
  }
  // A copy, for memory that is about to change.
  static Slice copy(const void* data, size_t size);
};

// What is sent: which method, a small header (say, a serialised protobuf) and any number of payload bytes, which the
// transport does not copy. Slices arrive joined: `Received::payload` is one buffer.
struct Message {
  uint16_t method = 0;  // below 0xff00; the rest is the transport's own
  std::string header;
  std::vector<Slice> payload;
};

size_t payload_bytes(const std::vector<Slice>& payload);

// What arrived. The payload's slices lie one after the other in one aligned buffer.
struct Received {
  uint16_t method = 0;  // of the call that this is the answer to
  std::string header;
  PayloadBuffer payload;
};

}  // namespace argosy::rpc
