#include "argosy/serve/model/served_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "argosy/base/clock.h"
#include "argosy/base/file.h"

namespace argosy::serve {
namespace {

namespace fs = std::filesystem;

// A "model" is a file with a number in it; what is none cannot be opened.
class ServedModelTest : public testing::Test {
 protected:
  ServedModelTest()
      : folder_(fs::temp_directory_path() /
                fmt::format("argosy-served-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ServedModelTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    ASSERT_TRUE(write_file_atomically(folder_ / name, text).ok());
  }
  static Result<ServedVersion> open(const fs::path& path) {
    ASSIGN_OR_RETURN(const std::string text, read_file(path / "model"));
    if (text.find_first_not_of("0123456789") != std::string::npos) return Status::data_loss("'{}' is no number", text);
    ServedVersion version;
    version.inputs = {{.name = text}};
    return version;
  }
  std::unique_ptr<ServedModel> start(double reload_seconds = 0) {
    return std::move(*ServedModel::start({.path = folder_, .reload_seconds = reload_seconds}, counters_, open));
  }
  static std::string serving(const ServedModel& model) { return model.current()->inputs[0].name; }

  const fs::path folder_;
  ServeCounters counters_;
};

TEST_F(ServedModelTest, ANewModelInTheSamePlaceTakesOver) {
  write("model", "1");
  const auto model = start();
  const auto old = model->current();
  model->look_for_new_version();
  EXPECT_EQ(model->current(), old);  // nothing has changed
  write("model", "2");
  model->look_for_new_version();
  EXPECT_EQ(serving(*model), "2");
  EXPECT_EQ(model->current()->version, "2");
  EXPECT_EQ(old->inputs[0].name, "1");  // a request that has begun keeps it
}

TEST_F(ServedModelTest, ABrokenModelIsRefusedOnceAndTheOldOneServes) {
  write("model", "1");
  const auto model = start();
  write("model", "broken");
  model->look_for_new_version();
  model->look_for_new_version();
  EXPECT_EQ(serving(*model), "1");
  EXPECT_EQ(model->last_problem(), "'broken' is no number");
  EXPECT_NE(counters_.text("m", "1").find("argosy_serve_failed_reloads_total 1\n"), std::string::npos);
  write("model", "3");
  model->look_for_new_version();
  EXPECT_EQ(serving(*model), "3");
  EXPECT_EQ(model->last_problem(), "");
}

TEST_F(ServedModelTest, TheHighestNumberOfAFolderOfVersionsServes) {
  write("9/model", "90");
  write("10/model", "100");
  write("notes/model", "1");
  const auto model = start();
  EXPECT_EQ(serving(*model), "100");
  EXPECT_EQ(model->current()->version, "10");
  write("11/model", "broken");
  model->look_for_new_version();
  EXPECT_EQ(model->current()->version, "10");
  write("12/model", "120");
  model->look_for_new_version();
  EXPECT_EQ(model->current()->version, "12");
  fs::remove_all(folder_ / "12");  // going back is removing the newest
  fs::remove_all(folder_ / "11");
  model->look_for_new_version();
  EXPECT_EQ(model->current()->version, "10");
}

TEST_F(ServedModelTest, AFirstModelThatCannotBeOpenedIsAnError) {
  write("model", "broken");
  const auto model = ServedModel::start({.path = folder_}, counters_, open);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().message(), "'broken' is no number");
}

TEST_F(ServedModelTest, TheThreadLooksByItselfAndStops) {
  write("model", "1");
  const auto model = start(0.01);
  write("model", "2");
  const Deadline deadline = Deadline::after_seconds(60);
  while (serving(*model) != "2" && !deadline.passed()) std::this_thread::yield();
  EXPECT_EQ(serving(*model), "2");
  model->stop();
  write("model", "3");
  EXPECT_EQ(serving(*model), "2");
}

}  // namespace
}  // namespace argosy::serve
