#include "argosy/fleet/plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/engine/remote/remote_rows.h"
#include "argosy/fleet/row_birth.h"
#include "argosy/graph/backward.h"
#include "argosy/optim/rule.h"

namespace argosy::fleet {
namespace {

using engine::is_lookup;
using graph::OpDesc;
using graph::VarDesc;

// The operators of a block by what they write.
class Makers {
 public:
  explicit Makers(const graph::Block& block) {
    for (const auto& op : block.ops()) {
      for (const std::string& name : op->output_names()) makers_.emplace(name, op.get());
    }
  }
  const OpDesc* find(std::string_view name) const {
    const auto found = makers_.find(name);
    return found == makers_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, const OpDesc*, std::less<>> makers_;  // the first one
};

bool is_update(const OpDesc& op) {
  return op.inputs.find("Param") != nullptr && op.inputs.find("Grad") != nullptr && optim::find_rule(op.type).ok();
}

// A table whose rows go to the servers one by one: every use of it is a sparse lookup.
bool is_row_table(const graph::Block& block, const std::string& name) {
  bool used = false;
  for (const auto& op : block.ops()) {
    if (op->type == graph::kBackwardOp || is_update(*op) || op->type == "regularize_gradient") continue;
    const auto names = op->input_names();
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    const bool sparse = op->attribute_or<bool>("is_sparse", false) || op->attribute_or<bool>("is_distributed", false);
    if (!is_lookup(*op) || !sparse) return false;
    used = true;
  }
  return used;
}

bool writes(const OpDesc& op, const std::string& variable) {
  const auto names = op.output_names();
  return std::ranges::find(names, variable) != names.end();
}

// A batch_norm that leaves its statistics as they are.
bool uses_running_statistics(const OpDesc& op) {
  return op.attribute_or<bool>("use_global_stats", false) || op.attribute_or<bool>("is_test", false);
}

class Planner {
 public:
  Planner(const graph::Program& main, const graph::Program& startup, ps::Mode mode, int workers)
      : main_(main), startup_(startup), block_(main.global_block()), makers_(block_), first_values_(startup.global_block()) {
    plan_.spec.mode = mode;
    plan_.spec.workers = workers;
  }

  Result<Plan> run() {
    RETURN_IF_ERROR(find_updates());
    if (updates_.empty()) {
      return Status::failed_precondition("the program has no optimizer operators; call minimize(loss) before it is distributed");
    }
    for (const VarDesc* parameter : main_.parameters()) RETURN_IF_ERROR(add_table(*parameter));
    RETURN_IF_ERROR(add_running_statistics());
    for (const auto& op : block_.ops()) {
      if (op->type == "clip_gradients") RETURN_IF_ERROR(add_clip(*op));
    }
    RETURN_IF_ERROR(plan_.spec.check());
    settle_rates();
    return std::move(plan_);
  }

 private:
  bool geo() const { return plan_.spec.mode == ps::Mode::geo; }
  int next_table() const { return static_cast<int>(plan_.spec.tables.size()); }

  Status find_updates() {
    for (const auto& op : block_.ops()) {
      if (op->type == "check_finite_and_unscale") {
        return Status::unimplemented(
            "the program divides its gradients by the factor of its loss, and servers, which do the updates, know no such "
            "factor; leave use_dynamic_loss_scaling out of decorate(): the setting nonfinite=skip leaves gradients out that are "
            "not finite");
      }
      if (!is_update(*op)) continue;
      const std::string& parameter = op->inputs.find("Param")->front();
      if (const auto [known, fresh] = updates_.emplace(parameter, op.get()); !fresh) {
        return Status::unimplemented(
            "parameter '{}' has two updates in a batch, '{}' and '{}', and servers do one; minimize the sum of the losses, or "
            "give each minimize() parameters of its own (parameter_list)",
            parameter, known->second->type, op->type);
      }
    }
    return {};
  }

