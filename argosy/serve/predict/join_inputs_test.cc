#include "argosy/serve/predict/join_inputs.h"

#include <gtest/gtest.h>

namespace argosy::serve {
namespace {

Inputs sample(std::vector<std::vector<int64_t>> ids, std::vector<float> x) {
  const auto count = static_cast<int64_t>(x.size());
  return {{"ids", Tensor::sequences(ids)}, {"x", Tensor::copy_of(x, {count, 1})}};
}

TEST(Batch, SamplesOfSeveralRequestsStandBehindEachOther) {
  const Inputs one = sample({{1, 2}, {}}, {0.5f, 1}), other = sample({{3}}, {2}), empty = sample({}, {});
  const Inputs* parts[] = {&one, &empty, &other};
  const Inputs joined = join(parts);
  EXPECT_EQ(joined.at("ids").lod, (std::vector<std::vector<int64_t>>{{0, 2, 2, 3}}));
  const auto ids = joined.at("ids").values<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(ids.begin(), ids.end()), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(joined.at("x").shape, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(joined.at("x").values<float>()[2], 2);
}

TEST(Batch, OnlyWhatIsAlikeIsJoined) {
  const Inputs one = sample({{1}}, {1});
  EXPECT_TRUE(can_join(one, sample({{1, 2}, {3}}, {1, 2})));
  Inputs wider = one, other_type = one, no_sequences = one, more = one;
  wider["x"] = Tensor::copy_of(std::vector<float>{1, 2}, {1, 2});
  other_type["x"] = Tensor::copy_of(std::vector<double>{1}, {1, 1});
  no_sequences["ids"].lod.clear();
  more["y"] = one.at("x");
  for (const Inputs& other : {wider, other_type, no_sequences, more}) EXPECT_FALSE(can_join(one, other));
}

// Each part gets its own rows back: of a plain output, and of one with two levels of sequences.
TEST(Batch, OutputsAreDividedAsTheRequestsWere) {
  const Tensor plain = Tensor::copy_of(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor nested = Tensor::copy_of(std::vector<float>{1, 2, 3, 4}, {4, 1}, {{0, 1, 1, 3}, {0, 2, 3, 4}});
  const int64_t samples[] = {1, 2};
  const auto parts = split({{.name = "plain"}, {.name = "nested"}}, {plain, nested}, samples);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  EXPECT_EQ((*parts)[0][0].shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ((*parts)[1][0].values<float>()[0], 3);
  EXPECT_EQ((*parts)[0][1].lod, (std::vector<std::vector<int64_t>>{{0, 1}, {0, 2}}));
  EXPECT_EQ((*parts)[1][1].lod, (std::vector<std::vector<int64_t>>{{0, 0, 2}, {0, 1, 2}}));
  EXPECT_EQ((*parts)[1][1].values<float>()[0], 3);
}

TEST(Batch, AMeanOverTheBatchCannotBeDivided) {
  const int64_t samples[] = {2, 1};
  const auto parts = split({{.name = "mean"}}, {Tensor::copy_of(std::vector<float>{1}, {1})}, samples);
  ASSERT_FALSE(parts.ok());
  EXPECT_NE(parts.status().message().find("output 'mean' is float32 [1] for 3 samples"), std::string::npos)
      << parts.status().message();
}

}  // namespace
}  // namespace argosy::serve
