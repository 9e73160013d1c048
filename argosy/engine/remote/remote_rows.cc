#include "argosy/engine/remote/remote_rows.h"

#include <map>
#include <set>

#include "argosy/graph/backward.h"

namespace argosy::engine {
namespace {

using graph::OpDesc;

class Rewriter {
 public:
  Rewriter(std::vector<OpDesc>& ops, graph::Program& program, const RemoteParameters& remote)
      : ops_(ops), block_(program.global_block()), remote_(remote) {}

  Status check() const {
    for (const OpDesc& op : ops_) {
      if (is_remote_lookup(op) || op.type == graph::kBackwardOp || op.attributes.contains("sub_block")) continue;
      for (const std::string& name : op.input_names()) {
        if (!is_row_table(name)) continue;
        return Status::unimplemented(
            "operator '{}' reads '{}', whose rows lie on the servers: a worker has those of a batch, for lookups; build what "
            "reads the "
            "whole table before the program is distributed, which makes it a dense one, or leave it out",
            op.type, name);
      }
    }
    return {};
  }

  void run() {
    reshape_ids_first();
    for (const OpDesc& op : ops_) {
      for (const std::string& name : op.output_names()) made_later_.insert(name);
    }
    std::vector<OpDesc> result;
    for (size_t at = 0; at < ops_.size(); ++at) {
      if (is_remote_lookup(ops_[at])) {
        if (!is_pulled(ops_[at])) pull_all_known(at, result);
        rewrite(ops_[at]);
      }
      for (const std::string& name : ops_[at].output_names()) made_later_.erase(name);
      result.push_back(std::move(ops_[at]));
    }
    ops_ = std::move(result);
  }

 private:
  static const std::string& table_of(const OpDesc& lookup) { return lookup.inputs.find("W")->front(); }
  static const std::string& ids_of(const OpDesc& lookup) { return lookup.inputs.find("Ids")->front(); }
  static int64_t padding_of(const OpDesc& lookup) { return lookup.attribute_or<int64_t>("padding_idx", -1); }
  static std::string local_name(const OpDesc& lookup) {
    return fmt::format("{}@ROWS_OF@{}@{}", ids_of(lookup), table_of(lookup), padding_of(lookup));
  }

  bool is_row_table(const std::string& name) const {
    const RemoteVariable* variable = remote_.find(name);
    return variable != nullptr && variable->kind == RemoteVariable::rows;
  }
  bool is_remote_lookup(const OpDesc& op) const { return is_lookup(op) && is_row_table(table_of(op)); }
  bool is_pulled(const OpDesc& lookup) const { return pulled_.contains(local_name(lookup)); }

  // Reshapes of ids that exist before the first lookup go there: nothing is computed differently, and all rows can be pulled at
  // once.
  void reshape_ids_first() {
    size_t first = 0;
    while (first < ops_.size() && !is_remote_lookup(ops_[first])) ++first;
    std::map<std::string, size_t> makers;
    std::set<std::string> made_twice;
    for (size_t i = 0; i < ops_.size(); ++i) {
      for (const std::string& name : ops_[i].output_names()) {
        if (!makers.emplace(name, i).second) made_twice.insert(name);
      }
    }
    std::set<size_t> moved;
    for (size_t at = first; at < ops_.size(); ++at) {
      if (!is_remote_lookup(ops_[at])) continue;
      std::vector<size_t> chain;
      std::string ids = ids_of(ops_[at]);
      for (auto maker = makers.find(ids); maker != makers.end() && maker->second > first; maker = makers.find(ids)) {
        if (!can_move(ops_[maker->second], made_twice)) {
          chain.clear();
          break;
        }
        chain.push_back(maker->second);
        ids = ops_[maker->second].inputs.find("X")->front();
      }
      moved.insert(chain.begin(), chain.end());
    }
    if (!moved.empty()) move_before(first, moved);
  }

