#include "argosy/fleet/shared_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/engine/ops/layers.h"
#include "argosy/engine/remote/context.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/minimize.h"

namespace argosy::fleet {
namespace {

using graph::Program;
using ::testing::HasSubstr;

std::vector<std::string> types(const Program& program) {
  std::vector<std::string> names;
  for (const auto& op : program.global_block().ops()) names.push_back(op->type);
  return names;
}

// Gradients are averaged after the backward pass and before anything uses them.
TEST(SharedProgram, AveragesRightAfterTheBackward) {
  auto main = Program::create(), startup = Program::create();
  const graph::ProgramGuard guard(main, startup);
  const graph::UniqueNameGuard names;
  engine::Context context;
  CollectiveJob job;
  const auto x = layers::data("x", {4});
  const auto loss = layers::mean(layers::fc(x, 2));
  EXPECT_THAT(share_gradients(*main, *startup, context, job).message(), HasSubstr("no gradients to average"));
  graph::minimize(optim::SGD{.learning_rate = 0.1}, loss);
  ASSERT_TRUE(share_gradients(*main, *startup, context, job, {.average = {.piece_mb = 2}}).ok());
  const auto after = types(*main);
  const auto backward = std::find(after.begin(), after.end(), "backward");
  ASSERT_NE(backward, after.end());
  EXPECT_EQ(*(backward + 1), engine::kAverageOp);
  EXPECT_EQ(types(*startup).back(), engine::kTakeFromFirstOp);
  EXPECT_THAT(share_gradients(*main, *startup, context, job).message(), HasSubstr("already"));
}

}  // namespace
}  // namespace argosy::fleet
