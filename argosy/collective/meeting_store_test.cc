#include "argosy/collective/meeting_store.h"

#include <gmock/gmock.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

namespace argosy::collective {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = PostLine::Kind;
using std::chrono::milliseconds;

constexpr milliseconds kTimeout{20'000};

c10::intrusive_ptr<c10d::Store> hash_store() { return c10::make_intrusive<c10d::HashStore>(); }

TEST(MeetingStore, LettersComeOnceAndInOrder) {
  const auto store = hash_store();
  auto first = *MeetingStore::host(store, "hello");
  auto one = *MeetingStore::join(store, kTimeout), two = *MeetingStore::join(store, kTimeout);
  EXPECT_EQ(first.guest(), 0);
  EXPECT_EQ(one.guest(), 1);
  EXPECT_EQ(two.guest(), 2);
  EXPECT_EQ(two.greeting(), "hello");
  EXPECT_THAT(*first.receive(), IsEmpty());
  const PostLine a{Kind::letter, 1, "a"}, b{Kind::letter, 2, "b"}, c{Kind::gone, 1, "c"};
  ASSERT_TRUE(one.send(a).ok());
  ASSERT_TRUE(two.send(b).ok());
  ASSERT_TRUE(one.send(c).ok());
  EXPECT_THAT(*first.receive(), ElementsAre(a, b, c));
  EXPECT_THAT(*first.receive(), IsEmpty());
  ASSERT_TRUE(first.send(b).ok());
  EXPECT_THAT(*one.receive(), IsEmpty());
  EXPECT_THAT(*two.receive(), ElementsAre(b));
}

TEST(MeetingStore, WithoutAGreetingItIsNoMeetingPlace) {
  const auto joined = MeetingStore::join(hash_store(), milliseconds(20));
  EXPECT_THAT(joined.status().message(), HasSubstr("nobody greets in the store: it is not that of a launcher"));
}

// Anybody can write to a c10d store.
TEST(MeetingStore, WhatIsNoLetterOrNotForItsReaderIsDropped) {
  const auto store = hash_store();
  auto first = *MeetingStore::host(store, "hello");
  auto guest = *MeetingStore::join(store, kTimeout);
  const auto push = [&](const std::string& queue, const std::string& text) {
    store->queuePush("argosy/meeting/" + queue, {text.begin(), text.end()});
  };
  for (const char* text : {"", "letter", "welcome 1 x", "lost x", "letter 1 a\nletter 2 b", "letter 0 a"}) push("first", text);
  for (const char* text : {"", "gone 1 x", "welcome 1 x", "lost x", "letter 2 b", "letter 1 a\ngone 1 b"}) push("guest/1", text);
  const PostLine good{Kind::letter, 1, "good"};
  push("first", to_line(good));
  push("guest/1", to_line(good));
  EXPECT_THAT(*first.receive(), ElementsAre(good));
  EXPECT_THAT(*guest.receive(), ElementsAre(good));
  store->set("argosy/meeting/greeting", std::vector<uint8_t>{'a', '\n', 'b'});
  EXPECT_THAT(MeetingStore::join(store, kTimeout).status().message(), HasSubstr("that no launcher writes"));
}

}  // namespace
}  // namespace argosy::collective
