#include "argosy/data/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace argosy::data {
namespace {

uintptr_t address(const Buffer& buffer) { return reinterpret_cast<uintptr_t>(buffer.data()); }

// Growing over the size from which huge pages are asked for moves the bytes to another alignment.
TEST(Buffer, KeepsItsBytesAndAlignmentAsItGrows) {
  Buffer buffer;
  size_t kept = 0;
  for (size_t size : {size_t{1}, size_t{1000}, Buffer::kHugePage - 64, Buffer::kHugePage, 3 * Buffer::kHugePage + 1}) {
    buffer.reserve(size, kept);
    ASSERT_GE(buffer.capacity(), size);
    EXPECT_EQ(address(buffer) % (buffer.capacity() < Buffer::kHugePage ? Buffer::kAlignment : Buffer::kHugePage), 0u) << size;
    for (size_t i = 0; i < kept; ++i) ASSERT_EQ(buffer.data()[i], static_cast<char>(i * 31)) << "of " << kept;
    for (size_t i = kept; i < size; ++i) buffer.data()[i] = static_cast<char>(i * 31);
    kept = size;
  }
}

TEST(Buffer, ARecycledOneStaysWhereItIs) {
  Buffer buffer;
  buffer.reserve(3 * Buffer::kHugePage, 0);
  const uintptr_t before = address(buffer);
  buffer.reserve(100, 0);
  buffer.reserve(3 * Buffer::kHugePage, 0);
  EXPECT_EQ(address(buffer), before);
}

}  // namespace
}  // namespace argosy::data
