#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/engine/program/kernel.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/graph/op_desc.h"
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
  Status check_kernels(const c10::Device& device) const;  // an error that names the operators that cannot run there
  bool averages() const { return averages_; }  // gradients with the other processes of a collective job

 private:
  PreparedProgram() = default;
  // The operators of `block` as instructions.
  Result<std::vector<Instruction>> bind(const std::vector<graph::OpDesc>& ops, const graph::Block& block);
  Status bind_body(Instruction& instruction);
  int32_t value_index(const std::string& name, const graph::Block& block);
  std::vector<int32_t> bind_names(const std::vector<std::string>& names, const graph::Block& block);
  Status unbind_remote_rows(const RemoteParameters& remote);
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

}  // namespace argosy::engine
