#include <gmock/gmock.h>

#include <cstdlib>

#include "argosy/base/socket.h"
#include "argosy/base/thread.h"
#include "argosy/launch/collective/meeting_test.h"
#include "argosy/launch/collective/meeting_transport.h"

namespace argosy::launch {
namespace {

using ::testing::HasSubstr;

// Over sockets, with the token that both have in their environment.
class MeetingOverRpc : public testing::Test {
 protected:
  MeetingOverRpc() { set_token("secret"); }
  ~MeetingOverRpc() override { ::unsetenv("ARGOSY_TOKEN"); }
  static void set_token(const char* token) { ::setenv("ARGOSY_TOKEN", token, 1); }

  std::unique_ptr<NodeLink> join() {
    auto link = join_meeting(address_);
    EXPECT_TRUE(link.ok()) << link.status().message();
    return std::move(*link);
  }

  Address address_{.host = "127.0.0.1", .port = free_ports("127.0.0.1", 1)->front()};
  Meeting meeting_{RoundsOptions{.least = 2, .most = 2}, Meeting::Nodes::several};
  std::unique_ptr<NodeLink> first_ = meeting_.first_link();
};

TEST_F(MeetingOverRpc, ANodeWithTheTokenMeetsAndAStrangerIsRefused) {
  auto server = serve_meeting(meeting_, address_);
  ASSERT_TRUE(server.ok()) << server.status().message();
  first_->send(join_message("127.0.0.1:1"));
  set_token("guess");
  auto stranger = join();
  stranger->send(join_message("127.0.0.3:1"));
  EXPECT_THAT(wait_for_break(*stranger), HasSubstr("has another job token"));
  set_token("secret");
  auto second = join();
  second->send(join_message("127.0.0.2:1"));
  EXPECT_EQ(wait_for(*second, "start").text("nodes"), "127.0.0.1:1;127.0.0.2:1");
  EXPECT_EQ(serve_meeting(meeting_, address_).status().code(), Code::already_exists);
}

TEST_F(MeetingOverRpc, AMeetingPlaceThatIsGoneIsNoticedByTheConnection) {
  auto server = serve_meeting(meeting_, address_);
  ASSERT_TRUE(server.ok()) << server.status().message();
  first_->send(join_message("127.0.0.1:1"));
  auto second = join();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*second, "start");
  const Stopwatch watch;
  Thread closing("closing", [&server] { server->reset(); });
  wait_for(*second, "end");  // and it goes on listening
  EXPECT_THAT(wait_for_break(*second), HasSubstr("is lost ("));
  EXPECT_LT(watch.seconds(), kSilenceSeconds);
}

}  // namespace
}  // namespace argosy::launch