  // One input of integers, and outputs that nobody else makes.
  bool can_move(const OpDesc& op, const std::set<std::string>& made_twice) const {
    if (!only_reshapes(op) || op.input_names().size() != 1) return false;
    for (const std::string& name : op.output_names()) {
      if (made_twice.contains(name)) return false;
    }
    const graph::VarDesc* x = block_.find_var(op.input_names().front());
    return x != nullptr && !graph::is_floating(x->dtype) && !made_twice.contains(x->name);
  }

  void move_before(size_t first, const std::set<size_t>& moved) {
    std::vector<OpDesc> result;
    for (size_t i = 0; i < first; ++i) result.push_back(std::move(ops_[i]));
    for (const size_t i : moved) result.push_back(std::move(ops_[i]));
    for (size_t i = first; i < ops_.size(); ++i) {
      if (!moved.contains(i)) result.push_back(std::move(ops_[i]));
    }
    ops_ = std::move(result);
  }

  // A pull for each table with a lookup from `at` on whose ids exist by now.
  void pull_all_known(size_t at, std::vector<OpDesc>& result) {
    for (size_t i = at; i < ops_.size(); ++i) {
      if (is_remote_lookup(ops_[i]) && !is_pulled(ops_[i]) && !made_later_.contains(ids_of(ops_[i])))
        result.push_back(pull_for(i));
    }
  }

  // One pull for this lookup and for all later ones of its table whose ids exist by now.
  OpDesc pull_for(size_t at) {
    const std::string table = table_of(ops_[at]);
    OpDesc pull{.type = std::string(kPullRowsOp)};
    std::vector<int64_t> paddings;
    bool create = false;
    for (size_t i = at; i < ops_.size(); ++i) {
      const OpDesc& lookup = ops_[i];
      if (!is_remote_lookup(lookup) || table_of(lookup) != table || is_pulled(lookup)) continue;
      if (made_later_.contains(ids_of(lookup))) continue;
      pull.inputs["Ids"].push_back(ids_of(lookup));
      pull.outputs["LocalIds"].push_back(local_name(lookup));
      paddings.push_back(padding_of(lookup));
      create = create || !lookup.attribute_or<bool>("is_test", false);
      pulled_.insert(local_name(lookup));
      declare(lookup);
    }
    pull.outputs["W"] = {table};
    pull.attributes["padding_ids"] = std::move(paddings);
    pull.attributes["create"] = create;
    return pull;
  }

  void declare(const OpDesc& lookup) {
    graph::VarDesc variable;
    if (const graph::VarDesc* ids = block_.find_var(ids_of(lookup))) variable = *ids;
    variable.name = local_name(lookup);
    variable.persistable = variable.is_data = false;
    variable.stop_gradient = true;
    block_.put_var(std::move(variable));
  }

  // The number 0 stands for padding.
  static void rewrite(OpDesc& lookup) {
    const std::string local = local_name(lookup);
    lookup.inputs["Ids"] = {local};
    if (padding_of(lookup) != -1) lookup.attributes["padding_idx"] = int64_t{0};
  }

  std::vector<OpDesc>& ops_;
  graph::Block& block_;
  const RemoteParameters& remote_;
  std::set<std::string> made_later_;  // outputs of operators from the current one on
  std::set<std::string> pulled_;      // names of numbers that a pull has made
};

}  // namespace

bool only_reshapes(const OpDesc& op) {
  static const std::set<std::string_view> kTypes = {
      "reshape", "reshape2", "squeeze", "squeeze2", "unsqueeze", "unsqueeze2", "flatten", "flatten2", "flatten_contiguous_range"};
  return kTypes.contains(op.type);
}

bool is_lookup(const OpDesc& op) { return op.type == "lookup_table" || op.type == "lookup_table_v2"; }

Status pull_remote_rows(std::vector<OpDesc>& ops, graph::Program& program, const RemoteParameters& remote) {
  Rewriter rewriter(ops, program, remote);
  RETURN_IF_ERROR(rewriter.check());
  rewriter.run();
  return {};
}

}  // namespace argosy::engine
