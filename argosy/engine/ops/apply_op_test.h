#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "argosy/base/error.h"
#include "argosy/engine/ops/case_test.h"

namespace argosy::engine {

// The operator `type` on variables, as a file would have it: the variables of its outputs, each a slot and an element type.
inline std::vector<Variable> apply_op(const std::string& type, graph::SlotMap inputs, graph::AttributeMap attributes,
                                      const std::vector<std::pair<std::string, DType>>& outputs = {{"Out", DType::float64}}) {
  graph::LayerHelper helper(type, "");
  std::vector<Variable> made;
  graph::SlotMap slots;
  for (const auto& [slot, dtype] : outputs) {
    made.push_back(helper.create_tmp(dtype));
    slots[slot] = {made.back().name()};
  }
  helper.append_op({.type = type, .inputs = std::move(inputs), .outputs = std::move(slots), .attributes = std::move(attributes)});
  return made;
}

// What is said against a call that does not fit while a program is built.
inline std::string refusal_of(const std::function<void()>& build) {
  try {
    build();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// Operators that are built while it lives are gone when it ends: a run computes all operators of a program.
class [[nodiscard]] BuiltHere {
 public:
  explicit BuiltHere(graph::Program& program) : block_(program.global_block()), before_(block_.ops().size()) {}
  ~BuiltHere() {
    while (block_.ops().size() > before_) block_.remove_op(before_);
  }
  BuiltHere(const BuiltHere&) = delete;

 private:
  graph::Block& block_;
  const size_t before_;
};

// Tests of operators that are built by name.
class OpTest : public CaseTest {
 protected:
  // What a run says against the operators that `build` adds, which are in no later run.
  std::string error_with(const Feed& feed, const std::function<Variable()>& build) {
    const BuiltHere here(*main_);
    return error_of(feed, build());
  }
};

}  // namespace argosy::engine
