#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "argosy/base/rank_info.h"

namespace argosy::testing {

// How one of the processes ended.
struct RankEnd {
  int status = 0;  // its exit status, or 128 + the signal
  std::string output;  // what it wrote to standard output and error
  std::chrono::milliseconds time{};  // since the first was started
};

// Runs `body` in `count` processes, each with its place in a job on loopback, and waits for all of them; what is left after
// `deadline` is killed. A body that returns ends with 0, one that throws with 1 and the message. REQUIRES: this process has
// started no thread yet. `watching` runs in this process meanwhile, with the children's process ids.
std::vector<RankEnd> run_ranks(int count, const std::function<void(const RankInfo&)>& body,
                               std::chrono::seconds deadline = std::chrono::seconds(60),
                               const std::function<void(const std::vector<int>&)>& watching = {});

}  // namespace argosy::testing
