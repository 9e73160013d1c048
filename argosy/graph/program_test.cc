#include "argosy/graph/program.h"

#include <gmock/gmock.h>

#include <utility>

#include "argosy/graph/ops_test.h"

namespace argosy::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProgramTest : public GraphTest {};

VarDesc named(std::string name, std::vector<int64_t> shape = {}) {
  VarDesc desc;
  desc.name = std::move(name), desc.shape = std::move(shape);
  return desc;
}

std::vector<std::string> names_of(const std::vector<VarDesc*>& variables) {
  std::vector<std::string> names;
  for (const VarDesc* variable : variables) names.push_back(variable->name);
  return names;
}

TEST_F(ProgramTest, AVariableIsReplacedInPlace) {
  VarDesc& first = block().put_var(named("b"));
  block().put_var(named("a"));
  VarDesc& again = block().put_var(named("b", {3}));
  EXPECT_EQ(&first, &again);
  EXPECT_THAT(first.shape, ElementsAre(3));
  EXPECT_THAT(names_of(block().vars()), ElementsAre("b", "a"));
}

TEST_F(ProgramTest, ARemovedVariableIsGone) {
  block().put_var(named("a"));
  block().put_var(named("b"));
  block().remove_var("a");
  block().remove_var("never there");
  EXPECT_EQ(block().find_var("a"), nullptr);
  EXPECT_THAT(names_of(block().vars()), ElementsAre("b"));
}

TEST_F(ProgramTest, NamesAreLookedUpInTheParents) {
  block().put_var(named("outer"));
  Block& child = main_->create_block(0);
  Block& grandchild = main_->create_block(child.index());
  child.put_var(named("middle"));
  EXPECT_EQ(grandchild.find_var("outer"), nullptr);
  EXPECT_EQ(grandchild.find_var_recursive("outer"), block().find_var("outer"));
  EXPECT_EQ(grandchild.find_var_recursive("middle"), child.find_var("middle"));
  EXPECT_EQ(block().find_var_recursive("middle"), nullptr);
  EXPECT_EQ(&main_->current_block(), &grandchild);
  main_->rollback();
  EXPECT_EQ(&main_->current_block(), &child);
}

// Executors keep what they prepared until the version moves: each change must move it, and reading must not.
TEST_F(ProgramTest, TheVersionGrowsWithEachChange) {
  uint64_t before = main_->version();
  const auto grew = [&] { return std::exchange(before, main_->version()) < main_->version(); };
  const Variable x = data("x", {-1, 2});
  EXPECT_TRUE(grew());
  block().put_var(named("y"));
  EXPECT_TRUE(grew());
  EXPECT_TRUE(block().append_op({.type = "relu", .inputs = {{"X", {"x"}}}, .outputs = {{"Out", {"y"}}}}).ok());
  EXPECT_TRUE(grew());
  Variable(x).set_persistable(true);
  EXPECT_TRUE(grew());
  block().remove_op(0);
  EXPECT_TRUE(grew());
  block().remove_var("y");
  EXPECT_TRUE(grew());
  main_->create_block(0);
  EXPECT_TRUE(grew());
  (void)block().find_var_recursive("x");
  (void)main_->parameters();
  (void)main_->clone(false);
  EXPECT_FALSE(grew());
  EXPECT_NE(main_->id(), startup_->id());
}

TEST_F(ProgramTest, OperatorsAreCheckedWhenTheyAreAdded) {
  data("x", {-1, 2});
  data("w", {3, 2});
  block().put_var(named("y"));
  EXPECT_EQ(block().append_op({.type = "rellu"}).status().message(), "there is no operator 'rellu'; did you mean 'relu'?");
  EXPECT_EQ(block().append_op({.type = "relu", .inputs = {{"X", {"z"}}}, .outputs = {{"Out", {"y"}}}}).status().message(),
            "operator 'relu' names variable 'z', which the program does not have");
  EXPECT_EQ(
      block().append_op({.type = "mul", .inputs = {{"X", {"x"}}, {"Y", {"w"}}}, .outputs = {{"Out", {"y"}}}}).status().message(),
      "operator 'mul': X [-1, 2] and Y [3, 2] do not fit");
  EXPECT_THAT(block().ops(), IsEmpty());
}

TEST_F(ProgramTest, AnOperatorIsInsertedWhereItIsAsked) {
  data("x", {-1, 2});
  block().put_var(named("y"));
  const auto relu = [] { return OpDesc{.type = "relu", .inputs = {{"X", {"x"}}}, .outputs = {{"Out", {"y"}}}}; };
  ASSERT_TRUE(block().append_op(relu()).ok());
  OpDesc scale = relu();
  scale.type = "scale";
  ASSERT_TRUE(block().insert_op(0, scale).ok());
  block().insert_op_unchecked(1, {.type = "unknown"});
  EXPECT_THAT(op_types(*main_), ElementsAre("scale", "unknown", "relu"));
  EXPECT_THAT(block().find_var("y")->shape, ElementsAre(-1, 2));
}

class CopyTest : public GraphTest {
 protected:
  // x -> fc -> dropout -> mean, with a training step.
  CopyTest() : out_(fc(data("x", {-1, 4}), 2)) {
    LayerHelper helper("dropout", "");
    dropped_ = helper.create_tmp();
    mask_ = helper.create_tmp();
    helper.append_op(
        {.type = "dropout", .inputs = {{"X", {out_.name()}}}, .outputs = {{"Out", {dropped_.name()}}, {"Mask", {mask_.name()}}}});
    loss_ = mean(dropped_);
    const RoleGuard role(kRoleOptimize);
    helper.append_op({.type = "scale", .inputs = {{"X", {"fc_0.w_0"}}}, .outputs = {{"Out", {"fc_0.w_0"}}}});
  }

