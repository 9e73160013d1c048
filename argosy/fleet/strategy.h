#pragma once

#include <map>
#include <optional>
#include <string>

#include "argosy/ps/spec/mode.h"

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

  // Of sparse tables by their names, under PaddlePaddle's names: sparse_delete_threshold, sparse_delete_after_unseen_days and
  // sparse_delete_after_unseen_steps (which rows shrink() drops), sparse_show_click_decay_rate, sparse_nonclk_coeff and
  // sparse_click_coeff (the score), sparse_embedx_threshold (the score from which a key gets a row).
  std::map<std::string, std::map<std::string, double>> tables;

  // Settings of the job by their names in docs/settings.md; an ARGOSY_* variable wins over them.
  std::map<std::string, std::string> settings;
};

}  // namespace fleet
}  // namespace argosy
