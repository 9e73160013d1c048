#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/engine/program/instruction.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/graph/op_desc.h"
#include "argosy/graph/program.h"

namespace argosy::engine {

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
  void mark_looked_up();
  bool is_only_looked_up(int32_t table, int32_t gradient) const;
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
