#include "argosy/base/socket.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <thread>

namespace argosy {
namespace {

using ::testing::HasSubstr;

// Two nodes of one machine may have the same port, each at its own address.
TEST(Socket, ListensAtItsOwnAddressAlone) {
  const auto first = listen_at({.host = "127.0.0.1"});
  ASSERT_TRUE(first.ok()) << first.status().message();
  const int port = local_address(*first)->port;
  EXPECT_TRUE(listen_at({.host = "127.0.0.2", .port = port}).ok());
  const auto again = listen_at({.host = "127.0.0.1", .port = port});
  EXPECT_EQ(again.status().code(), Code::already_exists);
  EXPECT_THAT(again.status().message(), HasSubstr(fmt::format("cannot listen at 127.0.0.1:{}", port)));
  EXPECT_FALSE(connect_to({.host = "127.0.0.3", .port = port}, "", Deadline::after_seconds(60)).ok());
}

TEST(Socket, ConnectsFromTheAddressThatItIsGiven) {
  const auto listener = listen_at({.host = "127.0.0.1"});
  const auto client = connect_to(*local_address(*listener), "127.0.0.2", Deadline::after_seconds(60));
  ASSERT_TRUE(client.ok()) << client.status().message();
  EXPECT_EQ(local_address(*client)->host, "127.0.0.2");
}

// The system goes through the even ports that are free when it gives one to a connection: sooner or later it is the very port to
// which the connection goes, where nobody listens.
TEST(Socket, AConnectionWithItselfIsNone) {
  Address nobody{.host = "127.0.0.1", .port = 40000};
  while (!listen_at(nobody).ok()) nobody.port += 2;
  for (int i = 0; i < 20'000; ++i) {
    const auto socket = connect_to(nobody, "", Deadline::after_seconds(60));
    // Another process may have begun to listen there.
    if (socket.ok()) {
      ASSERT_NE(local_address(*socket)->port, nobody.port) << nobody.to_string();
    }
  }
}

TEST(Socket, WhatCannotBeReachedIsNamed) {
  const Fd bound(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));  // and not listening: nobody else can
  sockaddr_in own{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  ASSERT_EQ(::bind(bound.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  const int port = local_address(bound)->port;
  EXPECT_THAT(connect_to({.host = "127.0.0.1", .port = port}, "", Deadline::after_seconds(60)).status().message(),
              HasSubstr(fmt::format("cannot connect to 127.0.0.1:{}: Connection refused", port)));
  EXPECT_THAT(listen_at({.host = "192.0.2.7", .port = 1}).status().message(), HasSubstr("cannot listen at 192.0.2.7:1"));
  EXPECT_EQ(listen_at({.host = "no.such.host.invalid"}).status().code(), Code::not_found);
}

TEST(Socket, FreePortsAreAllDifferent) {
  const auto ports = free_ports("127.0.0.1", 20);
  ASSERT_TRUE(ports.ok());
  EXPECT_EQ(std::set<int>(ports->begin(), ports->end()).size(), 20u);
  for (int port : *ports) EXPECT_TRUE(listen_at({.host = "127.0.0.1", .port = port}).ok()) << port;
  EXPECT_THAT(free_ports("192.0.2.7", 1).status().message(), HasSubstr("cannot listen at 192.0.2.7"));
}

}  // namespace
}  // namespace argosy
