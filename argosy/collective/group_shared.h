#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "argosy/base/mutex.h"
#include "argosy/base/rank_info.h"
#include "argosy/collective/generations.h"
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
  // After the store: it says goodbye through it. None in a group of one, after leave(), and where `generations` takes its place.
  std::unique_ptr<Watch> watch;

  Mutex current_mutex;  // not held over calls of the group
  c10::intrusive_ptr<c10d::ProcessGroup> current ARGOSY_GUARDED_BY(current_mutex);  // the group of all, for close()
  std::atomic<bool> failed{false};  // a call has, since the group met
  // Of a group that survives the loss of a rank (collective/group_renewal.cc).
  std::unique_ptr<Generations> generations;  // last: its thread uses what is above
};

// Ends the calls under way of the group of all, with an error; nothing where there is none. Any thread.
void close_current(GroupShared& shared);

}  // namespace argosy::collective
