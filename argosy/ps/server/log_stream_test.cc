// What a follower refuses of a stream of records that somebody has forged, or that was damaged on its way.
#include "argosy/ps/server/log_stream.h"

#include <gmock/gmock.h>

#include "argosy/table/checksum.h"
#include "argosy/table/log_format.h"

namespace argosy::ps {
namespace {

using testing::HasSubstr;

// A log of records "0", "1", … of 24 bytes each, and answers over any of them.
class LogStreamTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kBytes = 24, kFirst = 32;
  static uint64_t position(uint64_t i) { return kFirst + i * table::record_size(kBytes); }
  static std::vector<std::byte> record(uint64_t i) { return std::vector<std::byte>(kBytes, static_cast<std::byte>(i)); }

  // Records first … last-1, as they come to one who asks for `from`.
  void answer(uint64_t from, uint64_t first, uint64_t last) {
    reply = {};
    payload.clear();
    reply.set_from(from);
    reply.set_next(position(last));
    reply.set_end(position(100));
    for (uint64_t i = first; i < last; ++i) add(i, i == first ? from : position(i));
  }
  void add(uint64_t i, uint64_t after) {
    const auto bytes = record(i);
    wire::FollowReply::One* one = reply.add_records();
    one->set_position(position(i));
    one->set_after(after);
    one->set_bytes(kBytes);
    one->set_checksum(table::checksum_of(bytes));
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  }
  Result<std::vector<LogStream::One>> take() { return stream.take(reply, payload); }
  std::string refusal() {
    const uint64_t before = stream.next(), last = stream.last_position();
    const auto taken = take();
    EXPECT_EQ(taken.status().code(), Code::data_loss);
    EXPECT_EQ(stream.next(), before);  // nothing was taken
    EXPECT_EQ(stream.last_position(), last);
    return taken.status().message();
  }