  // Those of 2.x's layers are variables that persist, and no parameters as fluid's are.
  Status add_running_statistics() {
    for (const auto& op : block_.ops()) {
      if (op->type != "batch_norm" || uses_running_statistics(*op)) continue;
      for (const graph::StatisticSlots& slots : graph::kBatchStatistics) {
        const std::string& name = op->inputs.find(slots.running)->front();
        const VarDesc* variable = block_.find_var(name);
        if (variable != nullptr && std::ranges::find(plan_.spec.tables, name, &ps::TableSpec::name) == plan_.spec.tables.end())
          RETURN_IF_ERROR(add_table(*variable));
      }
    }
    return {};
  }

  Status add_table(const VarDesc& parameter) {
    if (parameter.dtype != graph::DType::float32) {
      return Status::invalid_argument("parameter '{}' is {}; parameter servers hold float32", parameter.name,
                                      graph::dtype_name(parameter.dtype));
    }
    ps::TableSpec table{.name = parameter.name, .sparse = is_row_table(block_, parameter.name)};
    if (table.sparse)
      RETURN_IF_ERROR(describe_rows(parameter, table));
    else
      RETURN_IF_ERROR(describe_dense(parameter, table));
    table.schedule = optim::LearningRate(0.0).to_schedule();
    const auto update = updates_.find(parameter.name);
    std::string gradient;
    if (update != updates_.end()) {
      RETURN_IF_ERROR(describe_update(*update->second, table));
      ASSIGN_OR_RETURN(gradient, trace_gradient(update->second->inputs.find("Grad")->front(), table));
    } else {
      ASSIGN_OR_RETURN(gradient, describe_statistic(parameter, table));
    }
    table.geo = geo();
    plan_.gradients.push_back(std::move(gradient));
    plan_.shapes.push_back(parameter.shape);
    plan_.spec.tables.push_back(std::move(table));
    return {};
  }

  // A parameter that no optimizer updates: a running statistic of batch_norm, for which a worker sends the batch's own in place
  // of a gradient, or one that stays as it is. Returns what is sent; empty: nothing.
  Result<std::string> describe_statistic(const VarDesc& parameter, ps::TableSpec& table) const {
    const OpDesc* maker = nullptr;
    for (const auto& op : block_.ops()) {
      if (!writes(*op, parameter.name) || uses_running_statistics(*op)) continue;
      if (op->type != "batch_norm" || op->inputs.find("MomentumTensor") != nullptr || maker != nullptr) {
        return Status::invalid_argument(
            "parameter '{}' is changed by operator '{}'{}; on parameter servers only an optimizer may do that, and one "
            "batch_norm, "
            "with a number as momentum, for its running statistics",
            parameter.name, op->type, maker != nullptr ? " and another before it" : "");
      }
      maker = op.get();
    }
    if (maker == nullptr) return std::string();
    table.rule = optim::kRunningMean;
    table.hyper_parameters = {{"momentum", maker->attribute_or<float>("momentum", 0.9f)}};
    return graph::gradient_name(parameter.name);
  }

  Status describe_dense(const VarDesc& parameter, ps::TableSpec& table) {
    table.size = 1;
    for (const int64_t size : parameter.shape) {
      if (size < 0) {
        return Status::invalid_argument("parameter '{}' has shape {}; its sizes must be known", parameter.name,
                                        graph::shape_to_string(parameter.shape));
      }
      table.size *= static_cast<uint64_t>(size);
    }
    return {};
  }

  Status describe_rows(const VarDesc& parameter, ps::TableSpec& table) {
    table.width = static_cast<uint32_t>(parameter.shape.back());
    table.declared_rows = static_cast<uint64_t>(std::max<int64_t>(parameter.shape.front(), 0));
    ASSIGN_OR_RETURN(table.initializer,
                     row_initializer(first_values_.find(parameter.name), parameter.name, startup_.random_seed));
    std::optional<std::string> entry;
    for (const auto& op : block_.ops()) {
      if (!is_lookup(*op) || op->inputs.find("W")->front() != parameter.name) continue;
      const auto own = op->attribute_or<std::string>("entry", "none");
      if (entry && *entry != own)
        return Status::invalid_argument("table '{}' has lookups with the entries '{}' and '{}'", table.name, *entry, own);
      entry = own;
    }
    return describe_entry(*entry, table);
  }

