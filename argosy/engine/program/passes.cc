#include "argosy/engine/program/passes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "argosy/engine/remote/remote_rows.h"
#include "argosy/graph/backward.h"

namespace argosy::engine {
namespace {

using graph::OpDesc;

// Who makes and who reads each variable, over the operators of a list. Positions are indices into the list.
struct Uses {
  std::map<std::string, std::vector<size_t>> makers, readers;

  explicit Uses(const std::vector<OpDesc>& ops) {
    for (size_t i = 0; i < ops.size(); ++i) {
      for (const std::string& name : ops[i].input_names()) readers[name].push_back(i);
      for (const std::string& name : ops[i].output_names()) makers[name].push_back(i);
    }
  }
  // The one operator that makes `name`, where nobody but `reader` reads it.
  std::optional<size_t> private_maker(const std::string& name, size_t reader) const {
    const auto made = makers.find(name);
    const auto read = readers.find(name);
    if (made == makers.end() || made->second.size() != 1 || read == readers.end()) return std::nullopt;
    if (std::any_of(read->second.begin(), read->second.end(), [&](size_t at) { return at != reader; })) return std::nullopt;
    return made->second[0];
  }
};

class Fuser {
 public:
  Fuser(std::vector<OpDesc>& ops, const graph::Program& program, const std::vector<std::string>& fetches)
      : ops_(ops), program_(program), kept_(fetches.begin(), fetches.end()) {}

  void run() {
    fuse_fc();
    fuse_embeddings();
    fuse_windows();
  }

 private:
  std::optional<size_t> hidden_maker(const Uses& uses, const std::string& name, size_t reader) const {
    const graph::VarDesc* variable = program_.global_block().find_var(name);
    if (kept_.contains(name) || variable == nullptr || variable->persistable || variable->stop_gradient) return std::nullopt;
    return uses.private_maker(name, reader);
  }

  void drop(const std::set<size_t>& gone) {
    std::vector<OpDesc> left;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (!gone.contains(i)) left.push_back(std::move(ops_[i]));
    }
    ops_ = std::move(left);
  }

  // mul, or matmul with a parameter, + elementwise_add of a bias [+ relu] -> fused_fc, in the place of the last of them.
  void fuse_fc() {
    const Uses uses(ops_);
    std::set<size_t> gone;
    for (size_t add = 0; add < ops_.size(); ++add) {
      if (ops_[add].type != "elementwise_add" || !is_bias(ops_[add])) continue;
      const auto mul = hidden_maker(uses, ops_[add].inputs.find("X")->front(), add);
      if (!mul || gone.contains(*mul)) continue;
      std::optional<OpDesc> made = as_fc(ops_[*mul]);
      if (!made) continue;
      OpDesc& fused = *made;
      fused.inputs["Bias"] = *ops_[add].inputs.find("Y");
      fused.outputs["Out"] = *ops_[add].outputs.find("Out");
      size_t place = add;
      if (const auto relu = relu_after(uses, add)) {
        fused.attributes["relu"] = true;
        fused.outputs["Out"] = *ops_[*relu].outputs.find("Out");
        gone.insert(add);
        place = *relu;
      }
      gone.insert(*mul);
      ops_[place] = std::move(fused);
    }
    drop(gone);
  }

  // The fused_fc that computes what a mul, or a matmul of rows with a matrix of parameters, does; nothing for other operators.
  std::optional<OpDesc> as_fc(const OpDesc& op) const {
    if (op.type == "mul") {
      const graph::VarDesc* out = program_.global_block().find_var(op.outputs.find("Out")->front());
      if (out == nullptr || std::ssize(out->shape) != op.attribute_or<int32_t>("x_num_col_dims", 1) + 1) return std::nullopt;
      OpDesc fused = op;
      fused.type = "fused_fc";
      return fused;
    }
    const bool v2 = op.type == "matmul_v2";
    if (!v2 && op.type != "matmul") return std::nullopt;
    const graph::VarDesc* x = program_.global_block().find_var(op.inputs.find("X")->front());
    const graph::VarDesc* y = program_.global_block().find_var(op.inputs.find("Y")->front());
    if (x == nullptr || y == nullptr || !y->persistable || y->shape.size() != 2 || x->shape.size() < 2) return std::nullopt;
    if (op.attribute_or<bool>(v2 ? "trans_x" : "transpose_X", false) ||
        op.attribute_or<bool>(v2 ? "trans_y" : "transpose_Y", false) || op.attribute_or<float>("alpha", 1.0f) != 1.0f)
      return std::nullopt;
    OpDesc fused{.type = "fused_fc", .inputs = op.inputs, .outputs = op.outputs};
    fused.attributes["x_num_col_dims"] = int32_t{-1};
    return fused;
  }

  // A vector parameter as long as the last dimension, added along it.
  bool is_bias(const OpDesc& add) const {
    const graph::VarDesc* x = program_.global_block().find_var(add.inputs.find("X")->front());
    const graph::VarDesc* y = program_.global_block().find_var(add.inputs.find("Y")->front());
    if (x == nullptr || y == nullptr || !y->persistable || y->shape.size() != 1 || x->shape.size() < 2) return false;
    const int32_t axis = add.attribute_or<int32_t>("axis", -1);
    const auto last = static_cast<int32_t>(x->shape.size()) - 1;
    return (axis == last || axis == -1) && x->shape.back() == y->shape[0] && x->dtype == graph::DType::float32;
  }

  std::optional<size_t> relu_after(const Uses& uses, size_t add) const {
    const std::string& sum = ops_[add].outputs.find("Out")->front();
    const auto readers = uses.readers.find(sum);
    if (readers == uses.readers.end() || readers->second.size() != 1) return std::nullopt;
    const size_t at = readers->second[0];
    if (ops_[at].type != "relu" || hidden_maker(uses, sum, at) != add) return std::nullopt;
    return at;
  }

