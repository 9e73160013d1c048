#include "argosy/ps/communicator/geo_dense.h"

#include <gtest/gtest.h>

#include <cmath>

namespace argosy::ps {
namespace {

class GeoDenseTest : public testing::Test {
 protected:
  void SetUp() override { dense_.begin(values_, *rule_); }

  void train(const std::vector<float>& gradient, std::vector<Range> wanted = {{0, 4}},
             const std::optional<optim::Regularization>& regularization = {}) {
    dense_.train(gradient, wanted, rule_->begin_step(1, {}), regularization);
  }
  void receive(const std::vector<float>& servers) {
    std::ranges::copy(servers, dense_.received().begin());
    dense_.receive();
  }

  const std::unique_ptr<optim::Rule> rule_ = *optim::make_rule("sgd");
  std::vector<float> values_{1, 2, 3, 4};  // the program's
  GeoDense dense_;
  std::vector<float> differences_;
};

TEST_F(GeoDenseTest, TrainsTheProgramsOwnMemory) {
  train({1, 1, 1, 1});
  EXPECT_EQ(values_, (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(dense_.unsent(), 4);
}

// A server that has a batch already holds its part of the step: that part is not trained again.
TEST_F(GeoDenseTest, TrainsTheWantedPartsOnly) {
  train({1, 1, 1, 1}, {{0, 1}, {3, 4}});
  EXPECT_EQ(values_, (std::vector<float>{0, 2, 3, 3}));
}

// Adagrad's accumulators follow the wanted parts, and are not among what is sent or received.
TEST_F(GeoDenseTest, TheRulesStatesAreOfTheirElementsUntilForgotten) {
  const auto rule = *optim::make_rule("adagrad", {{"epsilon", 0.0f}});
  dense_.begin(values_, *rule);
  const auto train = [&](std::vector<Range> wanted) {
    dense_.train(std::vector<float>{3, 3, 3, 3}, wanted, rule->begin_step(1, {}), {});
  };
  train({{0, 2}});
  EXPECT_EQ(values_, (std::vector<float>{0, 1, 3, 4}));
  dense_.settle(values_);
  receive(values_);
  train({{1, 3}});
  EXPECT_FLOAT_EQ(values_[1], 1 - 1 / std::sqrt(2.0f)) << "its second step";
  EXPECT_EQ(values_[2], 2) << "its first";
  EXPECT_EQ(values_[3], 4);
  dense_.forget_states();
  train({{0, 1}});
  EXPECT_EQ(values_[0], -1);
}

TEST_F(GeoDenseTest, DecaysByTheValuesOfThePart) {
  train({0, 0, 0, 0}, {{2, 4}}, optim::Regularization{.kind = optim::Regularization::l2, .coeff = 0.5f});
  EXPECT_EQ(values_, (std::vector<float>{1, 2, 1.5f, 2}));
}

// What is sent is this worker's share; the rest stays unsent and goes with the next differences.
TEST_F(GeoDenseTest, SendsItsShareAndKeepsTheRest) {
  train({-4, -4, -4, -4});
  dense_.collect(0.25f, differences_);
  EXPECT_EQ(differences_, (std::vector<float>{1, 1, 1, 1}));
  EXPECT_EQ(dense_.unsent(), 4 * 3);
  dense_.collect(1, differences_);
  EXPECT_EQ(differences_, (std::vector<float>{3, 3, 3, 3}));
  EXPECT_EQ(dense_.unsent(), 0);
}

TEST_F(GeoDenseTest, ReceivesOthersChangesAndKeepsTheUnsentPart) {
  train({-1, 0, 0, 0});
  receive({11, 12, 13, 14});
  EXPECT_EQ(values_, (std::vector<float>{12, 12, 13, 14}));
  EXPECT_EQ(dense_.unsent(), 1);
}

// Sums of floats in another order would leave a difference in the last bits for ever.
TEST_F(GeoDenseTest, WithNothingUnsentItBecomesTheServersToTheBit) {
  const std::vector<float> servers{0.1f, 1e-8f, 3e7f, -0.3f};
  receive(servers);
  EXPECT_EQ(values_, servers);
  EXPECT_EQ(dense_.unsent(), 0);
}

TEST_F(GeoDenseTest, WhatTheServersWereGivenIsNotSent) {
  values_ = {5, 6, 7, 8};
  dense_.settle(values_);
  dense_.collect(1, differences_);
  EXPECT_EQ(differences_, std::vector<float>(4, 0));
}

TEST(GeoDense, ASparseTablesIsEmpty) {
  GeoDense none;
  std::vector<float> differences{1};
  none.collect(1, differences);
  EXPECT_TRUE(differences.empty());
  EXPECT_EQ(none.unsent(), 0);
}

}  // namespace
}  // namespace argosy::ps
