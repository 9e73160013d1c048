#include "argosy/inspect/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

#include "argosy/base/file.h"
#include "argosy/graph/inference_model.h"
#include "argosy/graph/program.h"
#include "argosy/graph/wire.h"
#include "argosy/inspect/tensor_facts.h"

namespace argosy::inspect {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class InspectTest : public testing::Test {
 protected:
  InspectTest()
      : folder_(fs::temp_directory_path() /
                fmt::format("argosy-inspect-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~InspectTest() override { fs::remove_all(folder_); }

  static graph::TensorFile tensor(const std::vector<float>& values, std::vector<int64_t> shape) {
    return {.dtype = graph::DType::float32,
            .shape = std::move(shape),
            .lod = {},
            .bytes = {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}};
  }
  void write_tensor(const fs::path& file, const std::vector<float>& values, std::vector<int64_t> shape) {
    std::string bytes;
    graph::append_tensor(tensor(values, std::move(shape)), bytes);
    write(file, bytes);
  }
  void write(const fs::path& file, const std::string& bytes) {
    fs::create_directories(file.parent_path());
    ASSERT_TRUE(write_file_atomically(file, bytes).ok());
  }
  // x [-1, 2] times w [2, 2]: a model with `values` for w.
  void write_model(const fs::path& folder, const std::vector<float>& values) {
    const auto program = graph::Program::create();
    graph::Block& block = program->global_block();
    block.put_var({.name = "x", .shape = {-1, 2}});
    block.put_var({.name = "y", .shape = {-1, 2}});
    block.put_var({.name = "w", .shape = {2, 2}, .persistable = true, .parameter = graph::ParameterInfo{}});
    block.append_op_unchecked(
        {.type = "mul", .inputs = {{"X", {"x"}}, {"Y", {"w"}}}, .outputs = {{"Out", {"y"}}}, .attributes = {}});
    const auto model = graph::make_inference_program(*program, {"x"}, {"y"});
    ASSERT_TRUE(model.ok()) << model.status().message();
    write(folder / "__model__", graph::serialize_program(**model));
    write_tensor(folder / "w", values, {2, 2});
  }

  const fs::path folder_;
};

TEST_F(InspectTest, AModelIsDescribedForPeople) {
  write_model(folder_ / "m", {3, 4, 0, 0});
  write(folder_ / "m/__ledger__", "{\"passes\": 3}");
  const auto text = summary(folder_ / "m");
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_THAT(*text, HasSubstr("inputs (1):\n  x                                float32 [-1, 2]\n"));
  EXPECT_THAT(*text, HasSubstr("outputs (1):\n  save_infer_model/scale_0.tmp_0"));
  EXPECT_THAT(*text, HasSubstr("operators (4, 1 block): feed, fetch, mul, scale\n"));
  EXPECT_THAT(*text, HasSubstr("parameters (1, 4 numbers, 16 B):\n  w                                float32 [2, 2]  16 B  norm "
                               "5  [0, 4]  1 of 2 rows are 0\n"));
  EXPECT_THAT(*text, HasSubstr("ledger:\n{\"passes\": 3}"));
  EXPECT_THAT(*raw_text(folder_ / "m"), HasSubstr("type: \"mul\""));
}

TEST_F(InspectTest, FoldersOfTensorsAndTensorsAreDescribed) {
  write_tensor(folder_ / "p/a", {1, 2}, {2});
  write_tensor(folder_ / "p/deep/b", {1, std::numeric_limits<float>::quiet_NaN()}, {2});
  EXPECT_THAT(*summary(folder_ / "p"), HasSubstr("parameters (2, 4 numbers, 16 B)"));
  EXPECT_THAT(*summary(folder_ / "p"),
              HasSubstr("deep/b                           float32 [2]  8 B  norm 1  [1, 1]  1 ELEMENTS ARE NOT FINITE"));
  EXPECT_THAT(*summary(folder_ / "p/a"), HasSubstr("a                                float32 [2]  8 B  norm 2.23607  [1, 2]"));
}

TEST_F(InspectTest, WhatDiffersIsNamedByTensorRowAndColumn) {
  write_model(folder_ / "one", {1, 2, 3, 4});
  write_model(folder_ / "same", {1, 2, 3, 4});
  write_model(folder_ / "other", {1, 2, 3, 4.5});
  const auto same = compare(folder_ / "one", folder_ / "same");
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_TRUE(same->equal) << same->text;
  const auto other = compare(folder_ / "one", folder_ / "other");
  EXPECT_FALSE(other->equal);
  EXPECT_EQ(other->text,
            "'w': 1 of 2 rows differ, the first is 1; norm of the difference 0.5; most at row 1, column 1: 4 against 4.5\n");
  write_tensor(folder_ / "p/w", {1, 2, 3, 4}, {4, 1});
  write_tensor(folder_ / "p/v", {1}, {1});
  const auto mixed = compare(folder_ / "one", folder_ / "p");
  EXPECT_THAT(mixed->text, HasSubstr("one is a model, the other has no program"));
  EXPECT_THAT(mixed->text, HasSubstr("'v': is in"));
  EXPECT_THAT(mixed->text, HasSubstr("'w': float32 [2, 2] against float32 [4, 1]"));
}

// A folder that is none of parameters is not read through: what does not begin as a tensor is not opened further.
TEST_F(InspectTest, OtherFilesAreLeftAlone) {
  write_tensor(folder_ / "p/a", {1, 2}, {2});
  write(folder_ / "p/notes.txt", "no tensor");
  write(folder_ / "p/zeros", std::string(100, '\0'));
  write(folder_ / "p/1/2/3/4/deep", "x");
  EXPECT_THAT(*summary(folder_ / "p"), HasSubstr("parameters (1, 2 numbers, 8 B)"));
  EXPECT_THAT(summary(folder_ / "p/1").status().message(), HasSubstr("has no model"));
}

// fluid.save writes the parameters into a file of Python's: no files named after them are looked for.
TEST_F(InspectTest, AProgramOfFluidSaveIsDescribedWithoutItsParameters) {
  write_model(folder_ / "m", {1, 2, 3, 4});
  fs::remove(folder_ / "m/w");
  fs::rename(folder_ / "m/__model__", folder_ / "m/net.pdmodel");
  EXPECT_THAT(summary(folder_ / "m/net.pdmodel").status().message(), HasSubstr("m/w")) << "a model whose parameters are missing";
  write(folder_ / "m/net.pdparams", "a pickle");
  for (const char* name : {"m/net.pdmodel", "m/net", "m"}) {
    const auto text = summary(folder_ / name);
    ASSERT_TRUE(text.ok()) << name << ": " << text.status().message();
    EXPECT_THAT(*text, HasSubstr("operators (4, 1 block): feed, fetch, mul, scale\n"));
    EXPECT_THAT(*text,
                HasSubstr("parameters: in '" + (folder_ / "m/net.pdparams").string() + "'; `argosy inspect` of that file"));
  }
  EXPECT_THAT(compare(folder_ / "m/net", folder_ / "m/net").status().message(), HasSubstr("compare such files"));
}

TEST_F(InspectTest, WhatIsNothingIsToldByName) {
  EXPECT_THAT(summary(folder_ / "nothing").status().message(), HasSubstr("there is no such folder or file"));
  EXPECT_THAT(summary(folder_).status().message(), HasSubstr("has no model"));
  write_model(folder_ / "m", {1, 2, 3, 4});
  write(folder_ / "m/w", "damaged");
  EXPECT_THAT(summary(folder_ / "m").status().message(), HasSubstr("m/w'"));
}

TEST(TensorFacts, SizesAreReadable) {
  EXPECT_EQ(bytes_text(1000), "1000 B");
  EXPECT_EQ(bytes_text(40'000), "39.1 KiB");
  EXPECT_EQ(bytes_text(uint64_t{5} << 30), "5.0 GiB");
}

}  // namespace
}  // namespace argosy::inspect
