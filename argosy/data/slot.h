#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "argosy/base/status.h"

namespace argosy::data {

enum class SlotType {
  float32,
  int64,  // also holds a uint64 key: the same 64 bits
};

// One field of a sample, as the program's input variable declares it.
struct SlotSpec {
  std::string name;
  SlotType type = SlotType::int64;
  bool dense =
      false;  // lod_level 0: every sample has exactly `width` values; otherwise as many as the line says, of a table also none
  int64_t width = 1;   // the product of the declared shape without -1; only dense slots use it
};

// Refuses an empty list, a slot without a name, two slots of one name, and a dense slot whose width is not positive.
Status check_slots(std::span<const SlotSpec> slots);

}  // namespace argosy::data
