#include "argosy/ps/spec/packed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kMost = uint64_t{1} << 20;

TableSpec sparse(WireFormat format) {
  TableSpec table{.name = "rows", .sparse = true};
  table.width = 3;
  table.wire_format = format;
  return table;
}

TableSpec dense(uint64_t size, WireFormat format) {
  TableSpec table{.name = "w"};
  table.size = size;
  table.wire_format = format;
  return table;
}

void add(std::vector<std::byte>& payload, WireFormat format, const std::vector<float>& numbers, size_t block) {
  const size_t before = payload.size();
  payload.resize(before + wire_bytes(format, numbers.size(), block));
  round_to_wire(format, numbers, block, payload.data() + before);
}

void add_keys(std::vector<std::byte>& payload, const std::vector<uint64_t>& keys, bool is_short) {
  const size_t before = payload.size();
  payload.resize(before + key_bytes(keys.size(), is_short));
  write_keys(keys, is_short, payload.data() + before);
}

wire::Section* section(wire::PushRequest& push, uint32_t table, uint64_t count) {
  wire::Section* added = push.add_sections();
  added->set_table(table);
  added->set_count(count);
  return added;
}

// A table of each format, one of them with shows and clicks: what is logged has the same numbers, as the sections have always
// lain.
TEST(Packed, APushUnpacksToAPlainOne) {
  const JobSpec spec{.tables = {sparse(WireFormat::bfloat16), dense(5, WireFormat::int8), sparse(WireFormat::int8),
                                dense(2, WireFormat::float32)}};
  wire::PushRequest push;
  push.set_sequence(9);
  push.set_packed(true);
  push.add_batches(7);
  section(push, 0, 2)->set_short_keys(true);
  section(push, 1, 5);
  section(push, 2, 1)->set_statistics(true);
  section(push, 3, 2);
  const std::vector<float> rows = {1, 2, 3, -4, 5, 0.5f}, w = {127, -127, 0, 64, 1}, row = {-127, 2, 3}, exact = {0.1f, 1e-30f};
  std::vector<std::byte> payload;
  add_keys(payload, {11, 12}, true);
  add_keys(payload, {uint64_t{1} << 60}, false);
  add(payload, WireFormat::bfloat16, rows, 3);
  add(payload, WireFormat::int8, w, kWireBlock);
  add(payload, WireFormat::int8, row, 3);
  add(payload, WireFormat::float32, {3, 1}, 1);  // a show and a click
  add(payload, WireFormat::float32, exact, kWireBlock);

  const auto plain = unpack_push(spec, push, payload, kMost);
  ASSERT_TRUE(plain.ok()) << plain.status().to_string();
  wire::PushRequest header;
  ASSERT_TRUE(header.ParseFromString(plain->header));
  EXPECT_FALSE(header.packed() || header.sections(0).short_keys());
  EXPECT_EQ(header.sequence(), 9u);
  EXPECT_TRUE(header.sections(2).statistics());
  std::vector<uint64_t> keys(3);
  std::memcpy(keys.data(), plain->bytes().data(), 24);
  EXPECT_EQ(keys, (std::vector<uint64_t>{11, 12, uint64_t{1} << 60}));
  std::vector<float> expected = rows;
  expected.insert(expected.end(), w.begin(), w.end());
  expected.insert(expected.end(), row.begin(), row.end());
  expected.insert(expected.end(), {3, 1, 0.1f, 1e-30f});
  ASSERT_EQ(plain->payload_bytes, 24 + expected.size() * sizeof(float));
  std::vector<float> floats(expected.size());
  std::memcpy(floats.data(), plain->bytes().data() + 24, expected.size() * sizeof(float));
  EXPECT_EQ(floats, expected);
}

