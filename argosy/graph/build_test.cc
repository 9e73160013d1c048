#include "argosy/graph/build.h"

#include <gmock/gmock.h>

#include "argosy/graph/ops_test.h"

namespace argosy::graph {
namespace {

class BuildTest : public GraphTest {};

// What Paddle generates for two layers of fc, the second with an activation.
TEST_F(BuildTest, NamesAreThoseThatPaddleGenerates) {
  const Variable first = fc(data("x", {-1, 4}), 3);
  EXPECT_EQ(first.name(), "fc_0.tmp_1");
  const Variable second = fc(first, 2, {}, {}, "relu");
  EXPECT_EQ(second.name(), "fc_1.tmp_2");
  for (const char* name : {"fc_0.w_0", "fc_0.b_0", "fc_0.tmp_0", "fc_1.w_0", "fc_1.b_0", "fc_1.tmp_1"}) {
    EXPECT_NE(block().find_var(name), nullptr) << name;
  }
  EXPECT_EQ(embedding(data("ids", {-1, 1}, DType::int64), {10, 4}, false).name(), "embedding_0.tmp_0");
  EXPECT_NE(block().find_var("embedding_0.w_0"), nullptr);
}

TEST_F(BuildTest, EachKeyHasItsCounter) {
  EXPECT_EQ(unique_name("fc"), "fc_0");
  EXPECT_EQ(unique_name("fc"), "fc_1");
  EXPECT_EQ(unique_name("tmp"), "tmp_0");
}

TEST_F(BuildTest, AGuardStartsNamesAgainAndGivesTheOldOnesBack) {
  EXPECT_EQ(unique_name("fc"), "fc_0");
  {
    const UniqueNameGuard guard;
    EXPECT_EQ(unique_name("fc"), "fc_0");
    const UniqueNameGuard prefixed("model/");
    EXPECT_EQ(unique_name("fc"), "model/fc_0");
  }
  EXPECT_EQ(unique_name("fc"), "fc_1");
}

TEST_F(BuildTest, AProgramGuardGivesTheProgramsBack) {
  const auto other = Program::create();
  {
    const ProgramGuard guard(other);
    EXPECT_EQ(default_main_program(), other);
    EXPECT_EQ(default_startup_program(), startup_);
    data("x", {-1, 2});
    const ProgramGuard both(Program::create(), Program::create());
    EXPECT_NE(default_startup_program(), startup_);
  }
  EXPECT_EQ(default_main_program(), main_);
  EXPECT_EQ(default_startup_program(), startup_);
}

TEST_F(BuildTest, OperatorsCarryTheRoleOfTheirGuard) {
  const Variable x = data("x", {-1, 2});
  mean(x);
  {
    const RoleGuard role(kRoleOptimize);
    mean(x);
    const RoleGuard inner(kRoleLearningRate);
    mean(x);
  }
  mean(x);
  std::vector<int32_t> roles;
  for (const auto& op : block().ops()) roles.push_back(op->role());
  EXPECT_THAT(roles, ::testing::ElementsAre(kRoleForward, kRoleOptimize, kRoleLearningRate, kRoleForward));
}

TEST_F(BuildTest, AVariableKeepsItsProgramAlive) {
  Variable x;
  EXPECT_FALSE(x);
  {
    const auto program = Program::create();
    VarDesc desc;
    desc.name = "x";
    x = Variable(program, program->global_block(), program->global_block().put_var(desc));
  }
  EXPECT_TRUE(x);
  EXPECT_EQ(x.name(), "x");
  x.set_stop_gradient(true);
  EXPECT_TRUE(x.desc().stop_gradient);
}

}  // namespace
}  // namespace argosy::graph
