#include "argosy/base/line_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

namespace argosy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A line socket and the other end of its connection, neither of which blocks.
class LineSocketTest : public testing::Test {
 protected:
  LineSocketTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    lines_ = std::make_unique<LineSocket>(Fd(ends[0]));
    other_ = Fd(ends[1]);
  }
  void write(std::string_view bytes) {
    ASSERT_EQ(::send(other_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  std::unique_ptr<LineSocket> lines_;
  Fd other_;
};

TEST_F(LineSocketTest, LinesComeWhole) {
  write("one\ntw");
  EXPECT_THAT(lines_->receive(), ElementsAre("one"));
  EXPECT_THAT(lines_->receive(), IsEmpty());
  write("o\n\nthree\n");
  EXPECT_THAT(lines_->receive(), ElementsAre("two", "", "three"));
}

TEST_F(LineSocketTest, WhatCameBeforeTheEndIsStillRead) {
  write("last\nhalf");
  other_.close();
  EXPECT_THAT(lines_->receive(), ElementsAre("last"));
  EXPECT_FALSE(lines_->open());
  EXPECT_EQ(lines_->why_closed(), "closed the connection");
  lines_->send("more");  // nobody hears it
}

// A launcher that stood still wakes up, and says that it is alive, to a meeting place that has said its last word and is gone.
TEST_F(LineSocketTest, WhatCameBeforeTheEndIsReadAfterAFailedSend) {
  write("the job has ended\n");
  other_.close();
  lines_->send("alive");
  EXPECT_FALSE(lines_->open());
  EXPECT_THAT(lines_->receive(), ElementsAre("the job has ended"));
}

TEST_F(LineSocketTest, ALineWithoutEndIsCutOff) {
  const std::string block(1 << 16, 'a');
  for (int i = 0; i < 1000 && lines_->open(); ++i) {
    ASSERT_TRUE(::send(other_.get(), block.data(), block.size(), MSG_NOSIGNAL) >= 0 || errno == EAGAIN);
    EXPECT_THAT(lines_->receive(), IsEmpty());
  }
  EXPECT_EQ(lines_->why_closed(), "sends a line without end");
}

TEST_F(LineSocketTest, WhoDoesNotReadIsGivenUp) {
  const std::string block(1 << 16, 'a');
  for (int i = 0; i < 1000 && lines_->open(); ++i) lines_->send(block);
  EXPECT_EQ(lines_->why_closed(), "does not read what it is sent");
}

TEST_F(LineSocketTest, WhatDoesNotFitFollowsLater) {
  const std::string block(1 << 20, 'a');
  lines_->send(block);
  lines_->send("end");
  EXPECT_TRUE(lines_->has_more_to_write());
  LineSocket reader(std::move(other_));
  std::vector<std::string> read;
  for (int i = 0; i < 1000 && read.size() < 2; ++i) {
    lines_->flush();
    for (std::string& line : reader.receive()) read.push_back(std::move(line));
  }
  EXPECT_THAT(read, ElementsAre(block, "end"));
  EXPECT_FALSE(lines_->has_more_to_write());
}

}  // namespace
}  // namespace argosy
