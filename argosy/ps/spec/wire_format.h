#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

// How a table's numbers travel between workers and servers: as they are, or rounded. Servers hold and compute float32 in every
// case, and apply and log exactly what a rounded push says.
namespace argosy::ps {

enum class WireFormat : uint8_t {
  float32,   // as they are
  bfloat16,  // the nearest bfloat16, of two equally near ones the even one: 8 significant bits, the range of float32
  int8,      // whole numbers from -127 to 127, times a scale for each row, or each kWireBlock numbers of a dense table
};
std::string_view wire_format_name(WireFormat format);
std::optional<WireFormat> wire_format_named(std::string_view name);

// The numbers of a dense table that share a scale; the blocks begin where a server's range does. A row is a block of its width.
inline constexpr size_t kWireBlock = 256;

// The bytes of so many numbers in blocks of `block`, of which the last may be shorter. REQUIRES: block > 0; the result is below
// 2^63.
size_t wire_bytes(WireFormat format, size_t numbers, size_t block);

// Rounds. int8: first the scales of all blocks (bfloat16), then the numbers. A scale is the largest number divided by 127,
// rounded up, so that none is cut off. A block that has a number which is not finite becomes NaN as a whole, and one whose
// largest is below 1e-34 becomes 0. REQUIRES: `to` has room for wire_bytes().
void round_to_wire(WireFormat format, std::span<const float> numbers, size_t block, std::byte* to);

// Back; exact: the same bytes give the same numbers on every machine. REQUIRES: `from` has wire_bytes().
void read_from_wire(WireFormat format, const std::byte* from, size_t block, std::span<float> numbers);

// What rounding has left out: numbers - what `rounded` says; 0 in a block that is not finite.
void left_by_rounding(WireFormat format, std::span<const float> numbers, size_t block, const std::byte* rounded,
                      std::span<float> left);

// Keys as they lie in a packed message: 4 bytes each where all of them are below 2^32, which loses nothing.
bool are_short(std::span<const uint64_t> keys);
inline size_t key_bytes(size_t keys, bool is_short) { return keys * (is_short ? sizeof(uint32_t) : sizeof(uint64_t)); }
void write_keys(std::span<const uint64_t> keys, bool is_short, std::byte* to);
void read_keys(const std::byte* from, bool is_short, std::span<uint64_t> keys);

}  // namespace argosy::ps