  Status describe_entry(const std::string& entry, ps::TableSpec& table) {
    ASSIGN_OR_RETURN(table.admission, read_entry(entry, table.name));
    if (!entry.starts_with("show_click_entry")) return {};
    const auto parts = split(entry, ':');
    for (size_t i = 1; i < 3; ++i) {
      if (block_.find_var(parts[i]) == nullptr) {
        return Status::not_found("table '{}': entry '{}' names variable '{}', which the program does not have", table.name, entry,
                                 parts[i]);
      }
    }
    table.show_click.enabled = true;
    plan_.show_click[next_table()] = {parts[1], parts[2]};
    return {};
  }

  Status describe_update(const OpDesc& update, ps::TableSpec& table) {
    table.rule = update.type;
    const optim::RuleInfo& info = **optim::find_rule(update.type);
    for (const optim::HyperParameter& parameter : info.hyper_parameters) {
      const auto found = update.attributes.find(parameter.name);
      if (!parameter.is_attribute || found == update.attributes.end()) continue;
      const bool* flag = std::get_if<bool>(&found->second);
      const float* number = std::get_if<float>(&found->second);
      if (flag != nullptr || number != nullptr)
        table.hyper_parameters[std::string(parameter.name)] = flag != nullptr ? *flag : *number;
    }
    add_states(plan_, next_table(), block_, update);
    const auto* rate = update.inputs.find("LearningRate");
    return rate == nullptr ? Status() : describe_rate(rate->front(), table);
  }

  Status describe_rate(std::string name, ps::TableSpec& table) {
    const OpDesc* maker = makers_.find(name);
    if (maker != nullptr && maker->type == "scale") {
      table.rate_factor = maker->attribute_or<float>("scale", 1);
      name = maker->inputs.find("X")->front();
      maker = makers_.find(name);
    }
    rates_.insert(name);
    if (maker != nullptr && maker->type == "learning_rate_schedule") {
      table.schedule = {.kind = maker->attribute_or<std::string>("kind", ""),
                        .floats = maker->attribute_or<std::vector<float>>("floats", {}),
                        .ints = maker->attribute_or<std::vector<int64_t>>("ints", {})};
      return table.schedule.check();
    }
    const OpDesc* first = maker == nullptr ? first_values_.find(name) : nullptr;
    if (first == nullptr || first->type != "fill_constant") {
      return Status::invalid_argument(
          "parameter '{}': its learning rate '{}' is computed by {}; servers can follow a number or one of the schedules of "
          "fluid.layers and paddle.optimizer.lr",
          table.name, name, maker != nullptr ? fmt::format("operator '{}'", maker->type) : "nothing in these programs");
    }
    table.schedule = optim::LearningRate(first->attribute_or<float>("value", 0)).to_schedule();
    plan_.own_rates[name] = table.schedule.value(0);
    return {};
  }

  void settle_rates() {
    if (rates_.size() > 1 || plan_.own_rates.empty()) return;
    plan_.learning_rate = plan_.own_rates.begin()->first;
    plan_.own_rates.clear();
  }

  void warn_of_decay(const std::string& table) {
    if (std::exchange(warned_of_decay_, true)) return;
    log_warning(
        "table '{}' has weight decay: on servers a row decays when a batch uses it, and not in the steps in between; on one "
        "machine all "
        "rows decay in every step",
        table);
  }

  // From what the update operator reads back to what the backward operator wrote.
  Result<std::string> trace_gradient(std::string name, ps::TableSpec& table) {
    const OpDesc* maker = makers_.find(name);
    if (maker != nullptr && maker->type == "regularize_gradient") {
      table.regularization = optim::Regularization{
          maker->attribute_or<std::string>("kind", "l2") == "l1" ? optim::Regularization::l1 : optim::Regularization::l2,
          maker->attribute_or<float>("coeff", 0)};
      name = maker->inputs.find("Grad")->front();
      maker = makers_.find(name);
      if (table.sparse) warn_of_decay(table.name);
    }
    if (maker != nullptr && maker->type == "clip_gradients") {
      const auto& outputs = *maker->outputs.find("Out");
      const auto at = std::find(outputs.begin(), outputs.end(), name) - outputs.begin();
      clipped_[maker].push_back(next_table());
      name = (*maker->inputs.find("X"))[static_cast<size_t>(at)];
    }
    return name;
  }

