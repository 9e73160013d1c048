#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/optim/rule.h"
#include "argosy/table/spec.h"

namespace argosy::table {

// A block of a dense parameter: its elements, the rule's states and its step counter. It has no value until somebody sets
// one: the first worker's, or a saved model's.
//
// Thread-safe: one lock, held for the length of a copy or an update.
class DenseTable {
 public:
  static Result<std::unique_ptr<DenseTable>> make(DenseSpec spec);

  const DenseSpec& spec() const { return spec_; }
  size_t size() const { return spec_.size; }

  bool initialised() const;
  // Sets the value if there is none yet; false: there was one, and it stays.
  Result<bool> set_if_absent(std::span<const float> value);
  // Sets the value; states become the rule's initial ones.
  Status set(std::span<const float> value);

  // Regularization, then one step of the rule. failed_precondition while there is no value. In geo mode: see add().
  Status apply(float learning_rate, std::span<const float> gradient);
  // Adds a difference, in geo mode, and counts a step.
  Status add(std::span<const float> delta);

  Status copy_out(std::span<float> out) const;

  // One state of the rule, by its place in optim::Rule::states(): as many numbers as elements, or one for a scalar. A place
  // that the rule does not have is invalid_argument.
  Status copy_state(size_t state, std::span<float> out) const;
  Status set_state(size_t state, std::span<const float> values);

  uint64_t steps() const;
  uint64_t memory_bytes() const;

  // Value, states, scalars and step counter as bytes, and back. Little-endian:
  //   u64 size · u64 steps · u32 initialised · u32 element states · u32 scalars · u32 0 · f32 scalars[] · f32 value[size] ·
  //   f32 states[][size]
  // The bytes may come from anywhere: damage is data_loss, another shape invalid_argument, and nothing changes.
  std::string export_bytes() const;
  Status import_bytes(std::string_view bytes);

 private:
  DenseTable(DenseSpec spec, std::unique_ptr<optim::Rule> rule);

  // Where a state lies. REQUIRES: mutex_ is held.
  Result<std::span<float>> state_memory(size_t state, size_t numbers);

  const DenseSpec spec_;
  const std::unique_ptr<optim::Rule> rule_;  // null in geo mode

  mutable std::mutex mutex_;  // guards what follows
  bool initialised_ = false;
  uint64_t steps_ = 0;
  std::vector<float> scalars_;
  std::vector<float> value_;
  std::vector<float> states_;   // one element state after the other
  std::vector<float> scratch_;  // a gradient with its penalty
};

}  // namespace argosy::table
