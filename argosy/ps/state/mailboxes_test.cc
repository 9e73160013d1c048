#include "argosy/ps/state/mailboxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

// The bytes of a message; "-" where it is not there yet, or what the error says.
std::string taken(Mailboxes& mail, int to, uint64_t number) {
  const auto message = mail.take(to, number);
  if (!message.ok()) return std::string(message.status().message());
  return message->bytes == nullptr ? "-" : std::to_string(message->from) + ":" + *message->bytes;
}

// The whole image, as a snapshot has it: the messages in front.
wire::ExchangeImage image_of(const Mailboxes& mail) {
  wire::ExchangeImage image;
  for (const StateCut::Message& message : mail.messages()) {
    wire::ExchangeImage::Box* box = image.add_boxes();
    box->set_to(message.to);
    box->add_from(message.from);
    box->add_messages(*message.bytes);
  }
  mail.save(&image);
  return image;
}

TEST(Mailboxes, AReceiverTakesMessagesInTheOrderOfArrival) {
  Mailboxes mail({});
  EXPECT_EQ(taken(mail, 2, 0), "-");
  mail.post(0, 2, "a");
  mail.post(1, 2, "b");
  mail.post(0, 1, "c");
  EXPECT_EQ(taken(mail, 2, 0), "0:a");
  EXPECT_EQ(taken(mail, 2, 1), "1:b");
  EXPECT_EQ(taken(mail, 2, 2), "-");
  EXPECT_EQ(taken(mail, 1, 0), "0:c");
  EXPECT_EQ(taken(mail, 2, 0), "0:a") << "a receiver that is started again";
}

TEST(Mailboxes, AMessageIsNeededOnceAndInOrder) {
  Mailboxes mail({});
  EXPECT_TRUE(*mail.needs(0, 1, 0, 5));
  const auto early = mail.needs(0, 1, 1, 5);
  EXPECT_EQ(early.status().code(), Code::invalid_argument);
  EXPECT_THAT(early.status().message(), HasSubstr("worker 0 posts message 1 to worker 1; expected message 0"));
  mail.post(0, 1, "a");
  EXPECT_FALSE(*mail.needs(0, 1, 0, 5));
  EXPECT_TRUE(*mail.needs(0, 1, 1, 5));
  EXPECT_TRUE(*mail.needs(0, 2, 0, 5)) << "each receiver's are counted alone";
  EXPECT_TRUE(*mail.needs(2, 1, 0, 5)) << "and each sender's";
}

TEST(Mailboxes, OnlyMessagesThatHaveArrivedAreDropped) {
  Mailboxes mail({.kept_bytes = 10});
  for (const char fill : {'a', 'b', 'c'}) mail.post(0, 1, std::string(6, fill));
  EXPECT_EQ(taken(mail, 1, 0), "0:aaaaaa") << "nothing has arrived";
  EXPECT_EQ(taken(mail, 1, 1), "0:bbbbbb") << "says that 0 has";
  EXPECT_THAT(taken(mail, 1, 0), HasSubstr("message 0 to worker 1 is no longer kept"));
  EXPECT_EQ(mail.take(1, 0).status().code(), Code::out_of_range);
  EXPECT_EQ(taken(mail, 1, 1), "0:bbbbbb");
  EXPECT_EQ(taken(mail, 1, 2), "0:cccccc");
}

TEST(Mailboxes, UnreadMessagesBeyondTheLimitAreRefused) {
  Limit unread("unread", 10, "bytes", "take some");
  Mailboxes mail({.unread = &unread});
  mail.post(0, 1, "123456");
  const auto refused = mail.needs(0, 1, 1, 5);
  EXPECT_EQ(refused.status().code(), Code::resource_exhausted);
  EXPECT_THAT(refused.status().message(), HasSubstr("message 1 of worker 0 to worker 1"));
  EXPECT_THAT(refused.status().message(), HasSubstr("the limit unread is reached: 10 bytes at most, 6 are there"));
  EXPECT_EQ(taken(mail, 1, 1), "-") << "says that 0 has arrived";
  EXPECT_TRUE(*mail.needs(0, 1, 1, 5));
  mail.measure();
  EXPECT_EQ(unread.now(), 0u);
}

TEST(Mailboxes, AnImageHasMessagesAndCounts) {
  Mailboxes mail({.kept_bytes = 4});
  for (const char* bytes : {"aaa", "bbb", "ccc"}) mail.post(0, 1, bytes);
  mail.post(2, 1, "ddd");
  mail.post(1, 0, "eee");
  EXPECT_EQ(taken(mail, 1, 1), "0:bbb");
  const wire::ExchangeImage image = image_of(mail);

  Limit unread("unread", 100, "bytes", "take some");
  Mailboxes restored({.kept_bytes = 4, .unread = &unread});
  restored.post(3, 3, "of a state before");
  ASSERT_TRUE(restored.restore(image).ok());
  EXPECT_EQ(image_of(restored).SerializeAsString(), image.SerializeAsString());
  restored.measure();
  EXPECT_EQ(unread.now(), 12u) << "what has arrived is not in an image";
  EXPECT_THAT(taken(restored, 1, 0), HasSubstr("no longer kept"));
  EXPECT_EQ(taken(restored, 1, 1), "0:bbb");
  EXPECT_EQ(taken(restored, 3, 0), "-");
  EXPECT_FALSE(*restored.needs(0, 1, 2, 3));
  EXPECT_TRUE(*restored.needs(0, 1, 3, 3));
}

TEST(Mailboxes, ADamagedImageIsRefused) {
  wire::ExchangeImage image;
  image.add_boxes()->set_to(1);
  image.mutable_boxes(0)->add_messages("nobody's");
  Mailboxes mail({});
  const Status damaged = mail.restore(image);
  EXPECT_EQ(damaged.code(), Code::data_loss);
  EXPECT_THAT(damaged.message(), HasSubstr("the messages to worker 1 are damaged: 1 messages of 0 senders"));
}

}  // namespace
}  // namespace argosy::ps
