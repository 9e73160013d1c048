#include "argosy/base/port_claim.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

namespace argosy {
namespace {

constexpr int kPort = 1;  // that nobody listens at; a claim needs no port to be free

TEST(PortClaim, IsOnesAloneUntilItGoes) {
  const Address here{.host = "127.0.0.1", .port = kPort}, other_port{.host = "127.0.0.1", .port = kPort + 1};
  std::optional<Result<PortClaim>> first = PortClaim::take(here);
  ASSERT_TRUE(first->ok()) << first->status().message();
  EXPECT_EQ(PortClaim::take(here).status().code(), Code::already_exists);
  EXPECT_EQ(PortClaim::take({.host = "localhost", .port = kPort}).status().code(), Code::already_exists) << "the same address";
  EXPECT_TRUE(PortClaim::take(other_port).ok());
  EXPECT_TRUE(PortClaim::take({.host = "127.0.0.2", .port = kPort}).ok());
  first.reset();
  EXPECT_TRUE(PortClaim::take(here).ok());
}

// A launcher that is killed leaves nothing behind.
TEST(PortClaim, GoesWithItsProcess) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto claim = PortClaim::take({.host = "127.0.0.1", .port = kPort + 2});
    const char got = claim.ok() ? 'y' : 'n';
    (void)!::write(ends[1], &got, 1);
    for (;;) ::pause();
  }
  char got = 0;
  ASSERT_EQ(::read(ends[0], &got, 1), 1);
  EXPECT_EQ(got, 'y');
  EXPECT_FALSE(PortClaim::take({.host = "127.0.0.1", .port = kPort + 2}).ok());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(PortClaim::take({.host = "127.0.0.1", .port = kPort + 2}).ok());
}

}  // namespace
}  // namespace argosy
