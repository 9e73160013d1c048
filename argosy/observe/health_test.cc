#include "argosy/observe/health.h"

#include <gtest/gtest.h>

namespace argosy::observe {
namespace {

TEST(Health, WhoIsNotHealthyIsNotReady) {
  Health health;
  std::string disk, job = "no job yet";
  auto healthy = health.add(Health::Kind::healthy, [&] { return disk; });
  const auto ready = health.add(Health::Kind::ready, [&] { return job; });
  EXPECT_EQ(health.problems(Health::Kind::healthy), "");
  EXPECT_EQ(health.problems(Health::Kind::ready), "no job yet\n");
  disk = "the disk is gone";
  job.clear();
  EXPECT_EQ(health.problems(Health::Kind::healthy), "the disk is gone\n");
  EXPECT_EQ(health.problems(Health::Kind::ready), "the disk is gone\n");
  healthy.end();
  EXPECT_EQ(health.problems(Health::Kind::ready), "");
}

}  // namespace
}  // namespace argosy::observe
