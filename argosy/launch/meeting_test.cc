#include "argosy/launch/meeting.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <thread>

#include "argosy/base/random.h"
#include "argosy/base/thread.h"

namespace argosy::launch {
namespace {

using ::testing::HasSubstr;

constexpr double kSeconds = 60;

Message join_message(const std::string& endpoint) {
  return {.kind = "join", .fields = {{"job", ""}, {"rank", "-1"}, {"endpoints", endpoint}}};
}

// Stands in for the store and its keepers: takes what the first node says to its guests, and the other way round.
class StandIn {
 public:
  explicit StandIn(std::string greeting) : greeting_(std::move(greeting)), thread_("stand-in", [this] { carry(); }) {}
  ~StandIn() {
    stop_ = true;
    thread_.join();
  }

  StoreLine first() { return connect(0); }
  StoreLine guest() {
    const int number = ++guests_;
    StoreLine line = connect(number);
    std::scoped_lock lock(mutex_);
    lines_.at(number).socket.send(to_line(PostLine{PostLine::Kind::welcome, number, greeting_}));
    return line;
  }
  // As anybody can who reaches the store.
  void forge(int reader, const std::string& line) {
    std::scoped_lock lock(mutex_);
    lines_.at(reader).socket.send(line);
  }
  // All that goes to this reader from now on is lost.
  void cut(int reader) {
    std::scoped_lock lock(mutex_);
    lines_.at(reader).cut = true;
  }
  // Both sides read to the end. One that is closed with letters unread would be reset, where a letter is just on its way.
  void end() {
    std::scoped_lock lock(mutex_);
    for (auto& [number, line] : lines_) {
      line.cut = true;
      ::shutdown(line.socket.fd(), SHUT_WR);
    }
  }

 private:
  struct Line {
    LineSocket socket;
    std::string last = {};  // to be posted when it is closed
    bool cut = false;
  };

  StoreLine connect(int number) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    std::scoped_lock lock(mutex_);
    lines_.emplace(number, Line{.socket = LineSocket(Fd(ends[0]))});
    return {Fd(ends[1]), 0};
  }
  void pass_on(int from, Line& line, const std::string& text) {
    const auto parsed = parse_post_line(text);
    ASSERT_TRUE(parsed.ok()) << text;
    if (parsed->kind == PostLine::Kind::gone) {
      line.last = text;
      return;
    }
    const auto to = lines_.find(from == 0 ? parsed->guest : 0);
    if (to != lines_.end() && !to->second.cut) to->second.socket.send(text);
  }
  void carry() {
    for (; !stop_; std::this_thread::sleep_for(std::chrono::milliseconds(2))) {
      std::scoped_lock lock(mutex_);
      for (auto& [number, line] : lines_) {
        line.socket.flush();
        for (const std::string& text : line.socket.receive()) pass_on(number, line, text);
        if (line.socket.open() || line.last.empty()) continue;
        lines_.at(0).socket.send(std::exchange(line.last, ""));
      }
    }
  }

  const std::string greeting_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> guests_ = 0;
  std::mutex mutex_;  // guards lines_
  std::map<int, Line> lines_;  // 0: the first node's
  Thread thread_;
};

// A meeting place for two nodes, whose token is "secret".
class MeetingTest : public testing::Test {
 protected:
  MeetingTest() {
    Seal seal = Seal::fresh("secret");
    store_ = std::make_unique<StandIn>(seal.greeting());
    meeting_ = std::make_unique<Meeting>(RoundsOptions{.least = 2, .most = 2}, MeetingPlace{store_->first(), std::move(seal)});
    first_ = meeting_->first_link();
    first_->send(join_message("127.0.0.1:1"));
  }
  ~MeetingTest() override { first_.reset(); }