  Variable out_, dropped_, mask_, loss_;
};

TEST_F(CopyTest, ACloneIsEqualAndApart) {
  main_->random_seed = 7;
  main_->paddle_version = 2006002;
  const auto copy = main_->clone(false);
  EXPECT_EQ(op_types(*copy), op_types(*main_));
  EXPECT_EQ(names_of(copy->global_block().vars()), names_of(block().vars()));
  EXPECT_EQ(copy->random_seed, 7);
  EXPECT_EQ(copy->paddle_version, 2006002);
  EXPECT_NE(copy->id(), main_->id());
  ASSERT_EQ(copy->parameters().size(), 2u);
  copy->global_block().find_var("x")->shape = {1};
  copy->global_block().remove_op(0);
  EXPECT_THAT(block().find_var("x")->shape, ElementsAre(-1, 4));
  EXPECT_EQ(block().ops()[0]->type, "mul");
}

TEST_F(CopyTest, ACloneForTestHasNoTrainingAndNoDropout) {
  const auto test = main_->clone(true);
  EXPECT_THAT(op_types(*test), ElementsAre("mul", "elementwise_add", "dropout", "mean"));
  EXPECT_TRUE(test->global_block().ops()[2]->attribute_or<bool>("is_test", false));
  EXPECT_FALSE(block().ops()[2]->attribute_or<bool>("is_test", true));
}

TEST_F(CopyTest, PruningKeepsWhatComputesTheTargets) {
  const auto pruned = main_->prune({"x"}, {out_.name()});
  ASSERT_TRUE(pruned.ok()) << pruned.status().to_string();
  EXPECT_THAT(op_types(**pruned), ElementsAre("mul", "elementwise_add"));
  EXPECT_THAT(names_of((*pruned)->global_block().vars()), ElementsAre("x", "fc_0.w_0", "fc_0.tmp_0", "fc_0.b_0", "fc_0.tmp_1"));
  EXPECT_EQ((*pruned)->parameters().size(), 2u);
}

TEST_F(CopyTest, PruningStopsAtTheFeeds) {
  const auto pruned = main_->prune({out_.name()}, {loss_.name()});
  EXPECT_THAT(op_types(**pruned), ElementsAre("dropout", "mean"));
  EXPECT_EQ((*pruned)->global_block().find_var("x"), nullptr);
  EXPECT_TRUE((*pruned)->global_block().ops()[0]->attribute_or<bool>("is_test", false));
  EXPECT_NE((*pruned)->global_block().find_var(mask_.name()), nullptr);  // every variable of a kept operator is there
}

TEST_F(CopyTest, PruningNamesWhatItDoesNotFind) {
  EXPECT_EQ(main_->prune({"q"}, {loss_.name()}).status().message(), "the program has no variable 'q'");
  EXPECT_EQ(main_->prune({"x"}, {"q"}).status().code(), Code::not_found);
}

// Blocks 1 (not used), 2 (the body) and 3 (inside it) become 1 and 2; what the body reads from the global block stays.
TEST_F(CopyTest, PruningKeepsTheBlocksOfItsOperators) {
  main_->create_block(0);
  main_->rollback();
  Block& body = main_->create_block(0);
  Block& inner = main_->create_block(body.index());
  main_->rollback();
  main_->rollback();
  block().put_var(named("outside", {1}));
  block().put_var(named("result", {1}));
  body.append_op_unchecked({.type = "cond", .attributes = {{"sub_block", BlockRef{inner.index()}}}});
  inner.put_var(named("local"));
  inner.append_op_unchecked({.type = "copy", .inputs = {{"X", {"outside"}}}, .outputs = {{"Out", {"local"}}}});
  block().append_op_unchecked(
      {.type = "while", .outputs = {{"Out", {"result"}}}, .attributes = {{"sub_block", BlockRef{body.index()}}}});

  const auto pruned = main_->prune({}, {"result"});
  ASSERT_TRUE(pruned.ok()) << pruned.status().to_string();
  ASSERT_EQ((*pruned)->block_count(), 3u);
  EXPECT_EQ((*pruned)->current_block().index(), 0);
  EXPECT_EQ((*pruned)->global_block().ops()[0]->attribute_or<BlockRef>("sub_block", {}), BlockRef{1});
  EXPECT_EQ((*pruned)->block(1).ops()[0]->attribute_or<BlockRef>("sub_block", {}), BlockRef{2});
  EXPECT_EQ((*pruned)->block(2).parent_index(), 1);
  EXPECT_NE((*pruned)->block(2).find_var_recursive("outside"), nullptr);
  EXPECT_NE((*pruned)->block(2).find_var("local"), nullptr);
}

TEST_F(CopyTest, PersistablesAreParametersAndStateButNotHolders) {
  VarDesc state = named("state");
  state.persistable = true;
  block().put_var(state);
  VarDesc holder = named("feed");
  holder.persistable = true, holder.kind = VarKind::feed_minibatch;
  block().put_var(holder);
  EXPECT_THAT(names_of(main_->persistables()), ElementsAre("fc_0.w_0", "fc_0.b_0", "state"));
  EXPECT_THAT(names_of(main_->parameters()), ElementsAre("fc_0.w_0", "fc_0.b_0"));
}

}  // namespace
}  // namespace argosy::graph
