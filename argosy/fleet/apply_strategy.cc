#include "argosy/fleet/apply_strategy.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "argosy/base/env.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"

extern char** environ;

namespace argosy::fleet {
namespace {

// The strategy's own value, or FLAGS_communicator_<name>, or `default_value`.
Result<int> number(const std::optional<int>& given, const char* name, int default_value) {
  if (given) return *given;
  ASSIGN_OR_RETURN(const auto flag, env_integer(fmt::format("FLAGS_communicator_{}", name).c_str()));
  return flag ? static_cast<int>(*flag) : default_value;
}

Result<bool> flag(const std::optional<bool>& given, const char* name, bool default_value) {
  const std::optional<int> number_given = given ? std::optional<int>(*given) : std::nullopt;
  ASSIGN_OR_RETURN(const int value, number(number_given, name, default_value));
  return value != 0;
}

bool trains_by_sgd(const Plan& plan) {
  return std::ranges::all_of(plan.spec.tables,
                             [](const ps::TableSpec& table) { return table.rule == "sgd" || table.rule == optim::kRunningMean; });
}

constexpr std::string_view kFlagPrefix = "FLAGS_communicator_";
const std::vector<std::string> kFlags = {"max_merge_var_num", "send_queue_size",  "min_send_grad_num_before_recv",
                                         "send_wait_times",   "thread_pool_size", "independent_recv_thread",
                                         "is_sgd_optimizer"};

// Every flag that is set is honoured, or somebody is told.
Status check_flags(ps::Mode mode) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with(kFlagPrefix)) continue;
    const std::string variable(text.substr(0, text.find('=')));
    const std::string name = variable.substr(kFlagPrefix.size());
    if (std::ranges::find(kFlags, name) == kFlags.end()) {
      const auto meant = nearest_name(name, kFlags);
      return Status::invalid_argument("{} is no flag that is honoured here; {}take it out of the environment (known: {})",
                                      variable, meant ? fmt::format("did you mean {}{}? Otherwise ", kFlagPrefix, *meant) : "",
                                      join(kFlags, ", "));
    }
    if (mode == ps::Mode::sync) log_warning("{} has no effect: a job in sync mode queues and merges no gradients", variable);
  }
  return {};
}

using Set = void (*)(ps::TableSpec& table, double value);

