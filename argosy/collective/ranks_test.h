// What the tests of this room share.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

inline std::shared_ptr<Group> join(const Place& place, const std::map<std::string, std::string>& fields = {}) {
  at::set_num_threads(1);
  return value_or_throw(Group::join(place, settings_of(fields)));
}

// Every rank must end well.
inline void expect_ranks(int count, const std::function<void(const Place&)>& body) {
  const auto ends = testing::run_ranks(count, body);
  for (int rank = 0; rank < count; ++rank) EXPECT_EQ(ends[rank].status, 0) << "rank " << rank << ": " << ends[rank].output;
}

}  // namespace argosy::collective
