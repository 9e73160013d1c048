#include "argosy/launch/meeting.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <thread>

#include "argosy/base/random.h"
#include "argosy/base/socket.h"

namespace argosy::launch {
namespace {

using ::testing::HasSubstr;

constexpr double kSeconds = 20;

Message join_message(const std::string& endpoint) {
  return {.kind = "join", .fields = {{"job", ""}, {"rank", "-1"}, {"endpoints", endpoint}}};
}

// A meeting place for two nodes at a free port of the loopback address.
class MeetingTest : public testing::Test {
 protected:
  MeetingTest() {
    auto listener = listen_at({.host = "127.0.0.1"});
    address_ = *local_address(*listener);
    meeting_ = std::make_unique<Meeting>(RoundsOptions{.least = 2, .most = 2}, std::move(*listener));
    first_ = meeting_->first_link();
    first_->send(join_message("127.0.0.1:1"));
  }
  ~MeetingTest() override { first_.reset(); }

  std::unique_ptr<Link> guest() {
    auto socket = connect_to(address_, "", Deadline::after_seconds(kSeconds));
    EXPECT_TRUE(socket.ok());
    return std::make_unique<RemoteLink>(std::move(*socket), address_.to_string());
  }
  // The next message of this kind.
  static Message wait_for(Link& link, const std::string& kind) {
    const Deadline deadline = Deadline::after_seconds(kSeconds);
    while (!deadline.passed() && link.broken().empty()) {
      for (const Message& message : link.receive()) {
        if (message.kind == kind) return message;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << "no '" << kind << "' came; " << link.broken();
    return {};
  }

  Address address_;
  std::unique_ptr<Meeting> meeting_;
  std::unique_ptr<Link> first_;
};

TEST_F(MeetingTest, TwoNodesMeetWorkAndEnd) {
  auto second = guest();
  second->send(join_message("127.0.0.2:1"));
  EXPECT_EQ(wait_for(*first_, "start").text("nodes"), "127.0.0.1:1;127.0.0.2:1");
  EXPECT_EQ(wait_for(*second, "start").text("node"), "1");
  for (Link* link : {first_.get(), second.get()}) link->send({.kind = "done", .fields = {{"round", "1"}}});
  EXPECT_EQ(wait_for(*first_, "end").text("code"), "0");
  EXPECT_EQ(wait_for(*second, "end").text("code"), "0");
}

// The launcher of the first node ends right after the job has: the others must hear of it all the same.
TEST_F(MeetingTest, TheEndIsHeardThoughTheMeetingPlaceCloses) {
  auto second = guest();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*first_, "start");
  first_->send({.kind = "leave", .fields = {{"code", "130"}}});
  first_.reset();
  Thread closing("closing", [this] { meeting_.reset(); });
  EXPECT_EQ(wait_for(*second, "end").text("code"), "130");
  second.reset();
  closing.join();
}

TEST_F(MeetingTest, ANodeWhoseLineBreaksIsNamed) {
  auto second = guest();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*first_, "start");
  second.reset();
  EXPECT_THAT(wait_for(*first_, "end").text("why"), testing::ContainsRegex("node 127.0.0.2 (closed|lost) the connection"));
}

TEST_F(MeetingTest, AFirstNodeThatEndsEarlyEndsTheJob) {
  auto second = guest();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*first_, "start");
  first_.reset();
  Thread closing("closing", [this] { meeting_.reset(); });
  EXPECT_EQ(wait_for(*second, "end").text("why"), "node 127.0.0.1 has ended");
  second.reset();
  closing.join();
}

TEST(RemoteLink, AMeetingPlaceThatIsGoneIsNamed) {
  auto listener = listen_at({.host = "127.0.0.1"});
  const Address address = *local_address(*listener);
  RemoteLink link(std::move(*connect_to(address, "", Deadline::after_seconds(kSeconds))), address.to_string());
  EXPECT_EQ(link.broken(), "");
  listener->close();
  const Deadline deadline = Deadline::after_seconds(kSeconds);
  while (!deadline.passed() && link.broken().empty()) {
    link.receive();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_THAT(link.broken(), testing::ContainsRegex(address.to_string() +
                                                    " (closed|lost) the connection.*: the launcher of the first node has ended"));
}

// Anybody in the network may connect and send anything; the job's own nodes must meet all the same.
TEST_F(MeetingTest, HostileBytesHarmNobody) {
  const uint64_t seed = 7;
  Random random(seed);
  SCOPED_TRACE(seed);
  std::vector<Fd> strangers;
  for (int i = 0; i < 40; ++i) {
    auto socket = connect_to(address_, "", Deadline::after_seconds(kSeconds));
    ASSERT_TRUE(socket.ok());
    std::string bytes = i % 4 == 0   ? "GET / HTTP/1.1\r\n\r\n"
                        : i % 4 == 1 ? "start round=1\nend code=0\ndone round=1\nalive\n"
                                     : "";
    if (i % 4 == 2) {
      for (int j = 0; j < 5000; ++j) bytes += static_cast<char>(random.below(256));
    }
    ::send(socket->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (i % 2 == 0) strangers.push_back(std::move(*socket));  // the others close at once
  }
  // A line without end is cut off.
  auto endless = connect_to(address_, "", Deadline::after_seconds(kSeconds));
  const std::string block(1 << 16, 'a');
  const Deadline deadline = Deadline::after_seconds(kSeconds);
  ssize_t sent = 0;
  while (!deadline.passed() &&
         (sent = ::send(endless->get(), block.data(), block.size(), MSG_NOSIGNAL), sent >= 0 || errno == EAGAIN)) {
    if (sent < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LT(sent, 0) << "a line of any length is taken";
  auto second = guest();
  second->send(join_message("127.0.0.2:1"));
  EXPECT_EQ(wait_for(*second, "start").text("nodes"), "127.0.0.1:1;127.0.0.2:1");
}

}  // namespace
}  // namespace argosy::launch
