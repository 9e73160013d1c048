#include "argosy/data/slot.h"

#include <unordered_set>

namespace argosy::data {

Status check_slots(std::span<const SlotSpec> slots) {
  if (slots.empty()) return Status::invalid_argument("the dataset has no slots; name its input variables first (set_use_var)");
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < slots.size(); ++i) {
    const SlotSpec& slot = slots[i];
    if (slot.name.empty()) return Status::invalid_argument("slot {} of {} has no name", i + 1, slots.size());
    if (!names.insert(slot.name).second)
      return Status::invalid_argument("slot '{}' is given twice; every input variable is one slot", slot.name);
    if (slot.dense && slot.width < 1) {
      return Status::invalid_argument("dense slot '{}' has width {}, expected at least 1; a slot of any length needs lod_level 1",
                                      slot.name, slot.width);
    }
  }
  return {};
}

}  // namespace argosy::data
