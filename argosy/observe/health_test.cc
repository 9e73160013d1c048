#include "argosy/observe/health.h"

#include <gtest/gtest.h>

#include <optional>

namespace argosy::observe {
namespace {

constexpr Health::Kind kHealthy = Health::Kind::healthy, kReady = Health::Kind::ready;

Health::Check says(const char* problem) {
  return [problem] { return std::string(problem); };
}

TEST(Health, WhoIsNotHealthyIsNotReady) {
  Health health;
  std::string disk, job = "no job yet";
  auto healthy = health.add(kHealthy, [&] { return disk; });
  const auto ready = health.add(kReady, [&] { return job; });
  EXPECT_EQ(health.problems(kHealthy), "");
  EXPECT_EQ(health.problems(kReady), "no job yet\n");
  disk = "the disk is gone";
  job.clear();
  EXPECT_EQ(health.problems(kHealthy), "the disk is gone\n");
  EXPECT_EQ(health.problems(kReady), "the disk is gone\n");
  healthy.end();
  EXPECT_EQ(health.problems(kReady), "");
}

TEST(Health, EveryProblemHasALineInTheOrderOfTheParts) {
  Health health;
  const auto one = health.add(kReady, says("no job yet")), two = health.add(kHealthy, says("")),
             three = health.add(kHealthy, says("the disk is full"));
  EXPECT_EQ(health.problems(kReady), "no job yet\nthe disk is full\n");
}

// A part of a process that ends takes its check along: nobody calls what is no longer there.
TEST(Health, ACheckEndsWithItsPart) {
  Health health;
  int calls = 0;
  std::optional<Health::Registration> part = health.add(kHealthy, [&calls] {
    ++calls;
    return std::string("bad");
  });
  EXPECT_EQ(health.problems(kHealthy), "bad\n");
  Health::Registration moved = std::move(*part);
  part.reset();
  EXPECT_EQ(health.problems(kHealthy), "bad\n") << "it has moved";
  moved = health.add(kHealthy, says("worse"));
  EXPECT_EQ(health.problems(kHealthy), "worse\n") << "another one took its place";
  EXPECT_EQ(calls, 2);
  moved.end();
  moved.end();
  EXPECT_EQ(health.problems(kReady), "");
}

}  // namespace
}  // namespace argosy::observe
