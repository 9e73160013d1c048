// The programs that a plan makes of a training program: the worker's and the servers'.
#include <algorithm>
#include <charconv>
#include <set>

#include "argosy/base/text.h"
#include "argosy/engine/remote/remote_rows.h"
#include "argosy/fleet/plan.h"
#include "argosy/optim/rule.h"

namespace argosy::fleet {
namespace {

using graph::OpDesc;

// The table that `op` updates; -1: none.
int updated_table(const Plan& plan, const OpDesc& op) {
  const auto* parameter = op.inputs.find("Param");
  if (parameter == nullptr || op.inputs.find("Grad") == nullptr || !optim::find_rule(op.type).ok()) return -1;
  const auto& tables = plan.spec.tables;
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const auto& table) { return table.name == parameter->front(); });
  return found == tables.end() ? -1 : static_cast<int>(found - tables.begin());
}

// Done by servers, or by the communicator before it sends.
bool moves_to_servers(const Plan& plan, const OpDesc& op) {
  return updated_table(plan, op) >= 0 || op.type == "clip_gradients" || op.type == "regularize_gradient";
}

template <typename Unwanted>
void remove_ops(graph::Block& block, Unwanted unwanted) {
  for (size_t i = block.ops().size(); i-- > 0;) {
    if (unwanted(*block.ops()[i])) block.remove_op(i);
  }
}

bool writes_any(const OpDesc& op, const std::set<std::string>& names) {
  const auto outputs = op.output_names();
  return std::any_of(outputs.begin(), outputs.end(), [&](const std::string& name) { return names.contains(name); });
}

// Variables that a worker's scope has not: those of servers, and what the communicator keeps.
std::set<std::string> not_in_scope(const Plan& plan) {
  std::set<std::string> names(plan.worker_states.begin(), plan.worker_states.end());
  for (const ps::TableSpec& table : plan.spec.tables) {
    if (table.sparse) names.insert(table.name);
  }
  for (const auto& [name, state] : plan.states) names.insert(name);
  return names;
}

// Lets each batch_norm give the statistics of its batch, for the tables that follow them.
void give_statistics(const Plan& plan, graph::Block& block) {
  const auto table_of = [&](const std::string& name) {
    return std::ranges::find(plan.spec.tables, name, &ps::TableSpec::name) - plan.spec.tables.begin();
  };
  for (size_t i = 0; i < block.ops().size(); ++i) {
    OpDesc& op = *block.ops()[i];
    if (op.type != "batch_norm") continue;
    for (const graph::StatisticSlots& slots : graph::kBatchStatistics) {
      const auto table = static_cast<size_t>(table_of(op.inputs.find(slots.running)->front()));
      if (table == plan.spec.tables.size() || plan.spec.tables[table].rule != optim::kRunningMean) continue;
      block.put_var({.name = plan.gradients[table], .shape = plan.shapes[table], .stop_gradient = true});
      op.outputs[slots.batch] = {plan.gradients[table]};
    }
  }
}

OpDesc rpc_op(std::string_view type, const std::string& job) {
  OpDesc op{.type = std::string(type), .attributes = {{"job", job}}};
  op.attributes[std::string(graph::kRoleAttribute)] = static_cast<int32_t>(graph::kRoleRpc);
  return op;
}

std::string to_hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

Result<std::string> from_hex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (error != std::errc() || end != text.data() + i + 2)
      return Status::invalid_argument("attribute 'job_spec' is not hexadecimal at {}", i);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