  wire::FollowReply reply;
  std::vector<std::byte> payload;
  LogStream stream{"10.0.0.1:6170"};
};

TEST_F(LogStreamTest, TakesWhatComesInOrder) {
  answer(0, 0, 3);
  const auto first = take();
  ASSERT_TRUE(first.ok()) << first.status().message();
  ASSERT_EQ(first->size(), 3u);
  EXPECT_EQ((*first)[2].position, position(2));
  EXPECT_EQ((*first)[2].bytes[0], std::byte{2});
  EXPECT_EQ(stream.last_position(), position(2));
  answer(stream.next(), 3, 4);
  ASSERT_TRUE(take().ok());
  answer(stream.next(), 4, 4);
  ASSERT_TRUE(take().ok());  // nothing new
  EXPECT_EQ(stream.next(), position(4));
}

// A snapshot says where to go on, which is the end of a file of the log: the next record is behind the header of the next file.
TEST_F(LogStreamTest, BeginsBehindASnapshot) {
  stream.begin(position(5) - table::kSegmentHeaderSize);
  answer(stream.next(), 5, 7);
  ASSERT_TRUE(take().ok());
  EXPECT_EQ(stream.next(), position(7));
}

TEST_F(LogStreamTest, RefusesAGapBetweenAnswers) {
  answer(0, 0, 3);
  ASSERT_TRUE(take().ok());
  answer(position(4), 4, 6);
  EXPECT_THAT(refusal(), HasSubstr("a gap"));
  answer(stream.next(), 4, 6);  // the first record of the answer was cut out
  reply.mutable_records(0)->set_after(position(4));
  EXPECT_THAT(refusal(), HasSubstr("a gap"));
}

TEST_F(LogStreamTest, RefusesAGapWithinAnAnswer) {
  answer(0, 0, 2);
  add(3, position(3));
  reply.set_next(position(4));
  const std::string message = refusal();
  EXPECT_THAT(message, HasSubstr("a gap"));
  EXPECT_THAT(message, HasSubstr("10.0.0.1:6170"));
  answer(0, 0, 2);
  reply.set_next(position(3));  // the last one was cut off
  EXPECT_THAT(refusal(), HasSubstr("a gap"));
}

TEST_F(LogStreamTest, RefusesADuplicate) {
  answer(0, 0, 3);
  ASSERT_TRUE(take().ok());
  answer(stream.next(), 2, 4);  // the last one again
  EXPECT_THAT(refusal(), HasSubstr("duplicate"));
  answer(0, 0, 3);  // the whole answer again
  EXPECT_THAT(refusal(), HasSubstr("duplicate"));
  answer(stream.next(), 3, 4);
  add(3, position(3));  // twice in one answer
  EXPECT_THAT(refusal(), HasSubstr("duplicate"));
}

TEST_F(LogStreamTest, RefusesRecordsOutOfOrder) {
  answer(0, 0, 1);
  add(2, position(2));
  add(1, position(1));
  reply.set_next(position(3));
  EXPECT_THAT(refusal(), HasSubstr("out of order"));
}

TEST_F(LogStreamTest, RefusesALogThatHasGoneBackwards) {
  answer(0, 0, 3);
  ASSERT_TRUE(take().ok());
  answer(stream.next(), 3, 3);
  reply.set_end(position(2));
  EXPECT_THAT(refusal(), HasSubstr("gone backwards"));
}

TEST_F(LogStreamTest, RefusesBytesThatHaveChanged) {
  answer(0, 0, 3);
  payload[kBytes + 3] ^= std::byte{1};
  EXPECT_THAT(refusal(), HasSubstr("checksum"));
  answer(0, 0, 3);
  payload.resize(payload.size() - 8);
  EXPECT_THAT(refusal(), HasSubstr("fewer than it says"));
  answer(0, 0, 3);
  payload.resize(payload.size() + 8);
  EXPECT_THAT(refusal(), HasSubstr("says that there are"));
  answer(0, 0, 3);
  reply.mutable_records(1)->set_bytes(~uint64_t{0} - 40);
  EXPECT_FALSE(refusal().empty());
}

// A push that the server has rounded lies where the log's record would; positions and the last record's checksum stay the log's.
TEST_F(LogStreamTest, TakesRoundedRecordsWhereTheyWereAskedFor) {
  const auto round = [&](uint64_t bytes) {
    answer(0, 0, 2);
    const std::vector<std::byte> rounded(bytes, std::byte{9});
    payload.erase(payload.begin(), payload.begin() + kBytes);
    std::vector<std::byte> filled = rounded;
    filled.resize(bytes + table::padding_after(bytes));
    payload.insert(payload.begin(), filled.begin(), filled.end());
    reply.mutable_records(0)->set_packed_bytes(bytes);
    reply.mutable_records(0)->set_packed_checksum(table::checksum_of(rounded));
  };
  round(13);
  EXPECT_THAT(refusal(), HasSubstr("rounded, and that was not asked for"));
  LogStream asked("10.0.0.1:6170", true);
  const auto records = asked.take(reply, payload);
  ASSERT_TRUE(records.ok()) << records.status().message();
  EXPECT_TRUE((*records)[0].packed);
  EXPECT_EQ((*records)[0].bytes.size(), 13u);
  EXPECT_FALSE((*records)[1].packed);
  EXPECT_EQ((*records)[1].bytes[0], std::byte{1});
  EXPECT_EQ(asked.next(), position(2));
  EXPECT_EQ(asked.last_checksum(), table::checksum_of(record(1)));
  for (const uint64_t bytes : {~uint64_t{0}, uint64_t{1} << 41, uint64_t{200}}) {
    round(13);
    reply.mutable_records(0)->set_packed_bytes(bytes);
    EXPECT_THAT(LogStream("a", true).take(reply, payload).status().message(), HasSubstr("fewer than it says"));
  }
  round(13);
  payload[2] ^= std::byte{1};
  EXPECT_THAT(LogStream("a", true).take(reply, payload).status().message(), HasSubstr("its checksum is wrong"));
}

}  // namespace
}  // namespace argosy::ps