// What a follower with rounded numbers is sent: the plain push again where the format has room for its numbers.
TEST(Packed, APlainPushIsPackedAndUnpacksToItself) {
  const JobSpec spec{.tables = {sparse(WireFormat::float32), dense(5, WireFormat::int8), sparse(WireFormat::int8)}};
  wire::PushRequest push;
  push.set_sequence(9);
  push.add_batches(7);
  section(push, 0, 2);
  section(push, 1, 5);
  section(push, 2, 1)->set_statistics(true);
  const std::vector<uint64_t> keys = {11, 12, uint64_t{1} << 60};
  std::vector<float> floats = {1, 2, 3, -4, 5, 0.5f, 127, -127, 0, 64, 1, -127, 2, 3, 3, 1.25f};
  std::vector<std::byte> payload(24 + floats.size() * sizeof(float));
  const auto write_floats = [&] { std::memcpy(payload.data() + 24, floats.data(), floats.size() * sizeof(float)); };
  std::memcpy(payload.data(), keys.data(), 24);
  write_floats();
  const auto round = [&](WireFormat format) {
    const auto packed = pack_push(spec, push, payload, format);
    EXPECT_TRUE(packed.ok()) << packed.status().message();
    EXPECT_LT(packed->payload.size(), payload.size());
    wire::PushRequest header;
    EXPECT_TRUE(header.ParseFromString(packed->header) && header.packed());
    const auto plain = unpack_push(in_wire_format(spec, format), header, packed->payload, kMost);
    EXPECT_TRUE(plain.ok()) << plain.status().message();
    EXPECT_EQ(plain->header, push.SerializeAsString());
    EXPECT_EQ(std::memcmp(plain->bytes().data(), keys.data(), 24), 0);
    std::vector<float> found(floats.size());
    std::memcpy(found.data(), plain->bytes().data() + 24, floats.size() * sizeof(float));
    return found;
  };
  EXPECT_EQ(round(WireFormat::bfloat16), floats);
  floats[0] = 1.001f;
  write_floats();
  std::vector<float> rounded = floats;
  rounded[0] = 1;
  EXPECT_EQ(round(WireFormat::bfloat16), rounded);
  EXPECT_THAT(round(WireFormat::int8), testing::Pointwise(testing::FloatNear(0.05f), floats));
  EXPECT_EQ(round(WireFormat::int8)[15], 1.25f) << "shows and clicks stay as they are";
  payload.pop_back();
  EXPECT_THAT(pack_push(spec, push, payload, WireFormat::int8).status().message(), HasSubstr("a packed payload has"));
}

// A byte too few or too many, counts that no memory holds, tables that there are not: refused before anything is made for them.
TEST(Packed, WhatDoesNotFitIsRefusedByName) {
  const JobSpec spec{.tables = {sparse(WireFormat::bfloat16), dense(1000, WireFormat::int8)}};
  const auto refused = [&](uint32_t table, uint64_t count, size_t bytes, uint64_t most = kMost) {
    wire::PushRequest push;
    section(push, table, count);
    const auto plain = unpack_push(spec, push, std::vector<std::byte>(bytes), most);
    return plain.ok() ? "nothing" : plain.status().message();
  };
  EXPECT_EQ(refused(0, 2, 2 * (8 + 6)), "nothing");
  EXPECT_THAT(refused(0, 2, 27), HasSubstr("has 27 bytes; its sections say 28"));
  EXPECT_THAT(refused(0, 2, 29), HasSubstr("has 29 bytes; its sections say 28"));
  EXPECT_THAT(refused(0, uint64_t{1} << 62, 64), HasSubstr("has 4611686018427387904 entries in a payload of 64 bytes"));
  EXPECT_THAT(refused(2, 1, 64), HasSubstr("there is no table 2; the job has 2"));
  EXPECT_EQ(refused(1, 1000, 1008), "nothing");
  EXPECT_THAT(refused(1, 1000, 1008, 3999), HasSubstr("4000 bytes when it is unpacked; expected at most 3999"));

  google::protobuf::RepeatedPtrField<wire::Section> pull;
  pull.Add()->set_count(3);
  EXPECT_EQ(unpack_keys(pull, std::vector<std::byte>(24), kMost)->size(), 3u);
  pull.at(0).set_short_keys(true);
  EXPECT_EQ(unpack_keys(pull, std::vector<std::byte>(12), kMost)->size(), 3u);
  EXPECT_THAT(unpack_keys(pull, std::vector<std::byte>(24), kMost).status().message(), HasSubstr("its sections say 12"));
  pull.at(0).set_count(uint64_t{1} << 63);
  EXPECT_FALSE(unpack_keys(pull, std::vector<std::byte>(24), kMost).ok());
}

}  // namespace
}  // namespace argosy::ps
