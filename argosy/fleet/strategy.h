#pragma once

#include <map>
#include <optional>
#include <string>

#include "argosy/base/settings.h"
#include "argosy/base/status.h"
#include "argosy/fleet/plan.h"
#include "argosy/ps/communicator.h"
#include "argosy/ps/job_spec.h"

namespace argosy {

using ps::Mode;  // sync, half_async, async, geo

namespace fleet {

// How a parameter-server job trains. What is left out comes from FLAGS_communicator_*, as in Paddle, or has the default of
// ps::CommunicatorOptions, which says what each means. A plain value.
struct Strategy {
  Mode mode = Mode::sync;
  int geo_k_steps = 100;
  std::optional<int> max_merge_var_num;
  std::optional<int> send_queue_size;
  std::optional<int> min_send_grad_num_before_recv;
  std::optional<int> send_wait_times;
  std::optional<int> thread_pool_size;
  std::optional<bool> independent_recv_thread;
  std::optional<bool> sum_merged;  // left out: merged gradients of sgd are added up, others averaged

  // Settings of the job by their names in docs/settings.md; an ARGOSY_* variable wins over them.
  std::map<std::string, std::string> settings;
};

// What a worker of such a job does. A variable that cannot be read is an error that names it.
Result<ps::CommunicatorOptions> communicator_options(const Strategy& strategy, const Plan& plan, const Settings& settings);

}  // namespace fleet
}  // namespace argosy
