#include "argosy/graph/layers/control_flow.h"

#include <algorithm>
#include <set>

#include "argosy/base/error.h"
#include "argosy/graph/build.h"

namespace argosy::layers {

using graph::Block;
using graph::BlockRef;
using graph::LayerHelper;
using graph::OpDesc;
using graph::VarDesc;
using graph::VarKind;

namespace {

// The variables of the blocks around `body` that it reads and sets, in order of first appearance.
struct OutsideNames {
  std::vector<std::string> reads, writes;
};

void note_outside(const Block& body, const graph::SlotMap& slots, std::vector<std::string>& found) {
  for (const auto& [slot, names] : slots) {
    for (const std::string& name : names) {
      if (body.find_var(name) == nullptr && std::ranges::find(found, name) == found.end()) found.push_back(name);
    }
  }
}

OutsideNames outside_names(const Block& body) {
  OutsideNames names;
  for (const auto& op : body.ops()) {
    note_outside(body, op->inputs, names.reads);
    note_outside(body, op->outputs, names.writes);
  }
  // A variable that the body only sets keeps its value where the body does not run.
  return names;
}

Variable new_variable(Block& block, const std::string& name, DType dtype, VarKind kind = VarKind::lod_tensor) {
  VarDesc desc;
  desc.name = name;
  desc.dtype = dtype;
  desc.kind = kind;
  return Variable(block.program().shared_from_this(), block, block.put_var(std::move(desc)));
}

void check_condition(const char* function, const Variable& condition) {
  if (condition.dtype() == DType::boolean) return;
  throw Error(Status::invalid_argument("{}: condition '{}' is {}, expected bool (say, of less_than)", function, condition.name(),
                                       graph::dtype_name(condition.dtype())));
}

// The operator `type` over `body`, with its slots' names as PaddlePaddle has them.
void append_block_op(const char* type, const char* condition_slot, const Variable& condition, const char* reads_slot,
                     const char* scope_slot, graph::AttributeMap attributes, const Block& body) {
  LayerHelper helper(type, "");
  check_condition(type, condition);
  const OutsideNames names = outside_names(body);
  const Variable scope = new_variable(helper.main().current_block(), graph::unique_name(helper.name() + ".scope"), DType::float32,
                                      VarKind::step_scopes);
  attributes["sub_block"] = BlockRef{body.index()};
  helper.append_op({.type = type,
                    .inputs = {{condition_slot, {condition.name()}}, {reads_slot, names.reads}},
                    .outputs = {{"Out", names.writes}, {scope_slot, {scope.name()}}},
                    .attributes = std::move(attributes)});
}

void assign_to(const Variable& from, const Variable& to) {
  LayerHelper helper("assign", "");
  helper.append_op({.type = "assign", .inputs = {{"X", {from.name()}}}, .outputs = {{"Out", {to.name()}}}});
}

Variable copy_of(const Variable& x) {
  LayerHelper helper("assign", "");
  return helper.append_unary("assign", x);
}

// A branch's variables, which are set in the block around it.
std::vector<Variable> branch(const Variable& condition, const Branch& build) {
  Block& around = graph::default_main_program()->current_block();
  std::vector<Variable> results;
  const Block* body = nullptr;
  {
    const BlockGuard guard;
    body = &guard.block();
    for (const Variable& made : build()) {
      results.push_back(new_variable(around, graph::unique_name("cond.tmp"), made.dtype()));
      assign_to(made, results.back());
    }
  }
  run_if(condition, *body);
  return results;
}

Variable negated(const Variable& condition) {
  LayerHelper helper("logical_not", "");
  const Variable out = helper.create_tmp(DType::boolean, true);
  helper.append_op({.type = "logical_not", .inputs = {{"X", {condition.name()}}}, .outputs = {{"Out", {out.name()}}}});
  return out;
}

Variable as_int(const Variable& condition) {
  LayerHelper helper("cast", "");
  const Variable out = helper.create_tmp(DType::int32, true);
  helper.append_op(
      {.type = "cast",
       .inputs = {{"X", {condition.name()}}},
       .outputs = {{"Out", {out.name()}}},
       .attributes = {{"in_dtype", static_cast<int32_t>(DType::boolean)}, {"out_dtype", static_cast<int32_t>(DType::int32)}}});
  return out;
}

Variable select(const Variable& if_true, const Variable& if_false, const Variable& mask, size_t number) {
  if (if_true.dtype() != if_false.dtype()) {
    throw Error(Status::invalid_argument("cond: variable {} of the branches is {} in one and {} in the other", number,
                                         graph::dtype_name(if_true.dtype()), graph::dtype_name(if_false.dtype())));
  }
  LayerHelper helper("select_input", "");
  const Variable out = helper.create_tmp(if_true.dtype());
  helper.append_op({.type = "select_input",
                    .inputs = {{"X", {if_false.name(), if_true.name()}}, {"Mask", {mask.name()}}},
                    .outputs = {{"Out", {out.name()}}}});
  return out;
}

void check_like(const Variable& before, const Variable& after, size_t number) {
  if (before.dtype() == after.dtype()) return;
  throw Error(Status::invalid_argument("while_loop: variable {} ('{}') is {}, but the body makes {} of it; cast it", number,
                                       before.name(), graph::dtype_name(before.dtype()), graph::dtype_name(after.dtype())));
}

// Sets `variables` to `made`, all at once: one of `made` may be another of `variables`.
void assign_all(std::vector<Variable> made, const std::vector<Variable>& variables) {
  std::set<std::string> names;
  for (const Variable& variable : variables) names.insert(variable.name());
  for (size_t i = 0; i < made.size(); ++i) {
    check_like(variables[i], made[i], i);
    if (made[i].name() != variables[i].name() && names.contains(made[i].name())) made[i] = copy_of(made[i]);
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i].name() != variables[i].name()) assign_to(made[i], variables[i]);
  }
}

}  // namespace

