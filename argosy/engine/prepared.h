#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/engine/op.h"
#include "argosy/engine/pulled_rows.h"
#include "argosy/engine/remote.h"
#include "argosy/engine/scope.h"
#include "argosy/graph/program.h"

namespace argosy::engine {

struct SlotBinding {
  std::string slot;
  std::vector<int32_t> values;  // indices into the frame
};

// One operator, ready to run: its kernel, where its values are, and what may be dropped after it.
struct Instruction {
  graph::OpDesc desc;
  Kernel kernel = nullptr;
  bool differentiable = true;
  bool records_gradient = false;  // runs with autograd on
  bool uses_rows = false;         // a lookup whose table gets a gradient of rows
  int32_t state = 0;              // index of the kernel's own state in the frame
  std::vector<SlotBinding> inputs, outputs;
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
};

struct PrepareOptions {
  std::vector<std::string> feeds, fetches;
  bool fuse = true;  // run the passes of passes.h
  const RemoteParameters* remote = nullptr;  // of the scope that the program will run in
};

// A block as a list of instructions, made once and run by any number of threads, each with a Frame of its own. Holds a copy
// of the program, so that the original may change. Immutable, and so thread-safe.
class PreparedProgram {
 public:
  static Result<std::shared_ptr<const PreparedProgram>> create(const graph::Program& program, const PrepareOptions& options);

  const std::vector<Instruction>& instructions() const { return instructions_; }
  const std::vector<ValueInfo>& values() const { return values_; }
  int32_t find_value(std::string_view name) const;  // -1 where absent
  const graph::Program& program() const { return *program_; }
  int32_t state_count() const { return state_count_; }
  bool trains() const { return trains_; }
  bool sends() const { return sends_; }        // gradients to parameter servers
  bool averages() const { return averages_; }  // gradients with the other processes of a collective job

 private:
  PreparedProgram() = default;
  Status bind(const std::vector<graph::OpDesc>& ops);
  int32_t value_index(const std::string& name);
  std::vector<int32_t> bind_names(const std::vector<std::string>& names);
  void unbind_remote_rows(const RemoteParameters& remote);
  void mark_gradients();
  void mark_last_uses();

  std::shared_ptr<graph::Program> program_;
  std::vector<Instruction> instructions_;
  std::vector<ValueInfo> values_;
  std::unordered_map<std::string, int32_t> index_;
  int32_t state_count_ = 0;
  bool trains_ = false;
  bool sends_ = false, averages_ = false;
};

// A pending lookup: the leaf whose gradient the backward operator turns into rows of `table`.
struct PendingLookup {
  int32_t table;  // value index of the parameter
  at::Tensor leaf;
  std::vector<LookupGradient::Piece> pieces;  // without their gradient, which is the leaf's
};

// The values of one run, and what a thread keeps from run to run. Confined to one thread.
class Frame {
 public:
  Frame(std::shared_ptr<const PreparedProgram> program, Scope& scope);

  // Binds persistable variables to the scope's tensors; parameters become leaves of this thread that share their storage.
  Status begin();
  Status run();           // all instructions
  void end();             // drops temporaries

  Value& value(int32_t index) { return values_[static_cast<size_t>(index)]; }
  const PreparedProgram& program() const { return *program_; }
  Scope& scope() { return scope_; }
  std::shared_ptr<void>& state(int32_t index) { return states_[static_cast<size_t>(index)]; }
  std::vector<PendingLookup>& pending_lookups() { return pending_lookups_; }
  PulledRows& pulled_rows(int32_t table) { return pulled_rows_[table]; }
  // Gives this run rows that were prefetched for its batch; `rows` gets memory back that can be used again. After begin().
  void take_rows(PulledTables& rows);
  std::unique_ptr<Frame> another() const;  // for another thread, over the same program and scope
  void measure(bool on);                   // whether run() adds up the seconds of each instruction
  const std::vector<double>& op_seconds() const { return op_seconds_; }
  void store_persistable(int32_t index);  // after an operator has set a persistable output: the scope sees it

  bool bfloat16_matmul = false;
  uint64_t step = 0;    // runs begun
  BatchId batch_id = 0;  // from RemoteParameters::begin_batch(), where the program sends
  uint32_t samples = 0;  // in it, in a pass over a dataset
  bool sent = false;     // its gradients were taken
  uint64_t stream = 0;  // of random numbers: another one for each thread

 private:
  Status run_one(const Instruction& instruction);
  void bind_leaf(size_t index, const Value& stored);

  std::shared_ptr<const PreparedProgram> program_;
  Scope& scope_;
  std::vector<Value> values_;
  std::vector<Value*> stored_;  // the scope's value of each persistable; null for others
  std::vector<std::shared_ptr<void>> states_;
  std::vector<PendingLookup> pending_lookups_;
  PulledTables pulled_rows_;
  std::vector<double> op_seconds_;  // empty where nothing is measured
};

}  // namespace argosy::engine
