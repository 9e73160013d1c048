#include "argosy/rpc/stream_state.h"

#include <gtest/gtest.h>

namespace argosy::rpc {
namespace {

using Then = StreamState::Then;

// Adds a frame of call `call` and gives what is to be done.
Then add(StreamState& state, uint64_t call, std::shared_ptr<void> kept = nullptr) {
  Then then;
  EXPECT_TRUE(state.add({{}, call, std::move(kept)}, then));
  return then;
}

// gRPC takes one write at a time.
TEST(StreamState, WritesOneFrameAfterTheOther) {
  StreamState state;
  EXPECT_EQ(add(state, 1), Then::write);
  EXPECT_EQ(add(state, 2), Then::nothing);
  EXPECT_EQ(state.written(true), Then::write);
  EXPECT_EQ(state.written(true), Then::nothing);
  EXPECT_EQ(add(state, 3), Then::write);
}

// A server drops a connection that sends much before its first request.
TEST(StreamState, HoldsFramesBackBehindTheFirst) {
  StreamState state;
  EXPECT_EQ(state.begin({}), Then::write);
  EXPECT_EQ(add(state, 1), Then::nothing);
  EXPECT_EQ(state.written(true), Then::nothing);
  EXPECT_EQ(add(state, 2), Then::nothing);
  EXPECT_EQ(state.open_gate(), Then::write);
  EXPECT_EQ(state.written(true), Then::write);
  EXPECT_EQ(state.waiting(), 0u);
}

TEST(StreamState, OpensTheGateUnderAWrite) {
  StreamState state;
  EXPECT_EQ(state.begin({}), Then::write);
  EXPECT_EQ(add(state, 1), Then::nothing);
  EXPECT_EQ(state.open_gate(), Then::nothing);  // the answer was faster than gRPC's word that it has written
  EXPECT_EQ(state.written(true), Then::write);
}

TEST(StreamState, KnowsWhatHasNotLeft) {
  StreamState state;
  const grpc::Slice thousand(std::string(1000, 'x'));
  Then then;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(state.add({grpc::ByteBuffer(&thousand, 1)}, then));
  EXPECT_EQ(state.unsent_bytes(), 3000u);
  EXPECT_EQ(state.written(true), Then::write);
  EXPECT_EQ(state.unsent_bytes(), 2000u);
  state.close();
  EXPECT_EQ(state.unsent_bytes(), 1000u);  // gRPC has it
  EXPECT_EQ(state.written(false), Then::end);
  EXPECT_EQ(state.unsent_bytes(), 0u);
}

TEST(StreamState, EndsAfterAsManyReleasesAsHolds) {
  StreamState state;
  ASSERT_TRUE(state.hold() && state.hold());
  EXPECT_EQ(state.close(), Then::nothing);
  EXPECT_EQ(state.release(), Then::nothing);
  EXPECT_EQ(state.release(), Then::end);
}

// A stream that ends under a write or a holder crashes in gRPC; one that never ends keeps its channel from closing.
TEST(StreamState, EndsOnceWhenNothingIsUnderWay) {
  StreamState state;
  ASSERT_TRUE(state.hold());
  EXPECT_EQ(add(state, 1), Then::write);
  EXPECT_EQ(state.close(), Then::nothing);
  EXPECT_EQ(state.written(true), Then::nothing);
  EXPECT_EQ(state.release(), Then::end);
  EXPECT_EQ(state.close(), Then::nothing);
  EXPECT_FALSE(state.hold());
}

TEST(StreamState, EndsAfterTheWriteWhereTheHolderWentFirst) {
  StreamState state;
  ASSERT_TRUE(state.hold());
  EXPECT_EQ(add(state, 1), Then::write);
  EXPECT_EQ(state.release(), Then::nothing);
  EXPECT_EQ(state.written(false), Then::end);
  EXPECT_TRUE(state.closed());
}

TEST(StreamState, TakesNothingOnceClosed) {
  StreamState state;
  EXPECT_EQ(state.close(), Then::end);
  Then then = Then::write;
  EXPECT_FALSE(state.add({}, then));
  EXPECT_EQ(then, Then::nothing);
}

// What a frame keeps is what stop() waits for: it must go with the frame, written or not.
TEST(StreamState, ReleasesWhatFramesKeep) {
  StreamState state;
  auto first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  const std::weak_ptr<int> written = first, dropped = second;
  add(state, 1, std::move(first));
  add(state, 2, std::move(second));
  EXPECT_FALSE(written.expired());
  state.close();
  EXPECT_TRUE(dropped.expired());
  EXPECT_EQ(state.written(true), Then::end);
  EXPECT_TRUE(written.expired());
}

// A call whose caller has stopped waiting is not sent any more.
TEST(StreamState, SkipsFramesThatNobodyWaitsFor) {
  StreamState state([](const StreamState::Outgoing& frame) { return frame.call % 2 == 0; });
  EXPECT_EQ(add(state, 2), Then::nothing);
  EXPECT_EQ(add(state, 1), Then::write);
  add(state, 4);
  add(state, 6);
  EXPECT_EQ(add(state, 3), Then::nothing);
  EXPECT_EQ(state.written(true), Then::write);
  EXPECT_EQ(state.written(true), Then::nothing);
}

// Answers that nobody waits for any more take neither the link nor memory.
TEST(StreamState, DropsFramesThatHaveExpired) {
  const auto expired = [](const StreamState::Outgoing& frame) { return frame.expires <= SteadyClock::now(); };
  StreamState state(expired);
  const auto later = SteadyClock::now() + std::chrono::hours(1), before = SteadyClock::now();
  const auto kept = std::make_shared<int>();
  Then then;
  ASSERT_TRUE(state.add({{}, 1, nullptr, later}, then));
  EXPECT_EQ(then, Then::write);
  for (uint64_t call = 2; call < 10; ++call) ASSERT_TRUE(state.add({{}, call, kept, before}, then));
  ASSERT_TRUE(state.add({{}, 10, nullptr, later}, then));
  state.drop_skipped();
  EXPECT_EQ(kept.use_count(), 1);
  ASSERT_TRUE(state.add({{}, 11, kept, before}, then));
  EXPECT_EQ(state.written(true), Then::write);  // of 10
  EXPECT_EQ(state.waiting(), 1u);
  EXPECT_EQ(state.written(true), Then::nothing);
  EXPECT_EQ(state.waiting(), 0u);
  EXPECT_EQ(kept.use_count(), 1);
}

}  // namespace
}  // namespace argosy::rpc
