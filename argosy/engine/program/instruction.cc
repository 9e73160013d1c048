#include "argosy/engine/program/instruction.h"

namespace argosy::engine {
namespace {

const SlotBinding* find_slot(const std::vector<SlotBinding>& bindings, std::string_view slot) {
  for (const SlotBinding& binding : bindings) {
    if (binding.slot == slot) return &binding;
  }
  return nullptr;
}

}  // namespace

const SlotBinding* Instruction::find_input(std::string_view slot) const { return find_slot(inputs, slot); }
const SlotBinding* Instruction::find_output(std::string_view slot) const { return find_slot(outputs, slot); }

}  // namespace argosy::engine
