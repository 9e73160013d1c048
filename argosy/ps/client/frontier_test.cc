#include "argosy/ps/client/frontier.h"

#include <gtest/gtest.h>

namespace argosy::ps {
namespace {

Window window(uint32_t round, uint32_t through) { return Window(round, through, {}); }

TEST(Frontier, APartCarriesBytesAndWhatServersHaveAcknowledged) {
  Frontier frontier(2, 0);
  EXPECT_TRUE(frontier.take_unasked().empty());
  EXPECT_EQ(frontier.learn(1, Frontier::pack("bytes", {window(0, 4), window(0, 5)})), "bytes");
  EXPECT_EQ(frontier.expected(0).at(1), window(0, 4));
  EXPECT_EQ(frontier.expected(1).at(1), window(0, 5));
  EXPECT_EQ(frontier.take_unasked(), (std::vector<int>{0, 1}));
  EXPECT_TRUE(frontier.take_unasked().empty());
  frontier.not_asked({1});
  EXPECT_EQ(frontier.take_unasked(), std::vector<int>{1});
}

TEST(Frontier, WindowsThatAreAlikeAreSaidOnce) {
  Frontier frontier(3, 0);
  const std::string part = Frontier::pack("", {window(2, 7), window(2, 7), window(2, 7)});
  EXPECT_LT(part.size(), 20u);
  EXPECT_EQ(frontier.learn(1, part), "");
  for (int server = 0; server < 3; ++server) EXPECT_EQ(frontier.expected(server).at(1), window(2, 7));
}

// A replayed barrier gives the old answer.
TEST(Frontier, AnOlderPartTakesNothingBack) {
  Frontier frontier(1, 0);
  (void)frontier.learn(1, Frontier::pack("", {window(1, 3)}));
  (void)frontier.take_unasked();
  (void)frontier.learn(1, Frontier::pack("", {window(0, 9)}));
  EXPECT_EQ(frontier.expected(0).at(1), window(1, 3));
  EXPECT_TRUE(frontier.take_unasked().empty());
  frontier.forget();
  EXPECT_TRUE(frontier.expected(0).empty());
}

TEST(Frontier, ItsOwnPartAndPartsWithoutATailAreOnlyBytes) {
  Frontier frontier(1, 1);
  EXPECT_EQ(frontier.learn(1, Frontier::pack("mine", {window(0, 4)})), "mine");
  EXPECT_TRUE(frontier.expected(0).empty());
  EXPECT_EQ(frontier.learn(0, ""), "") << "of a worker that is lost or done";
  EXPECT_EQ(frontier.learn(0, "no tail here"), "no tail here");
}

}  // namespace
}  // namespace argosy::ps
