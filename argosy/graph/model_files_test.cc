#include "argosy/graph/model_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace argosy::graph {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class ModelFilesTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path make(const std::string& name) const {
    std::ofstream(folder_ / name) << "x";
    return folder_ / name;
  }
  std::string error_of(const fs::path& path) const { return ModelFiles::find(path).status().message(); }

  const fs::path folder_ = fs::temp_directory_path() / ("argosy-model-files-" + std::to_string(::getpid()));
};

TEST_F(ModelFilesTest, AFolderOf18HasOneFilePerParameterOrOneForAll) {
  const fs::path model = make("__model__");
  make("fc_0.w_0");
  EXPECT_EQ(ModelFiles::find(folder_)->model, model);
  EXPECT_TRUE(ModelFiles::find(folder_)->params.empty());
  const fs::path params = make("__params__");
  EXPECT_EQ(ModelFiles::find(folder_)->params, params);
}

TEST_F(ModelFilesTest, ModelAndParamsAreAPair) {
  const fs::path model = make("model"), params = make("params");
  EXPECT_EQ(ModelFiles::find(folder_)->model, model);
  EXPECT_EQ(ModelFiles::find(folder_)->params, params);
}

TEST_F(ModelFilesTest, AModelOf2IsFoundByFolderFileOrPrefix) {
  const fs::path model = make("ctr.pdmodel"), params = make("ctr.pdiparams");
  for (const fs::path& path : {folder_, model, folder_ / "ctr"}) {
    const auto found = ModelFiles::find(path);
    ASSERT_TRUE(found.ok()) << path << ": " << found.status().message();
    EXPECT_EQ(found->model, model);
    EXPECT_EQ(found->params, params);
  }
}

TEST_F(ModelFilesTest, OfSeveralOneMustBeNamed) {
  make("a.pdmodel"), make("b.pdmodel");
  EXPECT_THAT(error_of(folder_), AllOf(HasSubstr("has several models (a.pdmodel, b.pdmodel); name one of them")));
  EXPECT_EQ(ModelFiles::find(folder_ / "b")->model, folder_ / "b.pdmodel");
}

// What a user is likely to give instead: the folder of a checkpoint, or a name with a slip.
TEST_F(ModelFilesTest, SaysWhatWasLookedFor) {
  EXPECT_THAT(error_of(folder_),
              AllOf(HasSubstr("there is no file __model__, model or *.pdmodel"), HasSubstr("save_persistables")));
  EXPECT_THAT(error_of(folder_ / "ctr"),
              AllOf(HasSubstr("is no model: there is no such folder or file"), HasSubstr("ctr.pdmodel'")));
}

}  // namespace
}  // namespace argosy::graph
