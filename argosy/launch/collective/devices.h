#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/base/rank_info.h"
#include "argosy/base/status.h"

namespace argosy::launch {

// What the processes of this machine compute on. A plain value.
struct Devices {
  int processes = 1;
  std::vector<int> gpus;  // the GPU of each process, as FLAGS_selected_gpus has it; empty: all on the CPU
};

// The GPUs that processes of this machine see, by number: as many as CUDA_VISIBLE_DEVICES lists, or else one for each file
// nvidia<N> in `folder`.
std::vector<int> visible_gpus(const std::string& folder = "/dev");

// `gpus` is what --gpus says, empty where it was not given; `processes` is --nproc_per_node: a number, auto, gpu, cpu or empty.
// Without either: a process for each GPU, or one where there is none. With ARGOSY_DEVICE=cpu GPUs only count processes. Where a
// scheduler started several launchers on this machine, each takes one process and, in order, its GPU. A GPU may be listed twice
// where `shared_gpus` says so: processes on one GPU cannot meet by NCCL.
Result<Devices> choose_devices(const std::vector<std::string>& gpus, const std::string& processes, const RankInfo& launcher,
                               bool shared_gpus = false);

}  // namespace argosy::launch
