#include "argosy/engine/remote/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/engine/program/scope.h"
#include "argosy/engine/remote/no_servers_test.h"

namespace argosy::engine {
namespace {

using ::testing::HasSubstr;

TEST(Context, KnowsTheServersOfItsOwnJobsOnly) {
  Context one, other;
  const auto servers = std::make_shared<NoServers>(), others = std::make_shared<NoServers>();
  one.add_remote("job", servers);
  other.add_remote("job", others);
  EXPECT_EQ(*one.remote("job"), servers);
  EXPECT_EQ(*other.remote("job"), others) << "the same name in another context is another job";
  EXPECT_THAT(one.remote("nobody's").status().message(), HasSubstr("the parameter-server job 'nobody's', of which"));
}

// A worker that is gone takes no more programs; its successor does.
TEST(Context, ForgetsAWorkerThatIsGone) {
  Context context;
  auto servers = std::make_shared<NoServers>();
  context.add_remote("job", servers);
  servers.reset();
  EXPECT_EQ(context.remote("job").status().code(), Code::failed_precondition);
  servers = std::make_shared<NoServers>();
  context.add_remote("job", servers);
  EXPECT_EQ(*context.remote("job"), servers);
}

TEST(Context, SaysWhatItCannotReach) {
  const Context context;
  Scope scope;
  EXPECT_THAT(context.peers().status().message(), HasSubstr("this process is in none"));
  const auto program = graph::Program::create();
  EXPECT_EQ(context.serve(*program, {}, scope).code(), Code::unimplemented);
}

TEST(Context, ServesAsItWasTold) {
  std::string served;
  const Context context([&](const graph::Program&, const graph::OpDesc& op, Scope&) { return served = op.type, Status(); });
  Scope scope;
  const auto program = graph::Program::create();
  EXPECT_TRUE(context.serve(*program, {.type = "listen_and_serv"}, scope).ok());
  EXPECT_EQ(served, "listen_and_serv");
}

}  // namespace
}  // namespace argosy::engine