  // concat of (lookup_table + sequence_pool) over one table, and of inputs that carry no gradient -> fused_embedding_concat.
  void fuse_embeddings() {
    const Uses uses(ops_);
    std::set<size_t> gone;
    for (size_t at = 0; at < ops_.size(); ++at) {
      if (ops_[at].type == "concat" && ops_[at].attribute_or<int32_t>("axis", 0) == 1) try_embeddings(uses, at, gone);
    }
    drop(gone);
  }

  void try_embeddings(const Uses& uses, size_t concat, std::set<size_t>& gone) {
    OpDesc fused{.type = "fused_embedding_concat"};
    std::string layout, pooling;
    std::set<size_t> taken;
    for (const std::string& name : *ops_[concat].inputs.find("X")) {
      const auto pool = hidden_maker(uses, name, concat);
      if (pool && take_slot(uses, *pool, fused, pooling, taken)) {
        layout += 'e';
        continue;
      }
      const graph::VarDesc* dense = program_.global_block().find_var(name);
      if (dense == nullptr || !dense->is_data || !dense->stop_gradient || dense->shape.size() != 2 ||
          dense->dtype != graph::DType::float32)
        return;
      fused.inputs["Dense"].push_back(name);
      layout += 'd';
    }
    if (taken.empty()) return;
    fused.outputs["Out"] = *ops_[concat].outputs.find("Out");
    fused.attributes["layout"] = layout;
    fused.attributes["average"] = pooling == "AVERAGE";
    ops_[concat] = std::move(fused);
    gone.insert(taken.begin(), taken.end());
  }

  bool take_slot(const Uses& uses, size_t pool, OpDesc& fused, std::string& pooling, std::set<size_t>& taken) const {
    const OpDesc& pool_op = ops_[pool];
    if (pool_op.type != "sequence_pool") return false;
    const std::string kind = pool_op.attribute_or<std::string>("pooltype", "");
    if ((kind != "SUM" && kind != "AVERAGE") || (!pooling.empty() && pooling != kind)) return false;
    if (pool_op.attribute_or<float>("pad_value", 0.0f) != 0.0f) return false;
    const auto lookup = hidden_maker(uses, pool_op.inputs.find("X")->front(), pool);
    if (!lookup || ops_[*lookup].type != "lookup_table") return false;
    const OpDesc& lookup_op = ops_[*lookup];
    const auto& table = *lookup_op.inputs.find("W");
    const auto* first_table = fused.inputs.find("W");
    const graph::VarDesc* ids = program_.global_block().find_var(lookup_op.inputs.find("Ids")->front());
    if (!lookup_op.attribute_or<bool>("is_sparse", false) || lookup_op.attribute_or<int64_t>("padding_idx", -1) >= 0)
      return false;
    const graph::VarDesc* gradient = program_.global_block().find_var(graph::gradient_name(table.front()));
    if (gradient != nullptr && gradient->kind != graph::VarKind::selected_rows) return false;
    if ((first_table != nullptr && *first_table != table) || ids == nullptr || ids->lod_level != 1) return false;
    pooling = kind;
    fused.inputs["W"] = table;
    fused.inputs["Ids"].push_back(ids->name);
    taken.insert({pool, *lookup});
    return true;
  }

  // Sparse lookups and window_loss -> fused_window_loss.
  void fuse_windows() {
    const Uses uses(ops_);
    std::set<size_t> gone;
    for (size_t at = 0; at < ops_.size(); ++at) {
      if (ops_[at].type == "window_loss") try_window(uses, at, gone);
    }
    drop(gone);
  }

  void try_window(const Uses& uses, size_t loss, std::set<size_t>& gone) {
    OpDesc fused = ops_[loss];
    fused.type = "fused_window_loss";
    const bool cbow = fused.attribute_or<std::string>("mode", "") == "cbow";
    std::set<size_t> taken;
    for (const char* slot : {"Center", "Around", "Drawn"}) {
      const auto lookup = hidden_maker(uses, ops_[loss].inputs.find(slot)->front(), loss);
      if (!lookup || !is_lookup(ops_[*lookup]) || !gives_rows(ops_[*lookup])) return;
      const char* table = slot == std::string_view(cbow ? "Around" : "Center") ? "In" : "Out";
      const auto& name = *ops_[*lookup].inputs.find("W");
      if (const auto* before = fused.inputs.find(table); before != nullptr && *before != name) return;
      fused.inputs[table] = name;
      fused.inputs[slot] = *ops_[*lookup].inputs.find("Ids");
      taken.insert(*lookup);
    }
    ops_[loss] = std::move(fused);
    gone.insert(taken.begin(), taken.end());
  }

  // Whether the gradient of a lookup's table is one of rows.
  bool gives_rows(const OpDesc& lookup) const {
    if (!lookup.attribute_or<bool>("is_sparse", false) || lookup.attribute_or<int64_t>("padding_idx", -1) >= 0) return false;
    const graph::VarDesc* gradient = program_.global_block().find_var(graph::gradient_name(lookup.inputs.find("W")->front()));
    return gradient != nullptr && gradient->kind == graph::VarKind::selected_rows;
  }

  std::vector<OpDesc>& ops_;
  const graph::Program& program_;
  const std::set<std::string> kept_;
};

}  // namespace

void run_passes(std::vector<OpDesc>& ops, const graph::Program& program, const std::vector<std::string>& fetches) {
  Fuser(ops, program, fetches).run();
}

}  // namespace argosy::engine
