// How a head lies in Redis: what is written is read again, and what nobody has written so is an error, not a version.
#include "argosy/publish/published_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace argosy::publish {
namespace {

using testing::HasSubstr;

const PublishedHead kHead{.generation = 3,
                          .version = uint64_t{1} << 40,
                          .job = "clicks",
                          .run = "r\n1",
                          .sources = "812,790",
                          .unix_seconds = 1'700'000'000.999,
                          .current_seconds = 1'700'000'007.001,
                          .spec = std::string("\0bytes\xff", 7)};

// What Redis answers to `words` where a hash has `fields`.
RedisValue answer_to(const RedisConnection::Words& words, const std::vector<std::string>& fields) {
  std::map<std::string, std::string> hash;
  for (size_t i = 0; i + 1 < fields.size(); i += 2) hash[fields[i]] = fields[i + 1];
  RedisValue answer{.kind = RedisValue::Kind::list};
  for (size_t i = 2; i < words.size(); ++i) {
    const auto found = hash.find(words[i]);
    answer.list.push_back(found == hash.end() ? RedisValue{} : RedisValue{.kind = RedisValue::Kind::text, .text = found->second});
  }
  return answer;
}

// The head as it was written, with `field` replaced; without it where there is nothing to replace it by.
Result<std::optional<PublishedHead>> read_with(const std::string& field, const std::optional<std::string>& value) {
  std::vector<std::string> fields = kHead.fields();
  for (size_t i = 0; i < fields.size(); i += 2) {
    if (fields[i] == field) fields[i + 1] = value.value_or("");
    if (fields[i] == field && !value) fields[i] = "gone";
  }
  return head_from(answer_to(read_head_words("ctr"), fields), "ctr");
}

TEST(PublishedHead, IsReadAsItWasWritten) {
  const auto words = read_head_words("ctr");
  EXPECT_EQ(words[0], "HMGET");
  EXPECT_EQ(words[1], "argosy:{ctr}:head");
  const auto read = head_from(answer_to(words, kHead.fields()), "ctr");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_TRUE(*read);
  EXPECT_EQ((*read)->generation, kHead.generation);
  EXPECT_EQ((*read)->version, kHead.version);
  EXPECT_EQ((*read)->job, kHead.job);
  EXPECT_EQ((*read)->run, kHead.run);
  EXPECT_EQ((*read)->sources, kHead.sources);
  EXPECT_EQ((*read)->unix_seconds, kHead.unix_seconds) << "to the millisecond";
  EXPECT_EQ((*read)->current_seconds, kHead.current_seconds);
  EXPECT_EQ((*read)->spec, kHead.spec);
}

// An earlier version's publisher does not say how current the tables are: as current as they were when they were written.
TEST(PublishedHead, OfAnEarlierVersionIsRead) {
  const auto read = read_with("current_milliseconds", std::nullopt);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ((*read)->current_seconds, kHead.unix_seconds);
}

TEST(PublishedHead, RedisTimeIsTwoNumbers) {
  const auto text = [](std::string value) { return RedisValue{.kind = RedisValue::Kind::text, .text = std::move(value)}; };
  EXPECT_EQ(redis_seconds_from({.kind = RedisValue::Kind::list, .list = {text("12"), text("500000")}}).value(), 12.5);
  EXPECT_FALSE(redis_seconds_from({.kind = RedisValue::Kind::list, .list = {text("12")}}).ok());
  EXPECT_FALSE(redis_seconds_from({.kind = RedisValue::Kind::list, .list = {text("12"), text("x")}}).ok());
}

TEST(PublishedHead, IsNoneWhereNothingWasPublished) {
  const auto words = read_head_words("ctr");
  const auto read = head_from(answer_to(words, {}), "ctr");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_FALSE(*read);
}

TEST(PublishedHead, ThatSomebodyElseHasWrittenIsNamed) {
  const std::string said = "'argosy:{ctr}:head' in Redis is not what argosy publish has written";
  for (const char* field : {"version", "job", "run", "sources", "unix_milliseconds", "spec"})
    EXPECT_EQ(read_with(field, std::nullopt).status().message(), said) << field << " is missing";
  for (const char* field : {"generation", "version"}) {
    for (const char* value : {"", "x", "1.5", "0", "-1", "99999999999999999999"})
      EXPECT_EQ(read_with(field, value).status().message(), said) << field << " is " << value;
  }
  EXPECT_EQ(read_with("unix_milliseconds", "soon").status().message(), said);
  EXPECT_EQ(read_with("current_milliseconds", "soon").status().message(), said);
  EXPECT_EQ(head_from(RedisValue{.kind = RedisValue::Kind::text, .text = "OK"}, "ctr").status().message(), said);
  EXPECT_TRUE(read_with("sources", "").ok()) << "a text may be empty";
}

// The name is in braces, so that a cluster of Redis keeps all keys of a name on one node; each table has a key of its own.
TEST(PublishedHead, KeysOfOneNameLieTogetherAndDiffer) {
  const ps::TableSpec sparse{.name = "ids", .sparse = true}, dense{.name = "ids", .sparse = false};
  const std::vector<std::string> keys = {head_key("a"),
                                         generations_key("a"),
                                         table_key("a", 1, sparse),
                                         table_key("a", 1, dense),
                                         table_key("a", 2, sparse),
                                         table_key("a", 12, sparse)};
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_THAT(keys[i], HasSubstr("argosy:{a}:"));
    for (size_t k = i + 1; k < keys.size(); ++k) EXPECT_NE(keys[i], keys[k]);
  }
}

// Readers in other languages find rows by these bytes.
TEST(PublishedHead, RowsAreBytesInLittleEndianOrder) {
  EXPECT_EQ(row_field(0x0102030405060708), std::string("\x08\x07\x06\x05\x04\x03\x02\x01", 8));
  const float values[] = {1.0f, -2.5f};
  const std::string bytes = bytes_of(values, 2);
  ASSERT_EQ(bytes.size(), 8u);
  EXPECT_EQ(bytes.substr(0, 4), std::string("\x00\x00\x80\x3f", 4));
  EXPECT_EQ(std::memcmp(bytes.data(), values, 8), 0);
}

}  // namespace
}  // namespace argosy::publish
