#include "argosy/rpc/door_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace argosy::rpc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string greeting(const std::string& headers) { return "CONNECT argosy HTTP/1.1\r\nHost: argosy\r\n" + headers + "\r\n"; }

std::string with_pass(const std::string& pass) { return greeting("Proxy-Authorization: Argosy " + pass + "\r\n"); }

TEST(DoorPass, IsMadeOfTheTokenAndDoesNotShowIt) {
  const std::string pass = door_pass("secret");
  EXPECT_EQ(pass, door_pass("secret"));
  EXPECT_EQ(pass.size(), 64u);
  EXPECT_NE(pass, door_pass("secret2"));
  EXPECT_THAT(greeting_headers(pass), AllOf(HasSubstr(pass), Not(HasSubstr("secret"))));
  EXPECT_EQ(door_pass(""), "");
  EXPECT_EQ(greeting_headers(""), "");
}

TEST(DoorPass, OpensTheDoorWhole) {
  const std::string pass = door_pass("secret"), said = with_pass(pass);
  for (size_t size = 0; size < said.size(); ++size)
    EXPECT_EQ(judge_greeting(std::string_view(said).substr(0, size), pass), Greeting::incomplete) << size;
  EXPECT_EQ(judge_greeting(said, pass), Greeting::good);
  EXPECT_EQ(judge_greeting(said, ""), Greeting::good);  // the server asks for none
}

TEST(DoorPass, OfAnotherTokenOrNoneDoesNot) {
  const std::string pass = door_pass("secret");
  for (const std::string& said : {with_pass(door_pass("guess")), with_pass(pass.substr(1)), with_pass(pass + "0"), with_pass(""),
                                  greeting(""), greeting("Authorization: Argosy " + pass + "\r\n")})
    EXPECT_EQ(judge_greeting(said, pass), Greeting::wrong_pass) << said;
}

TEST(DoorPass, MustBeAllThatIsSaid) {
  const std::string pass = door_pass("secret");
  for (const std::string& said :
       {std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), std::string("G"), std::string("CONNECT other HTTP/1.1\r\n"),
        std::string("\x16\x03\x01\x02\x00\x01", 6), with_pass(pass) + "x", greeting("a: " + std::string(kLongestGreeting, 'a'))})
    EXPECT_EQ(judge_greeting(said, pass), Greeting::malformed) << said;
}

}  // namespace
}  // namespace argosy::rpc
