// Copies of a program, whole or in part: clone() and prune().
#include <algorithm>
#include <set>

#include "argosy/graph/program.h"

namespace argosy::graph {
namespace {

using Names = std::set<std::string>;

constexpr int32_t kTrainingOnly = kRoleBackward | kRoleOptimize | kRoleLearningRate | kRoleRpc;

bool trains(const OpDesc& op) { return (op.role() & kTrainingOnly) != 0; }

void turn_to_test(OpDesc& op) {
  for (const StatisticSlots& slots : kBatchStatistics) op.outputs.erase(slots.batch);
  if (const auto is_test = op.attributes.find("is_test"); is_test != op.attributes.end()) is_test->second = true;
}

// Calls `visit` with each block that an attribute of `op` names; it may change the reference.
template <typename Op, typename Visit>
void for_each_sub_block(Op& op, const Visit& visit) {
  for (auto& [name, value] : op.attributes) {
    if (auto* one = std::get_if<BlockRef>(&value)) visit(*one);
    if (auto* many = std::get_if<std::vector<BlockRef>>(&value)) {
      for (auto& ref : *many) visit(ref);
    }
  }
}

// What pruning keeps of a program, found from its last operator to its first.
class Selection {
 public:
  Selection(const Program& program, const std::vector<std::string>& feeds, const std::vector<std::string>& targets)
      : program_(program), given_(feeds.begin(), feeds.end()), needed_(targets.begin(), targets.end()) {
    const auto& ops = program.global_block().ops();
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      if (!trains(**op) && computes_needed(**op)) keep(**op);
    }
    std::reverse(ops_.begin(), ops_.end());
    needed_.insert(given_.begin(), given_.end());
  }

  bool has(const std::string& variable) const { return needed_.contains(variable); }
  const std::vector<const OpDesc*>& ops() const { return ops_; }
  const std::set<int>& sub_blocks() const { return sub_blocks_; }  // ascending: parents first

 private:
  bool computes_needed(const OpDesc& op) const {
    const auto outputs = op.output_names();
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const auto& name) { return needed_.contains(name) && !given_.contains(name); });
  }

  void keep(const OpDesc& op) {
    ops_.push_back(&op);
    need_variables_of(op);
  }

  // What the operators of its sub-blocks use is needed as well: some of it may be in the global block.
  void need_variables_of(const OpDesc& op) {
    for (std::string& name : op.input_names()) needed_.insert(std::move(name));
    for (std::string& name : op.output_names()) needed_.insert(std::move(name));
    for_each_sub_block(op, [&](BlockRef ref) { need_block(ref.index); });
  }

  void need_block(int index) {
    if (index <= 0 || !sub_blocks_.insert(index).second) return;
    const Block& block = program_.block(static_cast<size_t>(index));
    need_block(block.parent_index());
    for (const auto& op : block.ops()) need_variables_of(*op);
  }

  const Program& program_;
  Names given_, needed_;
  std::vector<const OpDesc*> ops_;
  std::set<int> sub_blocks_;
};

}  // namespace

std::shared_ptr<Program> Program::clone(bool for_test) const {
  auto copy = create();
  copy->random_seed = random_seed;
  copy->paddle_version = paddle_version;
  for (size_t i = 1; i < blocks_.size(); ++i) copy->create_block(blocks_[i]->parent_index());
  copy->current_ = current_;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    Block& target = copy->block(i);
    for (const VarDesc* variable : blocks_[i]->vars()) target.put_var(*variable);
    for (const auto& op : blocks_[i]->ops()) {
      if (for_test && trains(*op)) continue;
      OpDesc& added = target.append_op_unchecked(*op);
      if (for_test) turn_to_test(added);
    }
  }
  return copy;
}

Result<std::shared_ptr<Program>> Program::prune(const std::vector<std::string>& feeds,
                                                const std::vector<std::string>& targets) const {
  for (const auto& names : {feeds, targets}) {
    for (const std::string& name : names) {
      if (global_block().find_var(name) == nullptr) return Status::not_found("the program has no variable '{}'", name);
    }
  }
  const Selection selection(*this, feeds, targets);
  auto pruned = create();
  pruned->random_seed = random_seed;
  pruned->paddle_version = paddle_version;
  std::map<int, int> renumbered = {{0, 0}};
  const auto copy_op = [&](const OpDesc& op, Block& target) {
    OpDesc& copy = target.append_op_unchecked(op);
    turn_to_test(copy);
    for_each_sub_block(copy, [&](BlockRef& ref) { ref.index = renumbered.at(ref.index); });
  };
  for (const int index : selection.sub_blocks()) {
    renumbered[index] = pruned->create_block(renumbered.at(blocks_[static_cast<size_t>(index)]->parent_index())).index();
  }
  pruned->current_ = 0;
  for (const VarDesc* variable : global_block().vars()) {
    if (selection.has(variable->name)) pruned->global_block().put_var(*variable);
  }
  for (const OpDesc* op : selection.ops()) copy_op(*op, pruned->global_block());
  for (const int index : selection.sub_blocks()) {
    const Block& source = *blocks_[static_cast<size_t>(index)];
    Block& target = pruned->block(static_cast<size_t>(renumbered.at(index)));
    for (const VarDesc* variable : source.vars()) target.put_var(*variable);
    for (const auto& op : source.ops()) copy_op(*op, target);
  }
  return pruned;
}

}  // namespace argosy::graph
