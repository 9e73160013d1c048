#include "argosy/ps/server/leases.h"

#include <gmock/gmock.h>

#include "argosy/ps/server/server_limits.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using ::testing::HasSubstr;

constexpr double kLong = 1000;  // silence, in seconds, that nobody has to sit through

class LeasesTest : public ::testing::Test {
 protected:
  // Two workers that have come.
  void begin(OnWorkerLoss choice) {
    options.lease_seconds = 10;
    options.on_worker_loss = choice;
    state.set(std::move(State::make(job(Mode::async, 2, {}), {.job = "test"})).value());
    for (const int worker : {0, 1}) state->members().hello(worker, 1, "host:1");
    changes.emplace("server 0", false, state, parking, ending);
    leases.emplace(options, state, *changes, parking, ending, [this](State&) { ++told; });
  }

  ServerOptions options;
  ServerLimits limits{options};
  StateHolder state;
  Ending ending{"server 0"};
  Parking parking{1, [](const CallPtr&) {}, limits.parked_calls, limits.parked_bytes};
  std::optional<Changes> changes;
  std::optional<Leases> leases;
  int told = 0;
};

TEST_F(LeasesTest, ShrinkGivesUpWhoIsSilent) {
  begin(OnWorkerLoss::shrink);
  state->members().fail(1, "ended with status 1", kLong);
  leases->look(0.05);
  EXPECT_TRUE(state->members().is_lost(1));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(changes->counts().changes, 1u) << "it is a change like others";
}

TEST_F(LeasesTest, ButNotTheWorkerThatSaves) {
  begin(OnWorkerLoss::shrink);
  state->members().fail(0, "ended with status 1", kLong);
  leases->look(0.05);
  EXPECT_FALSE(state->members().is_lost(0));
}

TEST_F(LeasesTest, FailKeepsThemOnTheList) {
  begin(OnWorkerLoss::fail);
  state->members().fail(1, "ended with status 1", kLong);
  leases->look(0.05);
  EXPECT_FALSE(state->members().is_lost(1));
  EXPECT_TRUE(ending.is_healthy()) << "worker 0 trains";
}

// Nobody was heard of because nobody listened.
TEST_F(LeasesTest, AProcessThatStoodStillLosesNobody) {
  begin(OnWorkerLoss::shrink);
  leases->look(kLong);
  EXPECT_FALSE(state->members().is_lost(1));
}

TEST_F(LeasesTest, WithoutAJobItWaitsForTheFirstWorker) {
  options.worker_start_seconds = 0;
  options.lease_seconds = 0;
  Changes none("server 0", false, state, parking, ending);
  Leases waits(options, state, none, parking, ending, [](State&) {});
  while (ending.is_healthy()) waits.look(0);
  EXPECT_THAT(ending.wait(Deadline::after_seconds(0)).status().message(), HasSubstr("worker_start_seconds"));
}

}  // namespace
}  // namespace argosy::ps
