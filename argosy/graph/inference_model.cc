#include "argosy/graph/inference_model.h"

#include <algorithm>
#include <map>
#include <set>

#include "argosy/base/text.h"

namespace argosy::graph {
namespace {

constexpr const char* kFeed = "feed";
constexpr const char* kFetch = "fetch";
constexpr const char* kColumn = "col";

void add_holder(Block& block, const char* name, VarKind kind) {
  VarDesc holder;
  holder.name = name;
  holder.kind = kind;
  holder.persistable = true;
  block.put_var(std::move(holder));
}

OpDesc transfer(const char* type, std::string from, std::string to, size_t column) {
  return {.type = type,
          .inputs = {{"X", {std::move(from)}}},
          .outputs = {{"Out", {std::move(to)}}},
          .attributes = {{kColumn, static_cast<int32_t>(column)}, {std::string(kRoleAttribute), int32_t{kRoleForward}}}};
}

// Everything that the operators of the global block read must be fed, persistable, or made by an earlier one.
Status check_inputs(const Block& block, const std::vector<std::string>& feeds) {
  std::set<std::string> known(feeds.begin(), feeds.end());
  for (const auto& op : block.ops()) {
    for (const std::string& name : op->input_names()) {
      const VarDesc* variable = block.find_var(name);
      if (variable == nullptr || variable->persistable || known.contains(name)) continue;
      return Status::invalid_argument(
          "operator '{}' reads '{}', which is not among the inputs of the model: {}; feed it, or choose targets that do not need "
          "it",
          op->type, name, feeds.empty() ? "none" : join(feeds, ", "));
    }
    for (std::string& name : op->output_names()) known.insert(std::move(name));
  }
  return {};
}

// Adds the `scale` behind a target and returns its output. A truth value is left as it is: Paddle cannot scale it.
std::string add_scale(Block& block, const std::string& target, size_t column) {
  VarDesc out = *block.find_var(target);
  if (out.dtype == DType::boolean) return target;
  for (int n = 0; out.name == target || block.find_var(out.name) != nullptr; ++n) {
    out.name = fmt::format("save_infer_model/scale_{}.tmp_{}", column, n);
  }
  out.persistable = out.is_data = false;
  out.parameter.reset();
  block.append_op_unchecked(
      {.type = "scale",
       .inputs = {{"X", {target}}},
       .outputs = {{"Out", {out.name}}},
       .attributes = {
           {"scale", 1.0f}, {"bias", 0.0f}, {"bias_after_scale", true}, {std::string(kRoleAttribute), int32_t{kRoleForward}}}});
  return block.put_var(std::move(out)).name;
}

void add_feeds(Block& block, const std::vector<std::string>& feeds) {
  add_holder(block, kFeed, VarKind::feed_minibatch);
  for (size_t i = 0; i < feeds.size(); ++i) block.insert_op_unchecked(0, transfer(kFeed, kFeed, feeds[i], i));
}

void add_fetches(Block& block, const std::vector<std::string>& targets) {
  add_holder(block, kFetch, VarKind::fetch_list);
  std::vector<std::string> outputs;
  for (size_t i = 0; i < targets.size(); ++i) outputs.push_back(add_scale(block, targets[i], i));
  for (size_t i = 0; i < targets.size(); ++i) block.append_op_unchecked(transfer(kFetch, outputs[i], kFetch, i));
}

// The variables at `slot` of the operators of `type`, by column.
Result<std::vector<std::string>> columns_of(const Block& block, std::string_view type, const SlotMap OpDesc::* slots,
                                            std::string_view slot) {
  std::map<int32_t, std::string> by_column;
  for (const auto& op : block.ops()) {
    if (op->type != type) continue;
    const auto* names = (op.get()->*slots).find(slot);
    const auto* column = op->attribute<int32_t>(kColumn);
    if (names == nullptr || names->size() != 1 || column == nullptr) {
      return Status::data_loss("an operator '{}' needs one variable in '{}' and an attribute '{}'", type, slot, kColumn);
    }
    if (!by_column.emplace(*column, names->front()).second) {
      return Status::data_loss("'{}' and '{}' are both at column {} of '{}'", by_column[*column], names->front(), *column, type);
    }
  }
  std::vector<std::string> ordered;
  for (auto& [column, name] : by_column) {
    if (column != static_cast<int32_t>(ordered.size()))
      return Status::data_loss("no operator '{}' has column {}", type, ordered.size());
    ordered.push_back(std::move(name));
  }
  return ordered;
}

}  // namespace

Result<std::shared_ptr<Program>> make_inference_program(const Program& program, const std::vector<std::string>& feeds,
                                                        const std::vector<std::string>& targets) {
  if (targets.empty()) return Status::invalid_argument("a model needs at least one target");
  if (std::set<std::string>(feeds.begin(), feeds.end()).size() != feeds.size()) {
    return Status::invalid_argument("an input is named twice: {}", join(feeds, ", "));
  }
  ASSIGN_OR_RETURN(auto model, program.prune(feeds, targets));
  Block& block = model->global_block();
  RETURN_IF_ERROR(check_inputs(block, feeds));
  add_feeds(block, feeds);
  add_fetches(block, targets);
  return model;
}

Result<InferenceNames> inference_names(const Program& program) {
  const Block& block = program.global_block();
  InferenceNames names;
  ASSIGN_OR_RETURN(names.feeds, columns_of(block, kFeed, &OpDesc::outputs, "Out"));
  ASSIGN_OR_RETURN(names.fetches, columns_of(block, kFetch, &OpDesc::inputs, "X"));
  if (names.fetches.empty()) {
    return Status::failed_precondition(
        "the program has no 'fetch' operator, so it is not a model for inference; save_inference_model makes one");
  }
  return names;
}

}  // namespace argosy::graph
