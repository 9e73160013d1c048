#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/engine/program/kernel.h"
#include "argosy/graph/op_desc.h"
#include "argosy/graph/var_desc.h"

namespace argosy::engine {

struct SlotBinding {
  std::string slot;
  std::vector<int32_t> values;  // indices into the frame
};

template <typename Visit>
void for_each_value(const std::vector<SlotBinding>& bindings, Visit visit) {
  for (const SlotBinding& binding : bindings) {
    for (int32_t value : binding.values) visit(value);
  }
}

// One operator, ready to run: its kernel, where its values are, and what may be dropped after it.
struct Instruction {
  graph::OpDesc desc;
  Kernel kernel = nullptr;
  bool differentiable = true;
  bool cpu_only = false;
  bool records_gradient = false;  // runs with autograd on
  bool uses_rows = false;         // a lookup whose table gets a gradient of rows
  int32_t state = 0;              // index of the kernel's own state in the frame
  // All values that `body` reads and sets stand here too, in a slot without a name.
  std::vector<SlotBinding> inputs, outputs;
  std::vector<int32_t> fetched;   // outputs that the caller wants
  std::vector<Instruction> body;  // of the block that the operator runs, where it has one: OpContext::run_body()
  std::vector<int32_t> detached;  // outputs that let no gradient through
  std::vector<int32_t> last_uses; // values that nobody reads after this

  const SlotBinding* find_input(std::string_view slot) const;
  const SlotBinding* find_output(std::string_view slot) const;
};

struct ValueInfo {
  std::string name;
  const graph::VarDesc* desc = nullptr;  // in PreparedProgram::program; null for values that a pass has made
  bool persistable = false;
  bool wants_gradient = false;  // a leaf of the backward operator
  bool fetched = false;
  bool remote = false;  // a dense parameter of servers: the scope's tensor is theirs to write, and stays on the CPU
  bool only_looked_up = false;  // a table with a dense gradient that comes from lookups and goes to one update alone
};

}  // namespace argosy::engine
