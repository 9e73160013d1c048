#include "argosy/launch/collective/meeting_wire.h"

#include <gmock/gmock.h>

#include <random>

#include "argosy/base/random.h"

namespace argosy::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A message of any fields, whose values have any bytes.
LauncherMessage random_message(Random& random) {
  LauncherMessage message{.kind = std::string(1 + random.below(8), static_cast<char>('a' + random.below(26)))};
  for (uint64_t fields = random.below(5); fields > 0; --fields) {
    std::string value;
    for (uint64_t size = random.below(12); size > 0; --size) value += static_cast<char>(random.below(256));
    message.fields[std::string(1 + random.below(4), static_cast<char>('a' + random.below(26)))] = value;
  }
  return message;
}

TEST(MeetingWire, ACallComesBackAsItWas) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    MeetingCall call{.kind = random.below(2) == 0 ? "say" : "listen", .node = "n" + std::to_string(random.below(1000))};
    call.number = static_cast<int64_t>(random.below(1ull << 40));
    for (uint64_t messages = random.below(4); messages > 0; --messages) call.messages.push_back(random_message(random));
    const std::string lines = to_lines(call);
    const auto found = parse_call(lines);
    ASSERT_TRUE(found.ok()) << found.status().message() << "\n" << lines;
    ASSERT_EQ(found->kind, call.kind);
    ASSERT_EQ(found->node, call.node);
    ASSERT_EQ(found->number, call.number);
    ASSERT_EQ(found->messages, call.messages);
    const auto messages = parse_messages(to_lines(call.messages));
    ASSERT_TRUE(messages.ok());
    ASSERT_EQ(*messages, call.messages);
  }
}

TEST(MeetingWire, NoMessagesAreNoLines) {
  EXPECT_EQ(to_lines(std::vector<LauncherMessage>{}), "");
  EXPECT_TRUE(parse_messages("")->empty());
  const auto call = parse_call("listen node=a number=0 version=2");
  ASSERT_TRUE(call.ok()) << "the last line may be without its end: " << call.status().message();
  EXPECT_TRUE(call->messages.empty());
}

// Launchers of two releases: both sides learn which versions there are and what to do, instead of what field is missing.
TEST(MeetingWire, AnotherVersionIsNamed) {
  for (const char* lines : {"say node=a number=1 version=1\n", "say node=a number=1 version=3\n", "say node=a number=1\n",
                            "say version=22 what=else\n"}) {
    const auto found = parse_call(lines);
    EXPECT_EQ(found.status().code(), Code::failed_precondition) << lines;
    EXPECT_THAT(found.status().message(), AllOf(HasSubstr("speaks version 2"), HasSubstr("start the same version on all nodes")));
  }
}

TEST(MeetingWire, WhatNoLauncherSendsIsAnError) {
  EXPECT_THAT(parse_call("").status().message(), HasSubstr("no call of a launcher"));
  for (const std::string& lines :
       {std::string("say version=2\n"), std::string("say node=a version=2\n"), std::string("say number=1 version=2\n"),
        std::string("say node= number=1 version=2\n"), std::string("say node=a number=-1 version=2\n"),
        std::string("say node=a number=x version=2\n"), std::string("say node=a number=1.5 version=2\n"),
        "say node=" + std::string(65, 'a') + " number=1 version=2\n"}) {
    const auto found = parse_call(lines);
    EXPECT_EQ(found.status().code(), Code::invalid_argument) << lines;
    EXPECT_THAT(found.status().message(), HasSubstr("is no call of a launcher")) << lines;
  }
  EXPECT_TRUE(parse_call("say node=" + std::string(64, 'a') + " number=1 version=2\n").ok());
  for (const char* lines : {"\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "say node=a number=1 version=2\n\nstart a=1\n",
                            "say node=a number=1 version=2\nstart a\n"})
    EXPECT_FALSE(parse_call(lines).ok()) << lines;
}

// The port is open to the network: a call that was damaged is another whole call or an error.
TEST(MeetingWire, ADamagedCallIsACallOrAnError) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const std::string good = to_lines(MeetingCall{
      .kind = "say", .node = "abc", .number = 12, .messages = {{.kind = "join", .fields = {{"host", "a b"}, {"ports", "1,2"}}}}});
  for (int trial = 0; trial < 5000; ++trial) {
    std::string bad = good;
    for (uint64_t changes = 1 + random.below(3); changes > 0 && !bad.empty(); --changes) {
      const size_t at = random.below(bad.size());
      if (random.below(3) == 0) {
        bad.resize(at);
      } else {
        bad[at] = static_cast<char>(random.below(256));
      }
    }
    const auto found = parse_call(bad);
    if (!found.ok()) continue;
    ASSERT_GE(found->number, 0);
    ASSERT_FALSE(found->node.empty() || found->node.size() > 64);
    ASSERT_EQ(parse_call(to_lines(*found))->messages, found->messages) << "what is understood can be said again";
  }
}

}  // namespace
}  // namespace argosy::launch
