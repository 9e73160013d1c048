#include "argosy/engine/program/prepared.h"

#include <gmock/gmock.h>

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/engine/remote/no_servers_test.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/layers/control_flow.h"

namespace argosy::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Variables = std::vector<Variable>;

class PreparedTest : public LayerTest {
 protected:
  std::shared_ptr<const PreparedProgram> prepare(const Variables& fetches = {}) {
    PrepareOptions options{.fuse = false};
    for (const Variable& fetch : fetches) options.fetches.push_back(fetch.name());
    return value_or_throw(PreparedProgram::create(*main_, options));
  }

  // The first instruction of a type, also inside of others.
  static const Instruction& find(const std::vector<Instruction>& instructions, const std::string& type) {
    const Instruction* found = search(instructions, type);
    ARGOSY_CHECK(found != nullptr, type);
    return *found;
  }

  static std::vector<std::string> types(const std::vector<Instruction>& instructions) {
    std::vector<std::string> found;
    for (const Instruction& instruction : instructions) found.push_back(instruction.desc.type);
    return found;
  }

  static std::vector<std::string> names(const PreparedProgram& program, const std::vector<int32_t>& values) {
    std::vector<std::string> found;
    for (const int32_t value : values) found.push_back(program.values()[static_cast<size_t>(value)].name);
    return found;
  }

 private:
  static const Instruction* search(const std::vector<Instruction>& instructions, const std::string& type) {
    for (const Instruction& instruction : instructions) {
      if (instruction.desc.type == type) return &instruction;
      if (const Instruction* inner = search(instruction.body, type)) return inner;
    }
    return nullptr;
  }
};

TEST_F(PreparedTest, AnOperatorThatNobodyKnowsIsNamedWithTheNearest) {
  main_->global_block().append_op_unchecked({.type = "reluu", .inputs = {{"X", {"x"}}}, .outputs = {{"Out", {"y"}}}});
  const auto prepared = PreparedProgram::create(*main_, {});
  EXPECT_EQ(prepared.status().code(), Code::unimplemented);
  EXPECT_THAT(prepared.status().message(), HasSubstr("operator 'reluu', which this version cannot run (the nearest is 'relu')"));
}

TEST_F(PreparedTest, AFetchThatIsNoVariableIsNamed) {
  layers::relu(data("x", {2}));
  const auto prepared = PreparedProgram::create(*main_, {.fetches = {"y"}});
  EXPECT_EQ(prepared.status().code(), Code::not_found);
  EXPECT_THAT(prepared.status().message(), HasSubstr("no variable 'y'"));
}

// A run of what was prepared does not see what is done to the program later.
TEST_F(PreparedTest, HoldsACopyOfTheProgram) {
  const Variable x = data("x", {2});
  layers::relu(x);
  const auto prepared = prepare();
  layers::exp(x);
  EXPECT_THAT(types(prepared->instructions()), ElementsAre("relu"));
  EXPECT_THAT(types(prepare()->instructions()), ElementsAre("relu", "exp"));
}

// Each value is dropped after the last operator that reads or sets it; what is fetched or kept is not.
TEST_F(PreparedTest, ValuesAreDroppedAfterTheirLastUse) {
  const Variable x = data("x", {2});
  const Variable a = layers::relu(x), b = layers::exp(a), c = layers::elementwise_add(a, b), d = layers::square(c);
  const auto prepared = prepare({c, d});
  const auto& instructions = prepared->instructions();
  EXPECT_THAT(names(*prepared, instructions[0].last_uses), ElementsAre(x.name()));
  EXPECT_THAT(instructions[1].last_uses, IsEmpty());
  EXPECT_THAT(names(*prepared, instructions[2].last_uses), ::testing::UnorderedElementsAre(a.name(), b.name()));
  EXPECT_THAT(instructions[3].last_uses, IsEmpty()) << "both are fetched";
}

TEST_F(PreparedTest, ParametersStay) {
  const Variable y = layers::fc(data("x", {-1, 3}, DType::float32), 2);
  const auto prepared = prepare({y});
  for (const Instruction& instruction : prepared->instructions()) {
    EXPECT_THAT(names(*prepared, instruction.last_uses), Not(Contains("fc_0.w_0")));
  }
  EXPECT_FALSE(prepared->trains());
}

// Only what leads from a leaf to the loss is recorded for autograd.
TEST_F(PreparedTest, OnlyThePathToTheLossRecords) {
  const Variable x = data("x", {2}), other = data("other", {2});
  const Variable used = layers::exp(x), beside = layers::square(other), loss = layers::mean(used);
  graph::gradients({loss}, {x});
  const auto prepared = prepare({beside});
  EXPECT_TRUE(prepared->trains());
  EXPECT_TRUE(find(prepared->instructions(), "exp").records_gradient);
  EXPECT_TRUE(find(prepared->instructions(), "mean").records_gradient);
  EXPECT_FALSE(find(prepared->instructions(), "square").records_gradient);
  EXPECT_TRUE(prepared->values()[static_cast<size_t>(prepared->find_value("x"))].wants_gradient);
  EXPECT_FALSE(prepared->values()[static_cast<size_t>(prepared->find_value(used.name()))].wants_gradient) << "no leaf";
}