const std::map<std::string, Set> kTableOptions = {
    {"sparse_delete_threshold", [](ps::TableSpec& table, double value) { table.expiry.score = static_cast<float>(value); }},
    {"sparse_delete_after_unseen_days",
     [](ps::TableSpec& table, double value) { table.expiry.ttl_seconds = static_cast<uint32_t>(value * 86'400); }},
    {"sparse_delete_after_unseen_steps",
     [](ps::TableSpec& table, double value) { table.expiry.unseen_steps = static_cast<uint32_t>(value); }},
    {"sparse_show_click_decay_rate",
     [](ps::TableSpec& table, double value) { table.show_click.decay = static_cast<float>(value); }},
    {"sparse_nonclk_coeff",
     [](ps::TableSpec& table, double value) { table.show_click.non_click_weight = static_cast<float>(value); }},
    {"sparse_click_coeff", [](ps::TableSpec& table, double value) { table.show_click.click_weight = static_cast<float>(value); }},
    {"sparse_embedx_threshold",
     [](ps::TableSpec& table, double value) {
       table.admission = {.kind = ps::Admission::Kind::show_click, .score = static_cast<float>(value)};
     }},
};

Status apply_option(const std::string& name, double value, ps::TableSpec& table) {
  const auto option = kTableOptions.find(name);
  if (option == kTableOptions.end()) {
    std::vector<std::string> names;
    for (const auto& [known, set] : kTableOptions) names.push_back(known);
    return Status::invalid_argument("table '{}': '{}' is no option of a sparse table; expected one of {}", table.name, name,
                                    join(names, ", "));
  }
  if (!(value >= 0 && value <= 1e9))
    return Status::invalid_argument("table '{}': {} is {}, expected a number from 0", table.name, name, value);
  if (name == "sparse_embedx_threshold" && table.admission.kind != ps::Admission::Kind::all)
    return Status::invalid_argument("table '{}': {} and the entry of its lookups both say which keys get a row; give one of them",
                                    table.name, name);
  option->second(table, value);
  return {};
}

}  // namespace

Status apply_table_options(const Strategy& strategy, ps::JobSpec& spec) {
  for (const auto& of_table : strategy.tables) {
    const auto& [name, options] = of_table;
    const auto table =
        std::ranges::find_if(spec.tables, [&](const ps::TableSpec& one) { return one.sparse && one.name == of_table.first; });
    if (table == spec.tables.end()) {
      std::vector<std::string> names;
      for (const ps::TableSpec& one : spec.tables) {
        if (one.sparse) names.push_back(one.name);
      }
      return Status::not_found("options for the sparse table '{}', which this job does not have; it has: {}", name,
                               names.empty() ? "none" : join(names, ", "));
    }
    for (const auto& [option, value] : options) RETURN_IF_ERROR(apply_option(option, value, *table));
    table->show_click.enabled = true;
  }
  return spec.check();
}

Status apply_wire_formats(const Settings& settings, ps::JobSpec& spec) {
  const auto common = ps::wire_format_named(settings.text("wire_format"));
  for (ps::TableSpec& table : spec.tables) {
    if (common && table.rule != optim::kRunningMean) table.wire_format = *common;
  }
  for (const auto& [name, format] : settings.choices_by_name("wire_format_tables")) {
    const auto table = std::ranges::find(spec.tables, name, &ps::TableSpec::name);
    if (table == spec.tables.end()) {
      std::vector<std::string> names;
      for (const ps::TableSpec& one : spec.tables) names.push_back(one.name);
      return Status::not_found("wire_format_tables: the job has no parameter '{}'; it has: {}", name, join(names, ", "));
    }
    table->wire_format = *ps::wire_format_named(format);
  }
  return spec.check();
}

Result<ps::CommunicatorOptions> communicator_options(const Strategy& strategy, const Plan& plan, const Settings& settings) {
  RETURN_IF_ERROR(check_flags(strategy.mode));
  ps::CommunicatorOptions options;
  ASSIGN_OR_RETURN(options.max_merge_var_num, number(strategy.max_merge_var_num, "max_merge_var_num", options.max_merge_var_num));
  // As in Paddle, as many as there are threads: a batch that waits in the queue was computed with parameters that are older by
  // it.
  ASSIGN_OR_RETURN(const auto threads, env_integer("CPU_NUM"));
  ASSIGN_OR_RETURN(options.send_queue_size,
                   number(strategy.send_queue_size, "send_queue_size", static_cast<int>(threads.value_or(1))));
  ASSIGN_OR_RETURN(
      options.min_send_grad_num_before_recv,
      number(strategy.min_send_grad_num_before_recv, "min_send_grad_num_before_recv", options.min_send_grad_num_before_recv));
  ASSIGN_OR_RETURN(options.send_wait_times, number(strategy.send_wait_times, "send_wait_times", options.send_wait_times));
  ASSIGN_OR_RETURN(options.thread_pool_size, number(strategy.thread_pool_size, "thread_pool_size", options.thread_pool_size));
  ASSIGN_OR_RETURN(options.independent_recv_thread,
                   flag(strategy.independent_recv_thread, "independent_recv_thread", options.independent_recv_thread));
  ASSIGN_OR_RETURN(options.sum_merged, flag(strategy.sum_merged, "is_sgd_optimizer", trains_by_sgd(plan)));
  options.geo_k_steps = strategy.geo_k_steps;
  options.nonfinite = ps::nonfinite_named(settings.text("nonfinite"));
  options.norm_clips = plan.norm_clips;
  options.value_clips = plan.value_clips;
  options.sync_wait_seconds = settings.seconds("sync_wait_seconds");
  return options;
}

}  // namespace argosy::fleet
