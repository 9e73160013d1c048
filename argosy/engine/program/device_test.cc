#include "argosy/engine/program/device.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "argosy/engine/program/device_test.h"
#include "argosy/engine/program/prepared.h"
#include "argosy/engine/program/row_adder.h"
#include "argosy/engine/program/row_merge.h"
#include "argosy/engine/train/runner.h"
#include "argosy/graph/build.h"

namespace argosy::engine {
namespace {

using testing::HasSubstr;

// For the whole process, before the first test.
std::optional<NoMemoryWalks> walk_nowhere() {
  const char* name = std::getenv("ARGOSY_TEST_DEVICE");
  if (name != nullptr && std::string(name) == "torch") return std::optional<NoMemoryWalks>(std::in_place);
  return std::nullopt;
}
const std::optional<NoMemoryWalks> kWalksNowhere = walk_nowhere();

TEST(DeviceTest, a_device_that_is_not_there_is_named) {
  EXPECT_TRUE(check_device(c10::Device("cpu")).ok());
  EXPECT_THAT(check_device(c10::Device("cuda:99")).message(), HasSubstr("cuda:99"));
}

TEST(DeviceTest, a_runner_for_it_runs_nothing) {
  Runner runner({.device = c10::Device("cuda:99")});
  Scope scope;
  const auto ran = runner.run(*graph::Program::create(), {}, {}, scope);
  EXPECT_EQ(ran.status().code(), Code::failed_precondition);
  EXPECT_THAT(ran.status().message(), HasSubstr("cuda:99"));
}

TEST(DeviceTest, memory_is_walked_through_on_the_cpu_but_where_a_test_forbids_it) {
  if (kWalksNowhere) GTEST_SKIP() << "forbidden for this process";
  const at::Tensor tensor = at::zeros({2});
  EXPECT_TRUE(in_memory(tensor));
  {
    const NoMemoryWalks forbidden;
    EXPECT_FALSE(in_memory(tensor));
  }
  EXPECT_TRUE(in_memory(tensor));
}

TEST(DeviceTest, what_is_apart_from_the_cpu_has_copies) {
  EXPECT_TRUE(is_apart(c10::Device("cuda:0")));
  EXPECT_EQ(is_apart(c10::Device("cpu")), kWalksNowhere.has_value());
  const NoMemoryWalks apart;
  EXPECT_TRUE(is_apart(c10::Device("cpu")));
}

TEST(DeviceTest, what_comes_back_together_is_contiguous_and_on_the_cpu) {
  const at::Tensor here = at::arange(6, at::kFloat).reshape({2, 3}), there = here.to(test_device());
  Readback readback(test_device());
  const at::Tensor turned = readback.take(there.t()), same = readback.take(there);
  readback.wait();
  EXPECT_TRUE(turned.is_cpu() && turned.is_contiguous());
  EXPECT_TRUE(at::equal(turned, here.t()));
  EXPECT_TRUE(at::equal(same, here));
  EXPECT_EQ(staging_tensor({2, 3}, at::kFloat, test_device()).is_pinned(), !test_device().is_cpu());
}

TEST(DeviceTest, an_operator_that_has_no_kernel_there_is_named) {
  const auto program = graph::Program::create();
  program->global_block().append_op_unchecked({.type = "hash", .inputs = {{"X", {"x"}}}, .outputs = {{"Out", {"out"}}}});
  program->global_block().append_op_unchecked({.type = "assign", .inputs = {{"X", {"out"}}}, .outputs = {{"Out", {"copy"}}}});
  const auto prepared = PreparedProgram::create(*program, {});
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  EXPECT_TRUE((*prepared)->check_kernels(c10::Device("cpu")).ok());
  const Status refused = (*prepared)->check_kernels(c10::Device("cuda:0"));
  EXPECT_EQ(refused.code(), Code::unimplemented);
  EXPECT_THAT(refused.message(), HasSubstr("operator 'hash' has no kernel on GPU"));
}

class RowAdderTest : public testing::Test {
 protected:
  // Two lookups: one pooled by the mean, with two columns beside others and an empty sample, one with a padding.
  static LookupGradient gradient() {
    LookupGradient rows{.height = 6, .width = 2, .scale = 0.5f};
    rows.pieces.push_back({.ids = at::tensor({4, 1, 4}, at::kLong),
                           .lod = std::make_shared<const Lod>(Lod{{0, 2, 2, 3}}),
                           .average = true,
                           .gradient = at::arange(12, at::kFloat).reshape({3, 4}),
                           .column = 1});
    rows.pieces.push_back(
        {.ids = at::tensor({0, 5, 4, 0}, at::kLong), .gradient = at::arange(8, at::kFloat).reshape({4, 2}), .skip_id = 0});
    return rows;
  }
};

TEST_F(RowAdderTest, adds_up_what_the_mergers_do) {
  const LookupGradient rows = gradient();
  RowMerger merger;
  merger.merge(rows);
  RowAdder adder;
  for (int again = 0; again < 2; ++again) {
    const SummedRows sums = adder.add_up(rows);
    at::Tensor dense = at::zeros({rows.height, rows.width}).index_add_(0, sums.ids, sums.sums);
    EXPECT_TRUE(at::allclose(dense, rows.to_dense())) << dense << rows.to_dense();
    at::Tensor totals = at::zeros({rows.height, rows.width}).index_copy_(0, sums.ids, sums.totals());
    for (size_t i = 0; i < merger.index().size(); ++i)
      EXPECT_FLOAT_EQ(totals[merger.index()[i]][1].item<float>(), merger.gradients()[2 * i + 1]);
    EXPECT_EQ(sums.is_leader().sum().item<int64_t>(), 3);  // rows 1, 4 and 5
  }
}

TEST_F(RowAdderTest, rows_that_are_all_padding_are_known_as_such) {
  LookupGradient rows{.height = 3, .width = 1};
  rows.pieces.push_back({.ids = at::tensor({7, 7}, at::kLong), .gradient = at::ones({2, 1}), .skip_id = 7});
  RowAdder adder;
  const SummedRows sums = adder.add_up(rows);
  EXPECT_FALSE(sums.any.item<bool>());
  EXPECT_EQ(sums.sums.abs().sum().item<float>(), 0);
  EXPECT_FALSE(adder.add_up(sums.as_gradient(rows)).any.item<bool>());
}

}  // namespace
}  // namespace argosy::engine
