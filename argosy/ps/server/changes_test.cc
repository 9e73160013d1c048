#include "argosy/ps/server/changes.h"

#include <gmock/gmock.h>

#include <future>

#include "argosy/ps/server/server_limits.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;

class ChangesTest : public ::testing::Test {
 protected:
  ChangesTest() {
    state.set(std::move(State::make(job(Mode::async, 1, {counting_rows()}), {.job = "test"})).value());
    state->members().hello(0, 1, "host:1");
  }
  static std::string rate(float value) {
    wire::SetRateRequest request;
    request.set_table(-1);
    request.set_rate(value);
    return request.SerializeAsString();
  }
  Status set_rate(float value, double seconds = 30) {
    return changes.commit_own(wire::SET_RATE, rate(value), {}, Deadline::after_seconds(seconds));
  }
  std::optional<float> now() { return state->tables().set_rate_of(0); }

  ServerOptions options;
  ServerLimits limits{options};
  StateHolder state;
  Ending ending{"server 0"};
  Parking parking{1, [](const CallPtr&) {}, limits.parked_calls, limits.parked_bytes};
  Changes changes{"server 0", false, state, parking, ending};
};

TEST_F(ChangesTest, AChangeIsLoggedAndDone) {
  Folder folder;
  changes.set_journal(std::move(Journal::open(folder.path(), {})).value());
  ASSERT_OK(set_rate(0.5));
  EXPECT_EQ(now(), 0.5f);
  EXPECT_EQ(changes.counts().changes, 1u);
  int records = 0;
  ASSERT_OK(changes.journal()->replay(changes.journal()->log().first(), [&](const Record& record) {
    EXPECT_EQ(record.method, wire::SET_RATE);
    ++records;
    return Status();
  }));
  EXPECT_EQ(records, 1);
}

TEST_F(ChangesTest, WhatIsRefusedIsNotDone) {
  EXPECT_FALSE(changes.commit_own(wire::SHRINK, "\xff\xff", {}, Deadline::after_seconds(1)).ok());
  EXPECT_EQ(changes.counts().changes, 0u);
  EXPECT_TRUE(ending.is_healthy());
}

// Changes queue for the turn, until their deadline; what the server would like to do by itself waits for a better moment.
TEST_F(ChangesTest, OneChangeAtATimeHasTheTurn) {
  const auto turn = changes.turn(Deadline::after_seconds(1));
  ASSERT_TRUE(turn.owns_lock());
  EXPECT_EQ(set_rate(0.5, 0.05).code(), Code::unavailable);
  EXPECT_FALSE(changes.now_or_later([] { ADD_FAILURE() << "another has the turn"; }));
  EXPECT_EQ(now(), std::nullopt);
}

TEST_F(ChangesTest, WaitWhileASnapshotIsCut) {
  std::future<Status> waits;
  const auto pause = changes.between_changes([&](State&) {
    EXPECT_FALSE(changes.now_or_later([] { ADD_FAILURE() << "the gate is closed"; }));
    waits = std::async(std::launch::async, [this] { return set_rate(0.25); });
    EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    EXPECT_EQ(now(), std::nullopt);
    return changes.in_order([](State&) {});
  });
  ASSERT_TRUE(pause.ok()) << pause.status().message();
  ASSERT_OK(waits.get());
  EXPECT_EQ(now(), 0.25f);
}

}  // namespace
}  // namespace argosy::ps