  Status add_clip(const OpDesc& op) {
    const auto found = clipped_.find(&op);
    if (found == clipped_.end()) return {};
    const std::string kind = op.attribute_or<std::string>("kind", "");
    if (kind == "by_value") {
      const ps::ValueClip clip{op.attribute_or<float>("min", 0), op.attribute_or<float>("max", 0)};
      for (const int table : found->second) {
        if (plan_.spec.mode == ps::Mode::sync)
          plan_.spec.tables[static_cast<size_t>(table)].value_clip = clip;
        else
          plan_.value_clips.push_back({table, clip});
      }
      return {};
    }
    ps::NormClip clip{.group = fmt::format("clip_{}", plan_.norm_clips.size()),
                      .clip_norm = op.attribute_or<float>("clip_norm", 0),
                      .tables = found->second};
    if (plan_.spec.mode == ps::Mode::sync) {
      for (const int table : clip.tables) plan_.spec.tables[static_cast<size_t>(table)].clip_group = clip.group;
    }
    plan_.norm_clips.push_back(std::move(clip));
    return {};
  }

  const graph::Program& main_;
  const graph::Program& startup_;
  const graph::Block& block_;
  const Makers makers_, first_values_;
  std::map<std::string, const OpDesc*> updates_;           // by parameter
  std::set<std::string> rates_;                            // what the updates read
  bool warned_of_decay_ = false;
  std::map<const OpDesc*, std::vector<int>> clipped_;      // tables by clip operator
  Plan plan_;
};

}  // namespace

void add_states(Plan& plan, int table, const graph::Block& block, const OpDesc& update) {
  const auto states = (*optim::find_rule(update.type))->states;
  for (size_t slot = 0; slot < states.size(); ++slot) {
    const auto* names = update.inputs.find(states[slot].op_slot);
    const VarDesc* variable = names == nullptr ? nullptr : block.find_var(names->front());
    if (variable == nullptr) continue;
    if (plan.spec.mode == ps::Mode::geo)
      plan.worker_states.insert(variable->name);
    else
      plan.states[variable->name] = {.table = table, .slot = slot, .shape = variable->shape};
  }
}

std::map<std::string, engine::RemoteVariable, std::less<>> Plan::variables() const {
  std::map<std::string, engine::RemoteVariable, std::less<>> all;
  for (size_t i = 0; i < spec.tables.size(); ++i) {
    const auto kind = spec.tables[i].sparse ? engine::RemoteVariable::rows : engine::RemoteVariable::dense;
    all[spec.tables[i].name] = {kind, static_cast<int>(i), shapes[i]};
  }
  for (const auto& [name, state] : states) all[name] = {engine::RemoteVariable::state, state.table, state.shape};
  return all;
}

double Plan::first_rate() const {
  if (learning_rate.empty()) return 0;
  for (size_t i = 0; i < spec.tables.size(); ++i) {
    if (!gradients[i].empty() && spec.tables[i].rule != optim::kRunningMean) return spec.tables[i].schedule.value(0);
  }
  return 0;
}

std::string Plan::text() const {
  std::string result = fmt::format("{} tables for {} workers, {}", spec.tables.size(), spec.workers, ps::mode_name(spec.mode));
  for (size_t i = 0; i < spec.tables.size(); ++i) {
    const ps::TableSpec& table = spec.tables[i];
    result += fmt::format("\n{}: {} {}, {}", table.name, table.sparse ? "rows of" : "dense", graph::shape_to_string(shapes[i]),
                          gradients[i].empty() ? "not trained" : table.rule);
  }
  return result;
}

Result<Plan> make_plan(const graph::Program& main, const graph::Program& startup, ps::Mode mode, int workers) {
  ASSIGN_OR_RETURN(Plan plan, Planner(main, startup, mode, workers).run());
  for (const graph::VarDesc* variable : main.persistables()) {
    if (!plan.worker_states.contains(variable->name)) plan.persistables.push_back(variable->name);
  }
  std::sort(plan.persistables.begin(), plan.persistables.end());
  return plan;
}

}  // namespace argosy::fleet
