#include "argosy/base/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace argosy {
namespace {

TEST(Address, HostAndPort) {
  EXPECT_EQ(Address::parse("node-1.example:6170")->host, "node-1.example");
  EXPECT_EQ(Address::parse("node-1.example:6170")->port, 6170);
  EXPECT_EQ(Address::parse("[::1]:80")->host, "::1");
  EXPECT_EQ(Address::parse("[::1]")->port, 0);
  EXPECT_EQ(Address::parse("127.0.0.1")->port, 0);
  for (const char* wrong : {"", ":80", "a:", "a:b", "a:0", "a:65536", "[]:80"}) EXPECT_FALSE(Address::parse(wrong).ok()) << wrong;
}

TEST(Address, WithAPortThatMustBeThere) {
  EXPECT_EQ(Address::parse_with_port("[::1]:6170")->host, "::1");
  EXPECT_EQ(Address::parse_with_port("[::1]:6170")->to_string(), "[::1]:6170");
  EXPECT_EQ(Address::parse_with_port("server-0.job:6170")->to_string(), "server-0.job:6170");
  EXPECT_EQ(Address::parse_with_port("127.0.0.1:0")->port, 0);
  for (const char* wrong : {"", "a", "a:", "a:b", "a:-1", "::1:80", "http://a:80", "a:80:90", "[::1]", "a:65536"})
    EXPECT_FALSE(Address::parse_with_port(wrong).ok()) << wrong;
}

TEST(Address, ThisMachineHasItsLoopbackAndNoOthersAddress) {
  EXPECT_TRUE(is_this_machine("127.0.0.1"));
  EXPECT_TRUE(is_this_machine("127.3.2.1"));
  EXPECT_TRUE(is_this_machine("localhost"));
  EXPECT_FALSE(is_this_machine("192.0.2.7"));
}

// A socket that listens on a free port of 127.0.0.1.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_, 1), 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int port() const { return port_; }

 private:
  int fd_, port_ = 0;
};

TEST(Address, AHostIsTheSameUnderItsNames) {
  EXPECT_TRUE(same_host("localhost", "127.0.0.1"));
  EXPECT_TRUE(same_host("no-such-host.invalid", "no-such-host.invalid"));
  EXPECT_FALSE(same_host("127.0.0.1", "127.0.0.2"));
}

TEST(Address, OnesOwnIsThisMachine) { EXPECT_TRUE(is_this_machine(own_address())) << own_address(); }

TEST(Address, APortInUseIsFoundUnderAnAddressAndUnderAName) {
  Listener listener;
  for (const char* host : {"127.0.0.1", "localhost"}) EXPECT_TRUE(is_port_in_use({host, listener.port()})) << host;
  EXPECT_FALSE(is_port_in_use({"127.0.0.2", listener.port()})) << "the same port of another address";
  listener.close();
  EXPECT_FALSE(is_port_in_use({"127.0.0.1", listener.port()}));
}

}  // namespace
}  // namespace argosy
