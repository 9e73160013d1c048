#include "argosy/engine/program/recompute.h"

#include <gmock/gmock.h>

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/engine/program/prepared.h"
#include "argosy/graph/backward.h"
#include "argosy/graph/layers.h"

namespace argosy::engine {
namespace {

namespace L = argosy::layers;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RecomputeTest : public LayerTest {
 protected:
  std::shared_ptr<const PreparedProgram> prepare() {
    PrepareOptions options;
    options.fuse = false;
    return value_or_throw(PreparedProgram::create(*main_, options));
  }

  static std::vector<std::string> types(const std::vector<Instruction>& instructions) {
    std::vector<std::string> found;
    for (const Instruction& instruction : instructions) found.push_back(instruction.desc.type);
    return found;
  }

  static std::vector<std::string> names(const PreparedProgram& program, const std::vector<SlotBinding>& slots,
                                        std::string_view slot) {
    std::vector<std::string> found;
    for (const SlotBinding& binding : slots) {
      if (binding.slot != slot) continue;
      for (const int32_t value : binding.values) found.push_back(program.values()[static_cast<size_t>(value)].name);
    }
    return found;
  }
};

// Up to a checkpoint operators become one, which keeps what others read; what follows the last one stays.
TEST_F(RecomputeTest, PutsOperatorsUpToACheckpointIntoOne) {
  const Variable x = data("x", {-1, 4}, DType::float32);
  const Variable first = L::tanh(L::fc(x, 4)), second = L::tanh(L::fc(first, 4));
  graph::append_backward(L::mean(L::square(second)), {}, {}, {first.name(), second.name()});
  const auto program = prepare();
  const auto& instructions = program->instructions();
  const std::string segment(kSegmentOp);
  EXPECT_THAT(types(instructions), ElementsAre(segment, segment, "square", "mean", "backward"));
  EXPECT_THAT(types(instructions[0].body), ElementsAre("mul", "elementwise_add", "tanh"));
  EXPECT_THAT(names(*program, instructions[0].outputs, "Kept"), ElementsAre(first.name()));
  EXPECT_THAT(names(*program, instructions[1].inputs, "X"), Contains(first.name()));
  EXPECT_EQ(instructions[0].last_uses.size(), 3u);  // the two between, and x: nothing else reads them
}

// What would be done twice divides a segment and stays as it is.
TEST_F(RecomputeTest, LeavesOutWhatMustNotBeDoneTwice) {
  const Variable x = data("x", {-1, 4}, DType::float32);
  const Variable shown = L::print(L::tanh(L::fc(x, 4)));
  const Variable last = L::tanh(L::fc(shown, 4));
  graph::append_backward(L::mean(last), {}, {}, {last.name()});
  const auto found = types(prepare()->instructions());
  EXPECT_THAT(found, ElementsAre(std::string(kSegmentOp), "print", std::string(kSegmentOp), "mean", "backward"));
}

TEST_F(RecomputeTest, WithoutCheckpointsNothingIsDivided) {
  graph::append_backward(L::mean(L::tanh(L::fc(data("x", {-1, 4}, DType::float32), 4))));
  EXPECT_THAT(types(prepare()->instructions()), Not(Contains(std::string(kSegmentOp))));
}

TEST_F(RecomputeTest, ACheckpointThatNothingMakesIsNamed) {
  const Variable loss = L::mean(L::fc(data("x", {-1, 4}, DType::float32), 4));
  try {
    graph::append_backward(loss, {}, {}, {"x"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("checkpoints name 'x', which no operator of the program makes"));
  }
}

}  // namespace
}  // namespace argosy::engine
