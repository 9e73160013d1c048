#include "argosy/engine/train/training_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "argosy/base/error.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/backward.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/minimize.h"
#include "argosy/observe/metrics.h"

namespace argosy::engine {
namespace {

namespace L = argosy::layers;

TEST(Measures, AreTheLossAndTheAucOverAllBatches) {
  const auto main = graph::Program::create(), startup = graph::Program::create();
  const graph::ProgramGuard programs(main, startup);
  const graph::UniqueNameGuard names;
  EXPECT_TRUE(measures_of(*main).empty());
  const Variable x = L::data("x", {4}), label = L::data("label", {1}, kInt64);
  const Variable predict = L::fc(x, 2, {.act = "softmax"});
  const Variable loss = L::mean(L::cross_entropy(predict, label));
  const auto auc = L::auc(predict, label);
  graph::minimize(optim::SGD{.learning_rate = 1.0}, loss);
  const auto measures = measures_of(*main);
  ASSERT_EQ(measures.size(), 2);
  EXPECT_EQ(measures[0].name, "loss");
  EXPECT_EQ(measures[0].variable, loss.name());
  EXPECT_EQ(measures[1].name, "auc");
  EXPECT_EQ(measures[1].variable, auc.value.name());
  const auto test = measures_of(*main->clone(true));
  ASSERT_EQ(test.size(), 1);
  EXPECT_EQ(test[0].name, "auc");
}

TEST(Measures, ALossThatIsScaledIsShownAsItIs) {
  const auto main = graph::Program::create(), startup = graph::Program::create();
  const graph::ProgramGuard programs(main, startup);
  const graph::UniqueNameGuard names;
  const Variable loss = L::mean(L::fc(L::data("x", {4}), 2)), factor = L::fill_constant({1}, kFloat32, 8);
  const auto pairs = graph::append_backward(L::elementwise_mul(loss, factor));
  EXPECT_NE(measures_of(*main)[0].variable, loss.name()) << "a script's own factor is a part of its loss";
  graph::OpDesc unscale{.type = "check_finite_and_unscale"};
  unscale.inputs = {{"Scale", {factor.name()}}, {"X", {pairs[0].grad.name(), pairs[1].grad.name()}}};
  unscale.outputs = {{"Out", *unscale.inputs.find("X")}, {"FoundInfinite", {"found"}}};
  main->global_block().put_var({.name = "found"});
  value_or_throw(main->global_block().append_op(std::move(unscale)));
  EXPECT_EQ(measures_of(*main)[0].variable, loss.name());
}

TEST(TrainingMetrics, CountWhatWasTrained) {
  const auto read = [](const std::string& name) {
    const auto samples = observe::parse_samples(observe::Registry::process().brief());
    for (const observe::Sample& sample : *samples) {
      if (sample.name == name) return sample.value;
    }
    return 0.0;
  };
  const double samples = read("argosy_worker_samples_total"), batches = read("argosy_worker_batches_total");
  const double steps = read("argosy_worker_step_seconds_count");
  count_batch(32, 0.5, 0.25);
  EXPECT_EQ(read("argosy_worker_samples_total"), samples + 32);
  EXPECT_EQ(read("argosy_worker_batches_total"), batches + 1);
  EXPECT_EQ(read("argosy_worker_step_seconds_count"), steps + 1);
  set_measure("loss", 0.75);
  EXPECT_EQ(read("argosy_worker_measure"), 0.75);
  set_pass_ratio(0.5);
  EXPECT_EQ(read("argosy_worker_pass_ratio"), 0.5);
  set_pass_ratio(std::nullopt);
  EXPECT_TRUE(std::isnan(read("argosy_worker_pass_ratio")));
}

}  // namespace
}  // namespace argosy::engine
