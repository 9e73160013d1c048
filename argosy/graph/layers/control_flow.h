#pragma once

#include <functional>
#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Conditions and loops in programs, and the lists of tensors that loops fill. They add to the default main program and throw
// argosy::Error. Confined to the building thread.
namespace argosy::layers {

// While it lives, layer functions add to a new block inside the current one.
class BlockGuard {
 public:
  BlockGuard();
  ~BlockGuard();
  BlockGuard(const BlockGuard&) = delete;

  graph::Block& block() const { return block_; }

 private:
  const std::shared_ptr<graph::Program> program_;
  graph::Block& block_;
};

// Runs the operators of `body` if `condition`, one bool, holds, or as long as it holds: a loop's body sets it anew.
// REQUIRES: `body` was built by a BlockGuard inside the current block.
void run_if(const Variable& condition, const graph::Block& body);
void run_while(const Variable& condition, const graph::Block& body);

using Branch = std::function<std::vector<Variable>()>;
// What `if_true` builds where `condition` holds when the program runs, and what `if_false` builds otherwise: both give equally
// many variables, of equal types.
std::vector<Variable> cond(const Variable& condition, const Branch& if_true, const Branch& if_false);

// As long as `condition` of the variables holds, they become what `body` makes of them. Returns them: they are changed in place.
std::vector<Variable> while_loop(const std::function<Variable(const std::vector<Variable>&)>& condition,
                                 const std::function<std::vector<Variable>(const std::vector<Variable>&)>& body,
                                 const std::vector<Variable>& variables);

// Lists of tensors: `index` is a variable of one integer.
Variable create_array(DType dtype);
Variable array_write(const Variable& x, const Variable& index, const Variable& array = {});  // into a new one where it is empty
Variable array_read(const Variable& array, const Variable& index);
Variable array_length(const Variable& array);

struct PrintOptions {
  int32_t first_n = -1;  // how often, at most; -1: always
  std::string message;
  int32_t summarize = 20;  // how many numbers; -1: all
  bool name = true, type = true, shape = true, lod = true;
  std::string phase = "both";
};
// `input`, which is printed on standard output when it is computed.
Variable print(const Variable& input, const PrintOptions& options = {});

}  // namespace argosy::layers