BlockGuard::BlockGuard()
    : program_(graph::default_main_program()), block_(program_->create_block(program_->current_block().index())) {}
BlockGuard::~BlockGuard() { program_->rollback(); }

void run_if(const Variable& condition, const Block& body) {
  append_block_op("conditional_block", "Cond", condition, "Input", "Scope", {{"is_scalar_condition", true}}, body);
}

void run_while(const Variable& condition, const Block& body) {
  const OutsideNames names = outside_names(body);
  if (std::ranges::find(names.writes, condition.name()) == names.writes.end()) {
    throw Error(
        Status::invalid_argument("while: the block does not set its condition '{}', so that it would never end; end it with, "
                                 "say, less_than(i, n, cond=condition)",
                                 condition.name()));
  }
  append_block_op("while", "Condition", condition, "X", "StepScopes", {{"is_test", false}}, body);
}

std::vector<Variable> cond(const Variable& condition, const Branch& if_true, const Branch& if_false) {
  check_condition("cond", condition);
  const std::vector<Variable> then = branch(condition, if_true);
  const std::vector<Variable> otherwise = branch(negated(condition), if_false);
  if (then.size() != otherwise.size()) {
    throw Error(Status::invalid_argument("cond: the branches give {} and {} variables, expected equally many", then.size(),
                                         otherwise.size()));
  }
  std::vector<Variable> chosen;
  if (then.empty()) return chosen;
  const Variable mask = as_int(condition);
  for (size_t i = 0; i < then.size(); ++i) chosen.push_back(select(then[i], otherwise[i], mask, i));
  return chosen;
}

std::vector<Variable> while_loop(const std::function<Variable(const std::vector<Variable>&)>& condition,
                                 const std::function<std::vector<Variable>(const std::vector<Variable>&)>& body,
                                 const std::vector<Variable>& variables) {
  const Variable goes_on = condition(variables);
  check_condition("while_loop", goes_on);
  const Block* block = nullptr;
  {
    const BlockGuard guard;
    block = &guard.block();
    const std::vector<Variable> made = body(variables);
    if (made.size() != variables.size()) {
      throw Error(Status::invalid_argument("while_loop: the body makes {} variables of {}, expected equally many", made.size(),
                                           variables.size()));
    }
    assign_all(made, variables);
    assign_to(condition(variables), goes_on);
  }
  run_while(goes_on, *block);
  return variables;
}

Variable create_array(DType dtype) {
  Block& block = graph::default_main_program()->current_block();
  return new_variable(block, graph::unique_name("array"), dtype, VarKind::lod_tensor_array);
}

Variable array_write(const Variable& x, const Variable& index, const Variable& array) {
  LayerHelper helper("array_write", "");
  const Variable out = array ? array : create_array(x.dtype());
  helper.append_op(
      {.type = "write_to_array", .inputs = {{"X", {x.name()}}, {"I", {index.name()}}}, .outputs = {{"Out", {out.name()}}}});
  return out;
}

Variable array_read(const Variable& array, const Variable& index) {
  LayerHelper helper("array_read", "");
  const Variable out = helper.create_tmp(array.dtype());
  helper.append_op(
      {.type = "read_from_array", .inputs = {{"X", {array.name()}}, {"I", {index.name()}}}, .outputs = {{"Out", {out.name()}}}});
  return out;
}

Variable array_length(const Variable& array) {
  LayerHelper helper("array_length", "");
  const Variable out = helper.create_tmp(DType::int64, true);
  helper.append_op({.type = "lod_array_length", .inputs = {{"X", {array.name()}}}, .outputs = {{"Out", {out.name()}}}});
  return out;
}

Variable print(const Variable& input, const PrintOptions& options) {
  std::string phase = options.phase;
  std::ranges::transform(phase, phase.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  LayerHelper helper("print", "");
  const Variable out = helper.create_tmp(input.dtype(), input.stop_gradient());
  helper.append_op({.type = "print",
                    .inputs = {{"In", {input.name()}}},
                    .outputs = {{"Out", {out.name()}}},
                    .attributes = {{"first_n", options.first_n},
                                   {"message", options.message},
                                   {"summarize", options.summarize},
                                   {"print_tensor_name", options.name},
                                   {"print_tensor_type", options.type},
                                   {"print_tensor_shape", options.shape},
                                   {"print_tensor_lod", options.lod},
                                   {"print_phase", phase}}});
  return out;
}

}  // namespace argosy::layers
