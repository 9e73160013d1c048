#pragma once

#include <string>
#include <vector>

#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/nonfinite_policy.h"

namespace argosy::ps {

// Gradients of some tables that share one norm, which is kept at clip_norm at most. by_norm: one table; by_global_norm: all
// tables of a group. In sync mode the norm is that of the mean over all workers (TableSpec::clip_group has the same names and
// tables); in the others that of one batch, before anything is merged.
struct NormClip {
  std::string group;
  float clip_norm = 0;
  std::vector<int> tables;
};

// half_async, async, geo: limits of a table's elements. In sync mode the servers do it (TableSpec::value_clip).
struct TableValueClip {
  int table = 0;
  ValueClip clip;
};

struct CommunicatorOptions {
  // async: at most this many batches become one push.
  int max_merge_var_num = 1;
  // async: batches of this worker, beyond the one that a thread computes, that the dense parameters received last may lack: those
  // of other threads, and those that wait to be sent or received back. A thread that would have more waits. What it computes with
  // has these batches all the same (DenseLookahead), unless batches are merged.
  int send_queue_size = 16;
  // async: dense parameters are received again after this many pushes.
  int min_send_grad_num_before_recv = 1;
  // async: how often 10 ms are waited for one more batch to merge, before fewer than max_merge_var_num are sent.
  int send_wait_times = 5;
  // async: threads that send.
  int thread_pool_size = 1;
  // async: dense parameters are received by a thread of its own; otherwise by the thread that sends, between two pushes.
  bool independent_recv_thread = true;
  // async: merged gradients are added up (SGD) and not averaged.
  bool sum_merged = false;
  // async: the threads of this worker meet in each step, and their mean gradient is sent, as in half_async; servers see no
  // difference.
  bool threads_meet = false;
  // geo: batches of this worker, all threads together, from one exchange to the next.
  int geo_k_steps = 100;
  // geo: what becomes of gradients that are not finite, before this worker's copy is trained with them. In the other modes the
  // servers decide that (ServerOptions::nonfinite).
  Nonfinite nonfinite = Nonfinite::refuse;
  std::vector<NormClip> norm_clips = {};
  std::vector<TableValueClip> value_clips = {};
  // The longest wait for this worker's threads or for room in the queue, and for other workers while the job makes no step.
  // How long a server may be away is the client's.
  double sync_wait_seconds = 600;
};

}  // namespace argosy::ps
