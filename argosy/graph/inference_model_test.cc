#include "argosy/graph/inference_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/base/file.h"
#include "argosy/graph/wire.h"

namespace argosy::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void add_var(Block& block, const std::string& name, std::vector<int64_t> shape, bool persistable = false) {
  VarDesc desc;
  desc.name = name, desc.shape = std::move(shape), desc.persistable = persistable;
  block.put_var(std::move(desc));
}

void add_op(Block& block, const std::string& type, std::vector<std::string> inputs, const std::string& output,
            int32_t role = kRoleForward) {
  block.append_op_unchecked({.type = type,
                             .inputs = {{"X", std::move(inputs)}},
                             .outputs = {{"Out", {output}}},
                             .attributes = {{"op_role", role}, {"is_test", false}}});
}

// p = x w + z; loss from p and y; a training step on w.
std::shared_ptr<Program> small_program() {
  const auto program = Program::create();
  Block& block = program->global_block();
  for (const char* name : {"x", "z", "y", "xw", "p", "loss"}) add_var(block, name, {-1, 1});
  add_var(block, "w", {1, 1}, true);
  add_op(block, "mul", {"x", "w"}, "xw");
  add_op(block, "add", {"xw", "z"}, "p");
  add_op(block, "loss", {"p", "y"}, "loss");
  add_op(block, "sgd", {"w"}, "w", kRoleOptimize);
  return program;
}

std::vector<std::string> types_of(const Block& block) {
  std::vector<std::string> types;
  for (const auto& op : block.ops()) types.push_back(op->type);
  return types;
}

TEST(InferenceModel, HasFeedsScalesAndFetchesAsPaddleWritesThem) {
  const auto model = make_inference_program(*small_program(), {"x", "z"}, {"p", "xw"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const Block& block = (*model)->global_block();
  EXPECT_THAT(types_of(block), ElementsAre("feed", "feed", "mul", "add", "scale", "scale", "fetch", "fetch"));
  EXPECT_EQ(block.ops()[0]->outputs, (SlotMap{{"Out", {"z"}}}));  // the last column first, as there
  EXPECT_EQ(block.ops()[0]->inputs, (SlotMap{{"X", {"feed"}}}));
  EXPECT_EQ(block.ops()[0]->attribute_or<int32_t>("col", -1), 1);
  EXPECT_EQ(block.ops()[7]->inputs, (SlotMap{{"X", {"save_infer_model/scale_1.tmp_0"}}}));
  EXPECT_EQ(block.ops()[7]->outputs, (SlotMap{{"Out", {"fetch"}}}));
  EXPECT_EQ(block.find_var("feed")->kind, VarKind::feed_minibatch);
  EXPECT_EQ(block.find_var("fetch")->kind, VarKind::fetch_list);
  EXPECT_TRUE(block.find_var("fetch")->persistable);
  EXPECT_EQ(block.find_var("y"), nullptr);
  EXPECT_EQ(block.find_var("loss"), nullptr);
  EXPECT_TRUE(block.ops()[2]->attribute_or<bool>("is_test", false));
  ASSERT_EQ((*model)->persistables().size(), 1u);
  EXPECT_EQ((*model)->persistables()[0]->name, "w");
}

TEST(InferenceModel, NamesComeBackInTheirOrder) {
  const auto model = make_inference_program(*small_program(), {"z", "x"}, {"p", "p"});
  const auto names = inference_names(**parse_program(serialize_program(**model)));
  ASSERT_TRUE(names.ok()) << names.status().to_string();
  EXPECT_THAT(names->feeds, ElementsAre("z", "x"));
  EXPECT_THAT(names->fetches, ElementsAre("save_infer_model/scale_0.tmp_0", "save_infer_model/scale_1.tmp_0"));
}

TEST(InferenceModel, AModelThatWasLoadedIsSavedAgain) {
  const auto model = make_inference_program(*small_program(), {"x", "z"}, {"p"});
  const auto again = make_inference_program(**model, {"x", "z"}, {"save_infer_model/scale_0.tmp_0"});
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_THAT(types_of((*again)->global_block()), ElementsAre("feed", "feed", "mul", "add", "scale", "scale", "fetch"));
  EXPECT_THAT(inference_names(**again)->fetches, ElementsAre("save_infer_model/scale_0.tmp_1"));
}

TEST(InferenceModel, ReadsTheNamesOfPaddlesModels) {
  const std::string folder = std::string(ARGOSY_SOURCE_DIR) + "/fuzz/corpus/program/";
  for (const char* name : {"paddle_1.8.5_ctr_dnn", "paddle_2.6.2_ctr_dnn"}) {
    const auto names = inference_names(**parse_program(*read_file(folder + name)));
    ASSERT_TRUE(names.ok()) << names.status().to_string();
    EXPECT_THAT(names->feeds, ElementsAre("dense_input", "C1", "C2", "C3")) << name;
    EXPECT_THAT(names->fetches, ElementsAre("save_infer_model/scale_0.tmp_0")) << name;
  }
}

TEST(InferenceModel, ATruthValueIsFetchedAsItIs) {
  const auto program = small_program();
  program->global_block().find_var("p")->dtype = DType::boolean;
  EXPECT_THAT(inference_names(**make_inference_program(*program, {"x", "z"}, {"p"}))->fetches, ElementsAre("p"));
}

TEST(InferenceModel, AnInputMayGoUnused) {
  EXPECT_THAT(inference_names(**make_inference_program(*small_program(), {"x", "y"}, {"xw"}))->feeds, ElementsAre("x", "y"));
}

TEST(InferenceModelErrors, SayWhatIsMissing) {
  const auto program = small_program();
  EXPECT_EQ(
      make_inference_program(*program, {"x"}, {"p"}).status().message(),
      "operator 'add' reads 'z', which is not among the inputs of the model: x; feed it, or choose targets that do not need it");
  EXPECT_THAT(make_inference_program(*program, {"x"}, {"q"}).status().message(), HasSubstr("no variable 'q'"));
  EXPECT_THAT(make_inference_program(*program, {"x"}, {}).status().message(), HasSubstr("at least one target"));
  EXPECT_THAT(make_inference_program(*program, {"x", "x"}, {"p"}).status().message(), HasSubstr("an input is named twice: x, x"));
  EXPECT_THAT(inference_names(*program).status().message(), HasSubstr("no 'fetch' operator"));
}

TEST(InferenceModelErrors, ColumnsMustBeThereOnce) {
  const auto model = *make_inference_program(*small_program(), {"x", "z"}, {"p"});
  OpDesc& last = *model->global_block().ops()[0];
  last.attributes["col"] = int32_t{0};
  EXPECT_THAT(inference_names(*model).status().message(), HasSubstr("are both at column 0 of 'feed'"));
  last.attributes["col"] = int32_t{2};
  EXPECT_EQ(inference_names(*model).status().message(), "no operator 'feed' has column 1");
  last.attributes.erase("col");
  EXPECT_THAT(inference_names(*model).status().message(), HasSubstr("needs one variable in 'Out' and an attribute 'col'"));
}

}  // namespace
}  // namespace argosy::graph
