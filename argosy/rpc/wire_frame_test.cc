#include "argosy/rpc/wire_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/base/random.h"

namespace argosy::rpc {
namespace {

using ::testing::HasSubstr;

std::string payload_text(const WireFrame& frame) {
  return {reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size()};
}

// gRPC cuts a message wherever its reads ended, also within the prelude and into empty pieces.
TEST(WireFrame, IsReadFromPiecesOfAnySizes) {
  const uint64_t seed = 20240607;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    const std::string header(random.below(40), 'h'), payload(random.below(3000), 'p');
    const std::string bytes = frame_head({7, 1ull << 40, 99}, header, payload.size()) + payload;
    std::vector<std::string_view> pieces;
    for (size_t at = 0; at < bytes.size();) {
      const size_t taken = std::min<size_t>(random.below(200), bytes.size() - at);
      pieces.push_back(std::string_view(bytes).substr(at, taken));
      at += taken;
    }
    const auto frame = decode_frame(pieces);
    ASSERT_TRUE(frame.ok()) << frame.status().to_string();
    EXPECT_EQ(frame->info.kind, 7);
    EXPECT_EQ(frame->info.call, 1ull << 40);
    EXPECT_EQ(frame->info.wait_us, 99u);
    EXPECT_EQ(frame->header, header);
    EXPECT_EQ(payload_text(*frame), payload);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(frame->payload.data()) % PayloadBuffer::kAlignment, 0u);
  }
}

Status decode_error(std::string_view bytes) { return decode_frame(std::span(&bytes, 1)).status(); }

TEST(WireFrame, OfAnotherVersionIsRefusedWithBothVersions) {
  const Status status = decode_error(frame_head({7}, "", 0, kProtocolVersion + 41));
  EXPECT_EQ(status.code(), Code::failed_precondition);
  EXPECT_THAT(status.message(), HasSubstr("version 42"));
  EXPECT_THAT(status.message(), HasSubstr("version 1"));
}

TEST(WireFrame, ThatIsNoneIsRefused) {
  EXPECT_THAT(decode_error("").message(), HasSubstr("shorter"));
  EXPECT_THAT(decode_error("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").message(), HasSubstr("no argosy message"));
  EXPECT_EQ(decode_frame(std::span<const std::string_view>()).status().code(), Code::invalid_argument);
}

// Lengths that do not fit what arrived must not be believed: they would be read or allocated.
TEST(WireFrame, WithWrongLengthsIsRefused) {
  const std::string head = frame_head({1}, "header", 10);
  EXPECT_THAT(decode_error(head).message(), HasSubstr("announces 48"));
  EXPECT_THAT(decode_error(head + "0123456789x").message(), HasSubstr("49 bytes announces 48"));
  std::string huge = frame_head({1}, "", 0);
  std::fill(huge.begin() + 24, huge.end(), '\xff');
  EXPECT_EQ(decode_error(huge).code(), Code::invalid_argument);
}

TEST(WireFrame, SizeIsChecked) {
  EXPECT_TRUE(check_frame_size(4, 64, 100).ok());
  EXPECT_EQ(check_frame_size(4, 65, 100).code(), Code::resource_exhausted);
  EXPECT_EQ(check_frame_size(0, kLargestFrame, SIZE_MAX).code(), Code::resource_exhausted);
  EXPECT_EQ(check_frame_size(SIZE_MAX, SIZE_MAX, SIZE_MAX).code(), Code::resource_exhausted);
}

TEST(PayloadBuffer, GivesValuesOnlyWhereTheyLieWithin) {
  PayloadBuffer buffer(16);
  EXPECT_EQ(buffer.values<float>(0, 4).size(), 4u);
  EXPECT_EQ(buffer.values<float>(8, 2).size(), 2u);
  EXPECT_TRUE(buffer.values<float>(0, 5).empty());
  EXPECT_TRUE(buffer.values<float>(2, 1).empty());  // not aligned
  EXPECT_TRUE(buffer.values<float>(20, 1).empty());
  EXPECT_TRUE(buffer.values<uint64_t>(8, SIZE_MAX / 4).empty());
}

TEST(Slice, OwnsWhatItIsGiven) {
  Slice slice = Slice::own(std::vector<float>{1, 2, 3});
  EXPECT_EQ(slice.size, 12u);
  EXPECT_EQ(static_cast<const float*>(slice.data)[2], 3);
  std::string text = "changes";
  const Slice copied = Slice::copy(text.data(), text.size());
  text = "changed";
  EXPECT_EQ(std::string_view(static_cast<const char*>(copied.data), copied.size), "changes");
}

}  // namespace
}  // namespace argosy::rpc
