#include "argosy/ps/communicator/clipper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "argosy/ps/client/cluster_test.h"

namespace argosy::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

JobSpec two_tables(Mode mode) { return {.mode = mode, .workers = 1, .tables = {dense_table("w", 2), sparse_table("emb", 2)}}; }

class ClipperTest : public ::testing::Test {
 protected:
  static std::string refusal(const JobSpec& spec, const CommunicatorOptions& options) {
    return Clipper::make(spec, options).status().message();
  }
  // A batch with the gradients (3, 4) of w and (0, 12) of a row of emb.
  GradientCopy batch(const JobSpec& spec) const {
    const DenseGradient dense{.table = 0, .values = dense_};
    const RowGradients rows{.table = 1, .keys = keys_, .values = values_.data()};
    GradientCopy copy;
    copy.assign(spec, {.batch_id = 1, .dense = std::span(&dense, 1), .rows = std::span(&rows, 1)});
    return copy;
  }
  static std::vector<float> of(GradientCopy& gradients, int table) {
    const auto values = gradients.values(table);
    return {values.begin(), values.end()};
  }

  const std::vector<float> dense_{3, 4}, values_{0, 12};
  const std::vector<uint64_t> keys_{7};
};

TEST_F(ClipperTest, WithoutLimitsNothingIsDone) {
  const JobSpec spec = two_tables(Mode::async);
  const auto clipper = Clipper::make(spec, {});
  ASSERT_TRUE(clipper.ok());
  EXPECT_FALSE(clipper->clips_batches());
  GradientCopy gradients = batch(spec);
  clipper->clip(gradients);
  EXPECT_THAT(of(gradients, 0), ElementsAre(3, 4));
}

// By the global norm: tables of a group shrink by one factor.
TEST_F(ClipperTest, TablesOfAGroupShareOneNorm) {
  const JobSpec spec = two_tables(Mode::async);
  const auto clipper = Clipper::make(spec, {.norm_clips = {{.group = "all", .clip_norm = 6.5f, .tables = {0, 1}}}});
  ASSERT_TRUE(clipper.ok()) << clipper.status().message();
  EXPECT_TRUE(clipper->clips_batches());
  GradientCopy gradients = batch(spec);
  clipper->clip(gradients);  // the norm is 13
  EXPECT_THAT(of(gradients, 0), ElementsAre(1.5f, 2));
  EXPECT_THAT(of(gradients, 1), ElementsAre(0, 6));
}

TEST_F(ClipperTest, ANormWithinTheLimitStaysToTheBit) {
  const JobSpec spec = two_tables(Mode::geo);
  const auto clipper = Clipper::make(spec, {.norm_clips = {{.group = "w", .clip_norm = 5, .tables = {0}}}});
  GradientCopy gradients = batch(spec);
  clipper->clip(gradients);
  EXPECT_THAT(of(gradients, 0), ElementsAre(3, 4));
  EXPECT_THAT(of(gradients, 1), ElementsAre(0, 12)) << "not in the group";
}

TEST_F(ClipperTest, ValuesAreLimitedBeforeNorms) {
  const JobSpec spec = two_tables(Mode::half_async);
  const auto clipper = Clipper::make(spec, {.norm_clips = {{.group = "w", .clip_norm = 1, .tables = {0}}},
                                            .value_clips = {{.table = 0, .clip = {.min = 0, .max = 3}}}});
  ASSERT_TRUE(clipper.ok()) << clipper.status().message();
  GradientCopy gradients = batch(spec);
  clipper->clip(gradients);  // (3, 3), whose norm is the root of 18
  EXPECT_NEAR(of(gradients, 0)[0], 0.70710678f, 1e-6);
  EXPECT_NEAR(of(gradients, 0)[1], 0.70710678f, 1e-6);
}

// In sync mode the servers know the norm of the step, and a worker makes the factors of it.
TEST_F(ClipperTest, FactorsOfASyncStep) {
  JobSpec spec = two_tables(Mode::sync);
  spec.tables[0].clip_group = "a";
  spec.tables[1].clip_group = "b";
  const auto clipper = Clipper::make(
      spec, {.norm_clips = {{.group = "b", .clip_norm = 2, .tables = {1}}, {.group = "a", .clip_norm = 10, .tables = {0}}}});
  ASSERT_TRUE(clipper.ok()) << clipper.status().message();
  EXPECT_FALSE(clipper->clips_batches());
  const StepNorm norms[] = {{"a", 25}, {"b", 16}};
  const auto factors = clipper->factors(norms);
  ASSERT_EQ(factors.size(), 2u);
  EXPECT_EQ(factors[0].group, "a");
  EXPECT_EQ(factors[0].factor, 1.0f);
  EXPECT_EQ(factors[1].factor, 0.5f);
}

TEST_F(ClipperTest, LimitsThatAreNoneAreRefused) {
  const JobSpec spec = two_tables(Mode::async);
  for (const float norm : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THAT(refusal(spec, {.norm_clips = {{.group = "g", .clip_norm = norm, .tables = {0}}}}),
                HasSubstr("clip group 'g': clip_norm is"));
  }
  EXPECT_THAT(refusal(spec, {.norm_clips = {{.group = "g", .clip_norm = 1, .tables = {5}}}}),
              HasSubstr("clip group 'g' names table 5 of a job with 2 tables"));
  EXPECT_THAT(refusal(spec, {.value_clips = {{.table = -1, .clip = {.min = 0, .max = 1}}}}),
              HasSubstr("value_clips names table -1"));
  EXPECT_THAT(refusal(spec, {.value_clips = {{.table = 0, .clip = {.min = 1, .max = 0}}}}),
              HasSubstr("the maximum is below the minimum"));
}

// Workers and servers must mean the same groups, or a step would be scaled by halves.
TEST_F(ClipperTest, GroupsThatServersHaveOtherwiseAreRefused) {
  JobSpec spec = two_tables(Mode::sync);
  spec.tables[0].clip_group = "a";
  EXPECT_THAT(refusal(spec, {}), HasSubstr("clip group 'a' of the job has no clip_norm"));
  EXPECT_THAT(refusal(spec, {.norm_clips = {{.group = "a", .clip_norm = 1, .tables = {0, 1}}}}),
              HasSubstr("table 'emb' is in the worker's clip group 'a' and in the servers' ''"));
  EXPECT_THAT(refusal(two_tables(Mode::sync), {.value_clips = {{.table = 0, .clip = {.min = 0, .max = 1}}}}),
              HasSubstr("value_clips is for the other modes"));
}

}  // namespace
}  // namespace argosy::ps
