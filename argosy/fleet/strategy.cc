#include "argosy/fleet/strategy.h"

#include <algorithm>

#include "argosy/base/env.h"

namespace argosy::fleet {
namespace {

// The strategy's own value, or FLAGS_communicator_<name>, or `standard`.
Result<int> number(const std::optional<int>& given, const char* name, int standard) {
  if (given) return *given;
  ASSIGN_OR_RETURN(const auto flag, env_integer(fmt::format("FLAGS_communicator_{}", name).c_str()));
  return flag ? static_cast<int>(*flag) : standard;
}

Result<bool> flag(const std::optional<bool>& given, const char* name, bool standard) {
  const std::optional<int> number_given = given ? std::optional<int>(*given) : std::nullopt;
  ASSIGN_OR_RETURN(const int value, number(number_given, name, standard));
  return value != 0;
}

bool trains_by_sgd(const Plan& plan) {
  return std::all_of(plan.spec.tables.begin(), plan.spec.tables.end(),
                     [](const ps::TableSpec& table) { return table.rule == "sgd"; });
}

}  // namespace

Result<ps::CommunicatorOptions> communicator_options(const Strategy& strategy, const Plan& plan, const Settings& settings) {
  ps::CommunicatorOptions options;
  ASSIGN_OR_RETURN(options.max_merge_var_num, number(strategy.max_merge_var_num, "max_merge_var_num", options.max_merge_var_num));
  // As in Paddle, as many as there are threads: whoever waits in the queue computed with parameters that are older by it.
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
  options.norm_clips = plan.norm_clips;
  options.value_clips = plan.value_clips;
  options.sync_wait_seconds = settings.seconds("sync_wait_seconds");
  return options;
}

}  // namespace argosy::fleet
