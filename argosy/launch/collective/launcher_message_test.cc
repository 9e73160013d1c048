#include "argosy/launch/collective/launcher_message.h"

#include <gmock/gmock.h>

#include "argosy/base/random.h"

namespace argosy::launch {
namespace {

using ::testing::HasSubstr;

TEST(LauncherMessage, IsALineAndComesBack) {
  const LauncherMessage message{
      .kind = "start", .fields = {{"round", "3"}, {"resume", "/data/epoch 1%\n"}, {"nodes", "a:1,a:2;[::1]:3"}, {"why", ""}}};
  const std::string line = to_line(message);
  EXPECT_EQ(line, "start nodes=a:1,a:2;[::1]:3 resume=/data/epoch%201%25%0A round=3 why=");
  EXPECT_EQ(*parse_line(line), message);
}

TEST(LauncherMessage, FieldsHaveAType) {
  const LauncherMessage message{.kind = "join", .fields = {{"rank", "-1"}, {"code", "x"}, {"endpoints", "a:1,a:2"}}};
  EXPECT_EQ(*message.number("rank"), -1);
  EXPECT_THAT(message.number("code").status().message(), HasSubstr("message 'join': field 'code' is 'x'"));
  EXPECT_FALSE(message.number("absent").ok());
  EXPECT_THAT(message.list("endpoints"), ::testing::ElementsAre("a:1", "a:2"));
}

TEST(LauncherMessage, WhatNoLauncherWritesIsAnError) {
  for (const char* line : {"", " ", "GET / HTTP/1.1", "start round", "start =1", "start round=1 round=2", "start a=%4",
                           "start a=%zz", "start a=b\tc", "start  a=1", "averyveryverylongkind a=1"})
    EXPECT_FALSE(parse_line(line).ok()) << line;
  std::string many = "start";
  for (char name = 'a'; name <= 'z'; ++name) many += fmt::format(" {}=1", name);
  EXPECT_FALSE(parse_line(many).ok());
}

// Any bytes may come from the network.
TEST(LauncherMessage, RandomBytesNeitherCrashNorMeanAnything) {
  const uint64_t seed = 20261115;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string line = i % 2 == 0 ? "start round=1 " : "";
    const size_t size = random.below(40);
    for (size_t j = 0; j < size; ++j) line += static_cast<char>(random.below(256));
    const auto message = parse_line(line);
    if (!message.ok()) continue;
    EXPECT_EQ(*parse_line(to_line(*message)), *message);
  }
}

}  // namespace
}  // namespace argosy::launch
