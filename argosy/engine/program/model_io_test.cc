#include "argosy/engine/program/model_io.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "argosy/base/file.h"
#include "argosy/engine/program/device_test.h"
#include "argosy/engine/train/runner.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layer_helper.h"

namespace argosy::engine {
namespace {

namespace fs = std::filesystem;

class ModelIoTest : public testing::Test {
 protected:
  ModelIoTest() : main_(graph::Program::create()), startup_(graph::Program::create()), programs_(main_, startup_) {
    folder_ = fs::temp_directory_path() /
              fmt::format("argosy-model-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    graph::VarDesc x{.name = "x", .shape = {-1, 3}};
    x.stop_gradient = x.is_data = true;
    main_->global_block().put_var(x);
    graph::LayerHelper helper("fc", "");
    const auto w = helper.create_parameter("w", {3, 2}, graph::DType::float32);
    out_ = helper.create_tmp();
    helper.append_op({.type = "mul", .inputs = {{"X", {"x"}}, {"Y", {"w"}}}, .outputs = {{"Out", {out_.name()}}}});
    EXPECT_TRUE(runner_.run(*startup_, {}, {}, scope_).ok());
  }
  ~ModelIoTest() override { fs::remove_all(folder_); }

  std::vector<const graph::VarDesc*> variables() const {
    const auto found = main_->persistables();
    return {found.begin(), found.end()};
  }

  std::shared_ptr<graph::Program> main_, startup_;
  graph::ProgramGuard programs_;
  graph::UniqueNameGuard names_;
  graph::Variable out_;
  fs::path folder_;
  Scope scope_;
  Runner runner_{{.device = test_device()}};
};

TEST_F(ModelIoTest, AModelPredictsTheSameAfterItWasLoaded) {
  for (const char* params : {"", "__params__"}) {
    ASSERT_TRUE(save_inference_model(*main_, {"x"}, {out_.name()}, scope_, folder_, "__model__", params).ok());
    Scope fresh;
    auto model = load_inference_model(folder_, fresh, "__model__", params);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->feeds, std::vector<std::string>{"x"});
    const Feed feed = {{"x", {.tensor = at::randn({4, 3})}}};
    const auto before = runner_.run(*main_, feed, {out_.name()}, scope_),
               after = runner_.run(*model->program, feed, model->fetches, fresh);
    ASSERT_TRUE(after.ok()) << after.status().message();
    EXPECT_TRUE(at::equal((*before)[0].tensor, (*after)[0].tensor));
  }
}

TEST_F(ModelIoTest, LoadingKeepsTheStorageThatThreadsShare) {
  ASSERT_TRUE(save_vars(scope_, variables(), folder_).ok());
  const at::Tensor shared = scope_.find("w")->tensor;
  const at::Tensor saved = shared.clone();
  shared.zero_();
  ASSERT_TRUE(load_vars(scope_, variables(), folder_).ok());
  EXPECT_TRUE(at::equal(shared, saved));
}

TEST_F(ModelIoTest, MissingAndMisshapenVariablesAreAllNamedAndNothingChanges) {
  ASSERT_TRUE(save_vars(scope_, variables(), folder_).ok());
  graph::VarDesc wider = *main_->global_block().find_var("w");
  wider.shape = {3, 5};
  const graph::VarDesc absent{.name = "absent", .shape = {1}};
  const auto report = load_vars(scope_, {&wider, &absent}, folder_);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("'w' is [3, 2] float32 on disk, expected [3, 5] float32"), std::string::npos)
      << report.status().message();
  EXPECT_NE(report.status().message().find("no file for 1 of 2 variables: absent"), std::string::npos);
}

TEST_F(ModelIoTest, AFileThatNobodyAskedForIsReported) {
  ASSERT_TRUE(save_vars(scope_, variables(), folder_).ok());
  std::ofstream(folder_ / "other") << "x";
  const auto report = load_vars(scope_, variables(), folder_);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->unused, std::vector<std::string>{"other"});
  EXPECT_EQ(report->loaded, std::vector<std::string>{"w"});
}

TEST_F(ModelIoTest, ADamagedFileIsNamed) {
  ASSERT_TRUE(save_vars(scope_, variables(), folder_).ok());
  const std::string bytes = *read_file(folder_ / "w");
  std::ofstream(folder_ / "w", std::ios::trunc) << bytes.substr(0, bytes.size() - 1);
  const auto report = load_vars(scope_, variables(), folder_);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find((folder_ / "w").string()), std::string::npos) << report.status().message();
}

// A model from elsewhere may name its variables as it likes; no file outside the folder is touched.
TEST_F(ModelIoTest, AVariableNameDoesNotLeaveTheFolder) {
  ASSERT_TRUE(save_vars(scope_, variables(), folder_).ok());
  for (const char* name : {"../w", "/etc/hostname", "a/../../w", ""}) {
    const graph::VarDesc variable{.name = name, .shape = {3, 2}};
    scope_.var(name).tensor = at::zeros({3, 2});
    EXPECT_EQ(load_vars(scope_, {&variable}, folder_).status().code(), Code::invalid_argument) << name;
    EXPECT_EQ(save_vars(scope_, {&variable}, folder_).code(), Code::invalid_argument) << name;
  }
}

TEST_F(ModelIoTest, AnUninitialisedVariableCannotBeSaved) {
  Scope empty;
  const Status status = save_vars(empty, variables(), folder_);
  EXPECT_NE(status.message().find("variable 'w' has no value to save"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace
}  // namespace argosy::engine
