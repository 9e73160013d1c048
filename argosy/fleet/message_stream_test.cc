// Which messages the lists of a MessageStream have, of a topic in memory. What is read of them, and what counts where processes
// are killed: tests/system/test_streams.py, with brokers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>

#include "argosy/base/error.h"
#include "argosy/base/text.h"
#include "argosy/data/message_log.h"
#include "argosy/fleet/file_stream.h"

namespace argosy::fleet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kLongAgo = 1'000'000'000'000,
                  kFarAhead = 100'000'000'000'000;  // of 2001 and of the year 5138, both full seconds

// Times of messages by partition; what was committed.
struct Topic {
  std::map<int32_t, std::vector<int64_t>> partitions;
  std::map<int32_t, int64_t> committed;
  int64_t read = 0;  // messages, for their times
  bool coordinator_away = false;
};

class TopicLog : public data::MessageLog {
 public:
  explicit TopicLog(std::shared_ptr<Topic> topic) : topic_(std::move(topic)) {}

  Result<std::vector<data::PartitionOffsets>> offsets(Deadline) override {
    std::vector<data::PartitionOffsets> found;
    for (const auto& [partition, times] : topic_->partitions)
      found.push_back({.partition = partition, .first = 0, .end = static_cast<int64_t>(times.size())});
    return found;
  }
  Result<std::vector<std::optional<int64_t>>> committed(std::span<const int32_t> partitions, Deadline) override {
    std::vector<std::optional<int64_t>> found;
    for (const int32_t partition : partitions) {
      const auto known = topic_->committed.find(partition);
      found.push_back(known == topic_->committed.end() ? std::nullopt : std::optional(known->second));
    }
    return found;
  }
  Result<data::TimedOffset> first_at(int32_t partition, int64_t from, int64_t to, int64_t time, double) override {
    for (int64_t at = from; at < to; ++at) {
      ++topic_->read;
      const int64_t found = topic_->partitions[partition][static_cast<size_t>(at)];
      if (found >= time) return data::TimedOffset{.offset = at, .time = found};
    }
    return data::TimedOffset{.offset = to, .time = {}};
  }
  Status commit(std::span<const data::PartitionOffsets> ends, Deadline) override {
    if (topic_->coordinator_away) return Status::unavailable("the coordinator is away");
    for (const data::PartitionOffsets& end : ends) topic_->committed[end.partition] = end.end;
    return {};
  }

 private:
  const std::shared_ptr<Topic> topic_;
};

class MessageStreamTest : public ::testing::Test {
 protected:
  MessageStream stream(double every_seconds, int64_t most = 1000, std::optional<double> late_seconds = 10) {
    return MessageStream({.brokers = "b:1",
                          .topic = "t",
                          .most = most,
                          .range = 1000,
                          .every_seconds = every_seconds,
                          .late_seconds = late_seconds,
                          .stream = {.idle_seconds = 0.05, .poll_seconds = 0.01}},
                         std::make_unique<TopicLog>(topic_));
  }
  // The next list as PARTITION:FROM-TO.
  static std::vector<std::string> next(MessageStream& stream) {
    std::vector<std::string> ranges;
    for (const std::string& name : stream.next()) {
      const auto range = data::parse_message_range(name);
      ranges.push_back(fmt::format("{}:{}-{}", range->partition, range->from, range->to));
    }
    return ranges;
  }
  void add(int32_t partition, std::vector<int64_t> seconds, int64_t since = kLongAgo) {
    for (const int64_t second : seconds) topic_->partitions[partition].push_back(since + second * 1000);
  }

  const std::shared_ptr<Topic> topic_ = std::make_shared<Topic>();
};