  std::unique_ptr<Link> guest(const std::string& token = "secret") {
    auto link = std::make_unique<RemoteLink>(store_->guest(), token, "host:1");
    EXPECT_TRUE(link->receive().empty());  // the welcome, which is for the link alone
    return link;
  }
  // Why the line is broken, once it is.
  static std::string wait_for_break(Link& link) {
    const Deadline deadline = Deadline::after_seconds(kSeconds);
    for (; !deadline.passed() && link.broken().empty(); std::this_thread::sleep_for(std::chrono::milliseconds(5))) link.receive();
    return link.broken();
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

  std::unique_ptr<StandIn> store_;
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
  EXPECT_EQ(wait_for(*first_, "end").text("why"), "node 127.0.0.2 is gone: its launcher has ended");
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

TEST_F(MeetingTest, AStoreThatIsGoneIsNamedOnBothSides) {
  auto second = guest();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*first_, "start");
  store_->end();
  EXPECT_EQ(
      wait_for_break(*second),
      "the meeting place host:1 is lost (argosy-store closed the connection): the launcher of the first node has ended or cannot "
      "be reached");
  EXPECT_EQ(wait_for_break(*first_), "the store in which the nodes meet is lost: argosy-store closed the connection");
}

TEST_F(MeetingTest, WhyAStoreIsLostIsTold) {
  auto second = guest();
  store_->forge(1, "lost nobody greets");
  EXPECT_THAT(wait_for_break(*second), HasSubstr("the meeting place host:1 is lost (nobody greets)"));
}

TEST_F(MeetingTest, ANodeWithAnotherTokenIsRefusedAndDisturbsNobody) {
  auto stranger = guest("Secret");
  stranger->send(join_message("127.0.0.3:1"));
  EXPECT_EQ(wait_for_break(*stranger), "the meeting place host:1: the token (ARGOSY_TOKEN) is not this job's");
  auto second = guest();
  second->send(join_message("127.0.0.2:1"));
  EXPECT_EQ(wait_for(*second, "start").text("nodes"), "127.0.0.1:1;127.0.0.2:1");
}

TEST_F(MeetingTest, AnotherVersionIsNamed) {
  StandIn old("argosy-meeting-0 x");
  const StoreLine first = old.first();
  RemoteLink link(old.guest(), "secret", "host:1");
  EXPECT_THAT(wait_for_break(link), HasSubstr("host:1: the first node greets with 'argosy-meeting-0 x'"));
}

// Anybody in the network may write anything to the store; the job's own nodes must meet, work and end all the same.
TEST_F(MeetingTest, ForgedLettersHarmNobody) {
  const uint64_t seed = 7;
  SCOPED_TRACE(seed);
  Random random(seed);
  auto second = guest();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*first_, "start");
  wait_for(*second, "start");
  const std::string code(64, '0');
  for (int i = 0; i < 200; ++i) {
    std::string noise;
    for (size_t j = 0; j < random.below(100); ++j) noise += static_cast<char>('!' + random.below(90));
    store_->forge(0, "letter 1 " + code + " done round=1");
    store_->forge(0, fmt::format("letter {} {}", 1 + random.below(5), noise));
    store_->forge(0, "gone 1 " + code + " ");
    store_->forge(1, "letter 1 " + code + " end code=0");
    store_->forge(1, "letter 1 " + noise);
    store_->forge(1, "welcome 2 argosy-meeting-1 00");
  }
  second->send({.kind = "failed", .fields = {{"round", "1"}, {"code", "3"}, {"why", "rank 1: exit status 3"}}});
  EXPECT_EQ(wait_for(*first_, "end").text("why"), "rank 1: exit status 3 of node 127.0.0.2");
  EXPECT_EQ(wait_for(*second, "end").text("code"), "3");
}

// As long as the silence limit: what a power cut of the first node looks like.
TEST_F(MeetingTest, SilenceBreaksALine) {
  auto second = guest();
  second->send(join_message("127.0.0.2:1"));
  wait_for(*second, "start");
  store_->cut(0);
  store_->cut(1);
  Thread first("first", [this] { EXPECT_EQ(wait_for(*first_, "end").text("why"), "node 127.0.0.2 is silent since 15 s"); });
  EXPECT_THAT(wait_for_break(*second), HasSubstr("is lost (is silent since 15 s)"));
}

}  // namespace
}  // namespace argosy::launch
