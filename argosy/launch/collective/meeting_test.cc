#include "argosy/launch/collective/meeting.h"

#include <gmock/gmock.h>

#include <atomic>

#include "argosy/base/mutex.h"
#include "argosy/base/random.h"
#include "argosy/launch/collective/meeting_handler.h"
#include "argosy/launch/collective/meeting_test.h"
#include "argosy/launch/collective/meeting_transport.h"
#include "argosy/launch/collective/meeting_wire.h"
#include "argosy/launch/collective/remote_link.h"
#include "argosy/rpc/in_process.h"

namespace argosy::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A meeting place for two nodes. Others than the first reach it inside the process, until they are cut off.
class MeetingTest : public testing::Test {
 protected:
  MeetingTest() { first_->send(join_message("127.0.0.1:1")); }
  ~MeetingTest() override { first_.reset(); }

  std::unique_ptr<rpc::Channel> channel() {
    return rpc::connect_in_process(
        [this, handler = meeting_handler(*meeting_)](rpc::Request request, rpc::Reply reply) {
          if (!cut_) return handler(std::move(request), std::move(reply));
          MutexLock lock(mutex_);
          unanswered_.push_back(std::move(reply));
        },
        {.name = "host:1"});
  }
  std::unique_ptr<NodeLink> other_node() { return std::make_unique<RemoteLink>(channel()); }
  std::string error_of(const std::string& call) {
    const auto answer =
        channel()->call_and_wait({.method = kMeetingMethod, .header = call, .payload = {}}, Deadline::after_seconds(kSeconds));
    return answer.ok() ? "" : answer.status().message();
  }

  std::atomic<bool> cut_ = false;
  Mutex mutex_;
  std::vector<rpc::Reply> unanswered_ ARGOSY_GUARDED_BY(mutex_);
  std::unique_ptr<Meeting> meeting_ = std::make_unique<Meeting>(RoundsOptions{.least = 2, .most = 2}, Meeting::Nodes::several);
  std::unique_ptr<NodeLink> first_ = meeting_->first_link();
};

TEST_F(MeetingTest, TwoNodesMeetWorkAndEnd) {
  auto second = other_node();
  second->send(join_message("127.0.0.2:1"));
  EXPECT_EQ(wait_for(*first_, "start").text("nodes"), "127.0.0.1:1;127.0.0.2:1");
  EXPECT_EQ(wait_for(*second, "start").text("node"), "1");
  for (NodeLink* link : {first_.get(), second.get()}) link->send({.kind = "done", .fields = {{"round", "1"}}});
  EXPECT_EQ(wait_for(*first_, "end").text("code"), "0");
  EXPECT_EQ(wait_for(*second, "end").text("code"), "0");
}

// The launcher of the first node ends right after the job has: the others must hear of it all the same.
TEST_F(MeetingTest, TheEndIsHeardThoughTheMeetingPlaceCloses) {
  auto second = other_node();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*first_, "start");
  first_->send({.kind = "leave", .fields = {{"code", "130"}}});
  first_.reset();
  Thread closing("closing", [this] { meeting_->close(); });
  EXPECT_EQ(wait_for(*second, "end").text("code"), "130");
  second.reset();
  closing.join();
}

TEST_F(MeetingTest, ANodeThatEndsIsNamed) {
  auto second = other_node();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*first_, "start");
  second.reset();
  EXPECT_EQ(wait_for(*first_, "end").text("why"), "node 127.0.0.2 is gone: its launcher has ended");
}

// Who waits for an answer, and the answers that came.
class FakeListener : public NodeListener {
 public:
  explicit FakeListener(std::atomic<bool>& gone) : gone_(gone) {}
  void answer(const std::vector<LauncherMessage>&) override {}
  bool gone() const override { return gone_; }

 private:
  std::atomic<bool>& gone_;
};

