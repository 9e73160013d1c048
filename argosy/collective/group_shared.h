#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "argosy/base/rank_info.h"
#include "argosy/collective/watch.h"

namespace argosy::collective {

// What all groups of a process have in common.
struct GroupShared {
  RankInfo place;
  std::string host;
  std::chrono::milliseconds timeout{};
  bool check = true;
  bool gpus_by_gloo = false;  // tensors on GPUs travel by Gloo, not by NCCL
  c10::intrusive_ptr<c10d::Store> store;
  std::unique_ptr<Watch> watch;  // after the store: it says goodbye through it. None in a group of one, and after leave()
};

}  // namespace argosy::collective
