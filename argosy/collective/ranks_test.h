// What the tests of this room share.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <thread>

#include "argosy/base/error.h"
#include "argosy/collective/group.h"
#include "argosy/testing/ranks.h"

namespace argosy::collective {

// Throws in a rank what gtest would report: a rank is a process of its own.
inline void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

inline Settings settings_of(const std::map<std::string, std::string>& fields) {
  return value_or_throw(Settings::from_environment(fields));
}

inline std::shared_ptr<Group> join(const RankInfo& place, const std::map<std::string, std::string>& fields = {}) {
  at::set_num_threads(1);
  return value_or_throw(Group::join(place, settings_of(fields)));
}

// Watches until rank 0 has ended, and ends the others then, which stand still or sleep.
inline void kill_when_the_first_has_ended(const std::vector<int>& pids) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (siginfo_t ended{}; ended.si_pid == 0 && std::chrono::steady_clock::now() < patience;) {
    ::waitid(P_PID, static_cast<id_t>(pids[0]), &ended, WEXITED | WNOHANG | WNOWAIT);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (size_t rank = 1; rank < pids.size(); ++rank) ::kill(pids[rank], SIGKILL);
}

// Every rank must end well.
inline void expect_ranks(int count, const std::function<void(const RankInfo&)>& body) {
  const auto ends = testing::run_ranks(count, body);
  for (int rank = 0; rank < count; ++rank) EXPECT_EQ(ends[rank].status, 0) << "rank " << rank << ": " << ends[rank].output;
}

}  // namespace argosy::collective