TEST_F(PreparedTest, AStoppedGradientIsCutWhereItIsMade) {
  const Variable x = data("x", {2});
  const Variable stopped = layers::exp(x);
  stopped.desc().stop_gradient = true;
  const Variable loss = layers::mean(layers::elementwise_add(stopped, layers::square(x)));
  graph::gradients({loss}, {x});
  const auto prepared = prepare();
  EXPECT_FALSE(find(prepared->instructions(), "exp").records_gradient) << "nothing beyond it is reached";
  EXPECT_TRUE(find(prepared->instructions(), "square").records_gradient);
}

// ---- Operators with a block of their own.

TEST_F(PreparedTest, ABodyIsPartOfItsInstruction) {
  const Variable x = data("x", {2}), flag = data("flag", {1}, DType::boolean);
  layers::cond(flag, [&] { return Variables{layers::exp(layers::square(x))}; }, [&] { return Variables{x}; });
  const auto prepared = prepare();
  const Instruction& chosen = find(prepared->instructions(), "conditional_block");
  EXPECT_THAT(types(chosen.body), ElementsAre("square", "exp", "assign"));
  EXPECT_THAT(names(*prepared, chosen.find_input("")->values), Contains("x"));
  const std::string inside = names(*prepared, chosen.body[0].outputs[0].values)[0];
  EXPECT_THAT(names(*prepared, chosen.find_output("")->values), Contains(inside));
  EXPECT_THAT(names(*prepared, chosen.last_uses), Contains(inside)) << "dropped when the block has run";
  EXPECT_THAT(chosen.body[0].last_uses, IsEmpty()) << "a loop may read it again";
}

TEST_F(PreparedTest, AllOfABodyRecordsWhereItLeadsToTheLoss) {
  const Variable x = data("x", {2}), flag = data("flag", {1}, DType::boolean);
  const auto build = [&] {
    return layers::cond(flag, [&] { return Variables{layers::exp(x)}; }, [&] { return Variables{layers::square(x)}; })[0];
  };
  const Variable used = build();
  graph::gradients({layers::mean(used)}, {x});
  build();  // of no use to the loss
  const auto prepared = prepare();
  std::vector<bool> records;
  for (const Instruction& instruction : prepared->instructions()) {
    if (instruction.desc.type == "conditional_block") records.push_back(instruction.body[0].records_gradient);
  }
  EXPECT_THAT(records, ElementsAre(true, true, false, false));
}

TEST_F(PreparedTest, AnOperatorWithoutAKernelThereIsFoundInsideABody) {
  const Variable ids = data("ids", {-1, 1}, DType::int64), flag = data("flag", {1}, DType::boolean);
  layers::cond(flag, [&] { return Variables{layers::hash(ids, 100)}; }, [&] { return Variables{layers::hash(ids, 10)}; });
  const auto prepared = prepare();
  EXPECT_TRUE(prepared->check_kernels(c10::Device("cpu")).ok());
  EXPECT_THAT(prepared->check_kernels(c10::Device("cuda:0")).message(), HasSubstr("operator 'hash' has no kernel on GPU"));
}

// Knows one table, whose rows are elsewhere.
class OneTable : public NoServers {
 public:
  const RemoteVariable* find(std::string_view name) const override { return name == "table" ? &table_ : nullptr; }

 private:
  const RemoteVariable table_{.kind = RemoteVariable::rows, .table = 0, .shape = {10, 4}};
};

// Rows are pulled before a run, for the lookups of the global block.
TEST_F(PreparedTest, ATableOnServersIsNotLookedUpInsideABody) {
  const Variable ids = data("ids", {-1, 1}, DType::int64), flag = data("flag", {1}, DType::boolean);
  const auto look_up = [&] { return Variables{layers::embedding(ids, {10, 4}, {.is_sparse = true, .param = "table"})}; };
  const OneTable servers;
  look_up();
  EXPECT_TRUE(PreparedProgram::create(*main_, {.remote = &servers}).ok());
  layers::cond(flag, look_up, look_up);
  const Status refused = PreparedProgram::create(*main_, {.remote = &servers}).status();
  EXPECT_EQ(refused.code(), Code::unimplemented);
  EXPECT_THAT(refused.message(), HasSubstr("table 'table', which is on parameter servers, inside the block of a condition"));
}

}  // namespace
}  // namespace argosy::engine