Status make_worker_programs(const Plan& plan, const std::string& job, graph::Program& main, graph::Program& startup) {
  remove_ops(main.global_block(), [&](const OpDesc& op) { return moves_to_servers(plan, op); });
  give_statistics(plan, main.global_block());
  for (const std::string& name : plan.worker_states) main.global_block().find_var(name)->persistable = false;
  OpDesc send = rpc_op(engine::kSendOp, job);
  OpDesc receive = rpc_op(engine::kReceiveOp, job);
  std::vector<std::string> parameters;
  std::vector<int32_t> statistics;
  for (size_t i = 0; i < plan.spec.tables.size(); ++i) {
    if (!plan.spec.tables[i].sparse) {
      receive.inputs["X"].push_back(plan.spec.tables[i].name);
      receive.outputs["Out"].push_back(plan.spec.tables[i].name);
    }
    if (plan.gradients[i].empty()) continue;
    send.inputs["X"].push_back(plan.gradients[i]);
    parameters.push_back(plan.spec.tables[i].name);
    statistics.push_back(-1);
    if (const auto counted = plan.show_click.find(static_cast<int>(i)); counted != plan.show_click.end()) {
      statistics.back() = static_cast<int32_t>(send.inputs["Show"].size());
      send.inputs["Show"].push_back(counted->second.first);
      send.inputs["Click"].push_back(counted->second.second);
    }
  }
  send.attributes["statistics"] = std::move(statistics);
  send.attributes["parameters"] = std::move(parameters);
  main.global_block().append_op_unchecked(std::move(send));
  main.touch();
  const std::set<std::string> gone = not_in_scope(plan);
  remove_ops(startup.global_block(), [&](const OpDesc& op) { return writes_any(op, gone); });
  startup.global_block().append_op_unchecked(std::move(receive));
  startup.touch();
  return {};
}

std::shared_ptr<graph::Program> make_server_program(const Plan& plan, const graph::Program& main,
                                                    const ServerProgramOptions& options) {
  auto program = graph::Program::create();
  const graph::Block& from = main.global_block();
  graph::Block& block = program->global_block();
  graph::Block& updates = program->create_block(0);
  program->rollback();
  for (const auto& op : from.ops()) {
    if (updated_table(plan, *op) < 0) continue;
    for (const std::string& name : op->input_names()) {
      if (const graph::VarDesc* variable = from.find_var(name)) block.put_var(*variable);
    }
    updates.append_op_unchecked(*op);
  }
  OpDesc serve = rpc_op(kServeOp, options.job);
  serve.attributes["endpoint"] = options.endpoint;
  serve.attributes["endpoints"] = options.endpoints;
  std::vector<std::string> settings;
  for (const auto& [name, value] : options.settings) settings.push_back(fmt::format("{}={}", name, value));
  serve.attributes["settings"] = std::move(settings);
  serve.attributes["Fanin"] = static_cast<int32_t>(plan.spec.workers);
  serve.attributes["mode"] = std::string(ps::mode_name(plan.spec.mode));
  serve.attributes["job_spec"] = to_hex(ps::encode_job_spec(plan.spec));
  for (const ps::TableSpec& table : plan.spec.tables) {
    if (!table.sparse) serve.inputs["X"].push_back(table.name);
    if (const graph::VarDesc* variable = from.find_var(table.name)) block.put_var(*variable);
  }
  block.append_op_unchecked(std::move(serve));
  return program;
}

Result<Plan> plan_of_server_program(const graph::Program& program, const OpDesc& serve) {
  Plan plan;
  ASSIGN_OR_RETURN(const std::string bytes, from_hex(serve.attribute_or<std::string>("job_spec", "")));
  ASSIGN_OR_RETURN(plan.spec, ps::decode_job_spec(bytes));
  RETURN_IF_ERROR(plan.spec.check());
  const graph::Block& block = program.global_block();
  for (const ps::TableSpec& table : plan.spec.tables) {
    const graph::VarDesc* variable = block.find_var(table.name);
    if (variable == nullptr) return Status::invalid_argument("the server's program has no variable '{}'", table.name);
    plan.shapes.push_back(variable->shape);
  }
  if (program.block_count() < 2) return plan;
  for (const auto& op : program.block(1).ops()) {
    if (const int table = updated_table(plan, *op); table >= 0) add_states(plan, table, block, *op);
  }
  return plan;
}

std::shared_ptr<graph::Program> make_server_startup(const Plan& plan, const graph::Program& startup) {
  auto program = startup.clone(false);
  const std::set<std::string> gone = not_in_scope(plan);
  std::set<std::string> dense;
  for (const ps::TableSpec& table : plan.spec.tables) {
    if (!table.sparse) dense.insert(table.name);
  }
  remove_ops(program->global_block(), [&](const OpDesc& op) { return !writes_any(op, dense) || writes_any(op, gone); });
  return program;
}

}  // namespace argosy::fleet
