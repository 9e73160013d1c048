#include "argosy/ps/client/connect_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& endpoint) { return check_server_endpoint(endpoint).message(); }

TEST(ConnectServer, OneProcessOrTwoAreNamed) {
  for (const char* endpoint : {"10.0.0.1:6170", "file:/shared/server-0", "file:/shared/a+b", "10.0.0.1:6170+10.0.0.2:6180",
                               "file:/shared/a+file:/shared/b", "file:/a+b+10.0.0.2:6180", "[::1]:6170+[::1]:6180"})
    EXPECT_EQ(refusal(endpoint), "") << endpoint;
}

TEST(ConnectServer, WhatIsNoEndpointIsNamed) {
  EXPECT_THAT(refusal("nowhere"), HasSubstr("'nowhere'"));
  EXPECT_THAT(refusal("nowhere+10.0.0.2:6180"), HasSubstr("does not name a server's two processes"));
  EXPECT_THAT(refusal("a:1+b:1+c:1"), HasSubstr("expected host:port+host:port"));
  EXPECT_THAT(refusal("a:1+a:1"), HasSubstr("names one process twice"));
  EXPECT_NE(refusal("a:1+"), "");
  EXPECT_FALSE(connect_server("a:1+a:1", {}).ok());
}

// Who is asked is said as people say it.
TEST(ConnectServer, AWayToTwoHasTheNamesOfBoth) {
  EXPECT_EQ((*connect_server("127.0.0.1:1", {}))->peer(), "127.0.0.1:1");
  EXPECT_EQ((*connect_server("127.0.0.1:1+127.0.0.1:2", {}))->peer(), "127.0.0.1:1 or 127.0.0.1:2");
}

}  // namespace
}  // namespace argosy::ps
