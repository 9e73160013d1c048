#include "argosy/table/dense_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace argosy::table {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<DenseTable> make(DenseSpec spec) {
  auto table = DenseTable::make(std::move(spec));
  EXPECT_TRUE(table.ok()) << table.status().to_string();
  return std::move(table).value();
}

std::vector<float> value_of(const DenseTable& table) {
  std::vector<float> out(table.size());
  EXPECT_EQ(table.copy_out(out), Status());
  return out;
}

TEST(DenseTable, TheFirstValueStays) {
  const auto table = make({.name = "w", .size = 2});
  EXPECT_FALSE(table->initialised());
  std::vector<float> out(2);
  EXPECT_EQ(table->copy_out(out).code(), Code::failed_precondition);
  EXPECT_EQ(table->apply(1, out).code(), Code::failed_precondition);
  EXPECT_TRUE(table->set_if_absent(std::vector<float>{1, 2}).value());
  EXPECT_FALSE(table->set_if_absent(std::vector<float>{3, 4}).value());
  EXPECT_THAT(value_of(*table), ElementsAre(1, 2));
  EXPECT_EQ(table->set(std::vector<float>{5, 6}), Status());
  EXPECT_THAT(value_of(*table), ElementsAre(5, 6));
}

// Of large parts it is reckoned from elements that are spread over them.
TEST(DenseTable, HasANorm) {
  const auto table = make({.name = "w", .size = 4'000});
  EXPECT_FALSE(table->norm(100).has_value()) << "it has no value yet";
  std::vector<float> value(4'000, 2);
  value[0] = 0;
  ASSERT_TRUE(table->set(value).ok());
  EXPECT_NEAR(*table->norm(4'000), std::sqrt(4.0 * 3'999), 1e-6);
  EXPECT_NEAR(*table->norm(100), std::sqrt(4.0 * 4'000), 1.0);
}

// A block is updated as optim says, penalty first, and a copy made by bytes goes on as the original does.
TEST(DenseTable, StepsAsTheRuleAndSoDoesItsCopy) {
  const DenseSpec spec{.name = "w", .size = 3, .rule = "adam", .regularization = optim::L2Decay{0.1}};
  const auto table = make(spec);
  const auto rule = *optim::make_rule("adam");
  std::vector<float> value = {1, -2, 3}, first(3), second(3), scalars = rule->initial_scalars();
  ASSERT_TRUE(table->set_if_absent(value).value());
  float* states[] = {first.data(), second.data()};
  const std::vector<float> gradient = {0.5f, 0.25f, -1};
  const auto expect_step = [&](DenseTable& on) {
    ASSERT_EQ(on.apply(0.01f, gradient), Status());
    EXPECT_EQ(value_of(on), value);
  };
  const auto step = [&] {
    std::vector<float> penalised = gradient;
    optim::regularize(*spec.regularization, value, penalised);
    rule->apply(rule->begin_step(0.01f, scalars), value.data(), penalised.data(), states, 3);
  };
  for (int i = 0; i < 3; ++i) {
    step();
    expect_step(*table);
  }
  const auto copy = make(spec);
  ASSERT_EQ(copy->import_bytes(table->export_bytes()), Status());
  EXPECT_EQ(copy->steps(), 3u);
  step();
  expect_step(*table);
  expect_step(*copy);
  EXPECT_EQ(copy->export_bytes(), table->export_bytes());
}

TEST(DenseTable, RefusesOtherShapesAndDamage) {
  const auto table = make({.name = "w", .size = 2, .rule = "momentum", .hyper_parameters = {{"mu", 0.9f}}});
  ASSERT_EQ(table->set(std::vector<float>{1, 2}), Status());
  const std::string bytes = table->export_bytes();
  EXPECT_EQ(table->import_bytes(std::string_view(bytes).substr(0, bytes.size() - 1)).code(), Code::data_loss);
  EXPECT_EQ(table->import_bytes("").code(), Code::data_loss);
  const auto other = make({.name = "v", .size = 2});
  EXPECT_THAT(other->import_bytes(bytes).message(), HasSubstr("another model or optimizer"));
  EXPECT_THAT(table->apply(1, std::vector<float>(3)).message(), HasSubstr("table 'w' has 2 elements, 3 were given"));
  EXPECT_EQ(table->add(std::vector<float>(2)).code(), Code::failed_precondition);
  EXPECT_THAT(value_of(*table), ElementsAre(1, 2));
}

TEST(DenseTable, AddsTheDifferencesOfSeveralThreads) {
  const auto table = make({.name = "w", .size = 100, .mode = Mode::geo});
  ASSERT_EQ(table->set(std::vector<float>(100, 0)), Status());
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(table->add(std::vector<float>(100, 1)), Status());
    });
  }
  threads.clear();
  for (const float x : value_of(*table)) EXPECT_EQ(x, 150);
  EXPECT_EQ(table->steps(), 150u);
  EXPECT_EQ(table->apply(1, std::vector<float>(100)).code(), Code::failed_precondition);
}

}  // namespace
}  // namespace argosy::table