// A launcher that is killed cannot say that it ends: its connection does.
TEST_F(MeetingTest, ANodeWhoseConnectionEndsAndDoesNotReturnIsLost) {
  std::atomic<bool> gone = false;
  ASSERT_TRUE(meeting_->hear("second", 1, {join_message("127.0.0.2:1")}).ok());
  meeting_->listen("second", 0, std::make_unique<FakeListener>(gone));  // is told to start
  meeting_->listen("second", 1, std::make_unique<FakeListener>(gone));
  wait_for(*first_, "start");
  gone = true;
  const Stopwatch watch;
  EXPECT_EQ(wait_for(*first_, "end").text("why"), "node 127.0.0.2 is gone: its launcher has ended");
  EXPECT_LT(watch.seconds(), kSilenceSeconds);
}

TEST_F(MeetingTest, AFirstNodeThatEndsEarlyEndsTheJob) {
  auto second = other_node();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*first_, "start");
  first_.reset();
  Thread closing("closing", [this] { meeting_->close(); });
  EXPECT_EQ(wait_for(*second, "end").text("why"), "node 127.0.0.1 has ended");
  second.reset();
  closing.join();
}

// A call whose answer was lost is made again.
TEST_F(MeetingTest, WhatIsSaidTwiceIsHeardOnceAndAGapIsAnError) {
  const LauncherMessage failed{.kind = "failed", .fields = {{"round", "1"}, {"code", "3"}, {"why", "rank 1: exit status 3"}}};
  for (int tries = 0; tries < 2; ++tries) ASSERT_TRUE(meeting_->hear("second", 1, {join_message("127.0.0.2:1")}).ok());
  for (int tries = 0; tries < 2; ++tries) ASSERT_TRUE(meeting_->hear("second", 1, {join_message("127.0.0.2:1"), failed}).ok());
  EXPECT_EQ(meeting_->hear("second", 4, {failed}).message(), "this launcher's messages from 4 on came, expected number 3");
  EXPECT_EQ(wait_for(*first_, "end").text("why"), "rank 1: exit status 3 of node 127.0.0.2");
  meeting_->leave("second", 2);
}

TEST_F(MeetingTest, WhatIsNoCallOfALauncherIsRefusedAndHarmsNobody) {
  EXPECT_THAT(error_of("say node=a number=1 version=1\n"), HasSubstr("start the same version on all nodes"));
  EXPECT_THAT(error_of(""), HasSubstr("is no call of a launcher"));
  EXPECT_THAT(error_of("say node=a number=-2 version=2"), HasSubstr("is no call of a launcher"));
  EXPECT_THAT(error_of("say node= number=1 version=2"), HasSubstr("is no call of a launcher"));
  EXPECT_THAT(error_of("sing node=a number=1 version=2"), HasSubstr("says, listens or leaves"));
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    std::string noise = i % 2 == 0 ? "say node=a number=1 version=2\n" : "";
    for (size_t j = 0; j < random.below(100); ++j) noise += static_cast<char>(random.below(256));
    error_of(noise);
  }
  auto second = other_node();
  second->send(join_message("127.0.0.2:1"));
  EXPECT_EQ(wait_for(*second, "start").text("nodes"), "127.0.0.1:1;127.0.0.2:1");
}

// As long as the silence limit: what a power cut of a node looks like to the others.
TEST_F(MeetingTest, SilenceBreaksALine) {
  auto second = other_node();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*second, "start");
  cut_ = true;
  Thread first("first", [this] { EXPECT_EQ(wait_for(*first_, "end").text("why"), "node 127.0.0.2 is silent since 15 s"); });
  EXPECT_THAT(wait_for_break(*second), HasSubstr("the meeting place host:1 is lost (is silent since 15 s)"));
}

TEST(MeetingWire, ACallIsReadAsItWasWritten) {
  const MeetingCall call{.kind = "say", .node = "a1", .number = 7, .messages = {join_message("h:1"), {.kind = "done"}}};
  const auto read = parse_call(to_lines(call));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->kind, "say");
  EXPECT_EQ(read->node, "a1");
  EXPECT_EQ(read->number, 7);
  EXPECT_EQ(read->messages, call.messages);
  EXPECT_THAT(*parse_messages(""), IsEmpty());
  EXPECT_THAT(*parse_messages("done\nleave code=1"),
              ElementsAre(LauncherMessage{.kind = "done"}, LauncherMessage{.kind = "leave", .fields = {{"code", "1"}}}));
}

}  // namespace
}  // namespace argosy::launch
