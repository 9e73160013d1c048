#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/optim/rule.h"
#include "argosy/table/spec.h"

namespace argosy::table {

// A block of a dense parameter: its elements, the rule's states and its step counter. It has no value until somebody sets
// one: the first worker's, or a saved model's.
//
// Thread-safe: one lock, held for the length of a copy or an update; the first update after begin_cut() copies what was not read.
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
  // The Euclidean norm, reckoned from about `most` elements where there are more; none while there is no value.
  std::optional<double> norm(size_t most) const;

  // Value, states, scalars and step counter as bytes, and back. Little-endian:
  //   u64 size · u64 steps · u32 initialised · u32 element states · u32 scalars · u32 0 · f32 scalars[] · f32 value[size] ·
  //   f32 states[][size]
  // The bytes may come from anywhere: damage is data_loss, another shape invalid_argument, and nothing changes.
  std::string export_bytes() const;
  Status import_bytes(std::string_view bytes);

  // The table as it was when it was made, piece by piece, while everybody goes on changing it. Thread-compatible; must not
  // outlive the table.
  class Cut {
   public:
    Cut(Cut&& other) noexcept : table_(std::exchange(other.table_, nullptr)) {}
    Cut& operator=(Cut&&) = delete;
    ~Cut();
    bool initialised() const;
    // The next `elements` of the table, in the form of export_bytes() for a table of so many. REQUIRES: there are so many left.
    std::string next(uint64_t elements);

   private:
    friend class DenseTable;
    explicit Cut(DenseTable* table) : table_(table) {}
    DenseTable* table_;
  };
  // failed_precondition while another one is open.
  Result<Cut> begin_cut();

  // Changes places with a table of the same spec. failed_precondition while a Cut is open.
  Status swap(DenseTable& other);

 private:
  DenseTable(DenseSpec spec, std::unique_ptr<optim::Rule> rule);

  // What a Cut still has to read.
  struct CutState {
    uint64_t steps = 0;
    bool initialised = false;
    std::vector<float> scalars;
    uint64_t read = 0;          // elements
    uint64_t kept_from = 0;     // the first element of `kept`
    bool changed = false;       // the table is not as it was any more: `kept` has what was not read
    std::vector<float> kept;    // value, then each state, from kept_from on
  };
  void keep() ARGOSY_REQUIRES(mutex_);  // before the table is changed
  std::string head_bytes(uint64_t size, uint64_t steps, bool initialised, std::span<const float> scalars) const;

  // Where a state lies.
  Result<std::span<float>> state_memory(size_t state, size_t numbers) ARGOSY_REQUIRES(mutex_);

  const DenseSpec spec_;
  const std::unique_ptr<optim::Rule> rule_;  // null in geo mode

  mutable Mutex mutex_;
  bool initialised_ ARGOSY_GUARDED_BY(mutex_) = false;
  uint64_t steps_ ARGOSY_GUARDED_BY(mutex_) = 0;
  std::vector<float> scalars_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<float> value_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<float> states_ ARGOSY_GUARDED_BY(mutex_);   // one element state after the other
  std::vector<float> scratch_ ARGOSY_GUARDED_BY(mutex_);  // a gradient with its penalty
  std::unique_ptr<CutState> cut_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::table