// Messages of ten-second windows: whatever lies in the partitions already, the list before as_of() has what is before that time.
TEST_F(MessageStreamTest, ListsEndWhereAWindowOfEventTimeDoes) {
  add(0, {1, 4, 9, 12, 31});
  add(1, {2, 11, 12, 13});
  MessageStream windows = stream(10);
  EXPECT_THAT(next(windows), ElementsAre("0:0-3", "1:0-1"));
  EXPECT_EQ(windows.as_of(), std::nullopt) << "what was before the first window is not known";
  EXPECT_THAT(next(windows), ElementsAre("0:3-4", "1:1-4"));
  EXPECT_EQ(windows.as_of(), kLongAgo + 10'000);
  EXPECT_THAT(next(windows), ElementsAre("0:4-5")) << "the window in which nothing came is passed over";
  EXPECT_EQ(windows.as_of(), kLongAgo + 30'000);
  EXPECT_THAT(next(windows), IsEmpty());
  EXPECT_EQ(windows.as_of(), kLongAgo + 40'000) << "the last window is long over";
  EXPECT_EQ(topic_->committed, (std::map<int32_t, int64_t>{{0, 5}, {1, 4}}));
}

TEST_F(MessageStreamTest, AWindowMayBeSeveralLists) {
  add(0, {1, 2, 3, 4, 5, 11});
  MessageStream windows = stream(10, 2);
  EXPECT_THAT(next(windows), ElementsAre("0:0-2"));
  EXPECT_THAT(next(windows), ElementsAre("0:2-4"));
  EXPECT_THAT(next(windows), ElementsAre("0:4-5"));
  EXPECT_EQ(windows.as_of(), std::nullopt);
  EXPECT_THAT(next(windows), ElementsAre("0:5-6"));
  EXPECT_EQ(windows.as_of(), kLongAgo + 10'000);
}

// The order of a partition decides: what is behind a message of the next window is of that one, or later.
TEST_F(MessageStreamTest, LateMessagesBelongToTheNextWindow) {
  add(0, {1, 12, 3, 21, 14});
  MessageStream windows = stream(10);
  EXPECT_THAT(next(windows), ElementsAre("0:0-1"));
  EXPECT_THAT(next(windows), ElementsAre("0:1-3"));
  EXPECT_EQ(windows.as_of(), kLongAgo + 10'000);
  EXPECT_THAT(next(windows), ElementsAre("0:3-5"));
  EXPECT_EQ(windows.as_of(), kLongAgo + 20'000);
}

// Times that this machine's clock has not reached: only messages show that a window is over, or silence.
TEST_F(MessageStreamTest, APartitionWithoutLaterMessagesHoldsTheOthersBack) {
  add(0, {1, 2, 11}, kFarAhead);
  add(1, {3}, kFarAhead);
  MessageStream windows = stream(10);
  EXPECT_THAT(next(windows), ElementsAre("0:0-2", "1:0-1"));
  add(1, {4, 12}, kFarAhead);
  EXPECT_THAT(next(windows), ElementsAre("1:1-2")) << "its window is not over";
  EXPECT_EQ(windows.as_of(), std::nullopt);
  EXPECT_THAT(next(windows), ElementsAre("0:2-3", "1:2-3"));
  EXPECT_EQ(windows.as_of(), kFarAhead + 10'000);
  add(0, {25}, kFarAhead);
  EXPECT_THAT(next(windows), ElementsAre("0:3-4")) << "after idle_seconds without news of partition 1";
  EXPECT_EQ(windows.as_of(), kFarAhead + 20'000);
  EXPECT_THAT(next(windows), IsEmpty());
  EXPECT_EQ(windows.as_of(), std::nullopt) << "more may come of the last window";
}

// By the clock: a window that ended late_seconds ago is over, where a partition has nothing later.
TEST_F(MessageStreamTest, AWindowThatEndedLongAgoIsOver) {
  add(0, {1, 15});
  add(1, {2});
  MessageStream windows = stream(10);
  EXPECT_THAT(next(windows), ElementsAre("0:0-1", "1:0-1"));
  EXPECT_THAT(next(windows), ElementsAre("0:1-2"));
  EXPECT_EQ(windows.as_of(), kLongAgo + 10'000);
}

TEST_F(MessageStreamTest, EachMessageIsLookedAtOnceWhileAWindowGrows) {
  add(0, std::vector<int64_t>(100, 1), kFarAhead);
  MessageStream windows = stream(10);
  EXPECT_THAT(next(windows), ElementsAre("0:0-100"));
  const int64_t read = topic_->read;
  for (int64_t i = 0; i < 5; ++i) {
    add(0, std::vector<int64_t>(100, 1), kFarAhead);
    EXPECT_EQ(next(windows).size(), 1);
  }
  EXPECT_EQ(topic_->read - read, 500);
}

// A topic that gets more partitions: theirs are read from the beginning, also by a stream that began with the latest messages.
TEST_F(MessageStreamTest, APartitionThatIsAddedIsReadFromItsBeginning) {
  for (const std::string from : {"earliest", "latest"}) {
    *topic_ = {};
    add(0, {1});
    MessageStream all({.brokers = "b:1", .topic = "t", .from = from, .stream = {.idle_seconds = 0.05, .poll_seconds = 0.01}},
                      std::make_unique<TopicLog>(topic_));
    EXPECT_EQ(next(all).size(), from == "earliest" ? 1 : 0);
    add(1, {2, 3});
    add(0, {4});
    EXPECT_THAT(next(all), ElementsAre("0:1-2", "1:0-2")) << from;
    EXPECT_THAT(next(all), IsEmpty());
    EXPECT_EQ(topic_->committed, (std::map<int32_t, int64_t>{{0, 2}, {1, 2}}));
  }
}

TEST_F(MessageStreamTest, WindowsThatCannotBeAreRefused) {
  for (const auto& [every, late] : {std::pair{-1.0, 10.0}, {0.0001, 10.0}, {10.0, -1.0}, {1e10, 10.0}}) {
    try {
      stream(every, 1000, late);
      ADD_FAILURE() << every << " " << late;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("every_seconds of a MessageStream is 0 (no windows) or from 0.001"));
    }
  }
}

// What the constructor says of a stream that it refuses.
template <typename Stream, typename Options>
std::string refusal(Options options) {
  try {
    Stream stream(std::move(options));
  } catch (const Error& error) {
    return error.code() == Code::invalid_argument ? error.what() : std::string("another kind of error: ") + error.what();
  }
  return "";
}

// Each of them was taken, and did nothing, or waited for ever.
TEST(StreamSettings, SecondsThatCannotBeAreRefusedByName) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const double seconds : {-1.0, nan, inf}) {
    const MessageStreamOptions idle{.brokers = "b:1", .topic = "t", .stream = {.idle_seconds = seconds}};
    EXPECT_THAT(refusal<MessageStream>(idle), HasSubstr("idle_seconds of a stream is")) << seconds;
    const MessageStreamOptions broker{.brokers = "b:1", .topic = "t", .broker_seconds = seconds};
    EXPECT_THAT(refusal<MessageStream>(broker), HasSubstr("broker_seconds of a MessageStream is")) << seconds;
    const FolderStreamOptions poll{.pattern = "*", .stream = {.poll_seconds = seconds}};
    EXPECT_THAT(refusal<FolderStream>(poll), HasSubstr("poll_seconds of a stream is")) << seconds;
    const FolderStreamOptions folder{.pattern = "*", .stream = {.idle_seconds = seconds}};
    EXPECT_THAT(refusal<FolderStream>(folder), HasSubstr("idle_seconds of a stream is")) << seconds;
  }
  EXPECT_THAT(refusal<FolderStream>(FolderStreamOptions{.pattern = "*", .stream = {.poll_seconds = 0}}),
              HasSubstr("poll_seconds of a stream is 0, expected more than 0"));
  const MessageStreamOptions late{.brokers = "b:1", .topic = "t", .late_seconds = 5};
  EXPECT_THAT(refusal<MessageStream>(late), HasSubstr("late_seconds of a MessageStream is 5, and every_seconds is not set"));
}

TEST(StreamSettings, BrokersHavePorts) {
  for (const std::string brokers : {"b", "b:1,c", "b:", ":1", "b:0", "b:70000", "b:x", "b:1,", "::1"}) {
    EXPECT_THAT(refusal<MessageStream>(MessageStreamOptions{.brokers = brokers, .topic = "t"}),
                HasSubstr("in '" + brokers + "', expected HOST:PORT,HOST:PORT"));
  }
  EXPECT_EQ(refusal<MessageStream>(MessageStreamOptions{.brokers = "b:9092,[::1]:9093", .topic = "t"}), "");
}

// A folder that was misspelt looked like one in which nothing appears.
TEST(StreamSettings, TheFolderIsThere) {
  const std::string here = ::testing::TempDir();
  EXPECT_THAT(refusal<FolderStream>(FolderStreamOptions{.pattern = here + "/no_such_folder/part-*"}),
              HasSubstr("no_such_folder' is not there; make it"));
  EXPECT_THAT(refusal<FolderStream>(FolderStreamOptions{.pattern = "no_such_folder/day=*/part-*"}),
              HasSubstr("the folder 'no_such_folder' is not there"));
  for (const std::string pattern : {here + "/part-*", here + "/day=*/part-*", std::string("part-*"), std::string("/*/x"),
                                    std::string("s3://bucket/no/part-*")})
    EXPECT_EQ(refusal<FolderStream>(FolderStreamOptions{.pattern = pattern}), "");
  EXPECT_THAT(refusal<FolderStream>(FolderStreamOptions{}), HasSubstr("a FolderStream needs a pattern"));
  EXPECT_THAT(refusal<FolderStream>(FolderStreamOptions{.pattern = "*", .most = -1}), HasSubstr("most of a FolderStream is -1"));
}

TEST_F(MessageStreamTest, OffsetsThatCouldNotBeCommittedAreCommittedByALaterCall) {
  add(0, {1});
  MessageStream all = stream(0, 1000, std::nullopt);
  EXPECT_THAT(next(all), ElementsAre("0:0-1"));
  topic_->coordinator_away = true;
  EXPECT_THROW(next(all), Error);
  topic_->coordinator_away = false;
  EXPECT_THAT(next(all), IsEmpty());
  EXPECT_EQ(topic_->committed, (std::map<int32_t, int64_t>{{0, 1}}));
}

// Numbers at the end of what an integer holds.
TEST_F(MessageStreamTest, ListsMayBeAsLongAsTheTopic) {
  add(0, {1, 2, 3});
  MessageStream all({.brokers = "b:1",
                     .topic = "t",
                     .most = std::numeric_limits<int64_t>::max(),
                     .range = std::numeric_limits<int64_t>::max(),
                     .stream = {.idle_seconds = 0.05, .poll_seconds = 0.01}},
                    std::make_unique<TopicLog>(topic_));
  EXPECT_THAT(next(all), ElementsAre("0:0-3"));
  add(0, {4});
  EXPECT_THAT(next(all), ElementsAre("0:3-4"));
}

}  // namespace
}  // namespace argosy::fleet
