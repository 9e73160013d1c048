#include "argosy/fleet/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/base/error.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/minimize.h"
#include "argosy/graph/wire.h"

namespace argosy::fleet {
namespace {

namespace L = argosy::layers;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Pair;

// A table "emb" of 100 x 4 and two fc layers, trained by whatever optimizer a test gives.
class PlanTest : public ::testing::Test {
 protected:
  PlanTest() : main_(graph::Program::create()), startup_(graph::Program::create()), programs_(main_, startup_) {}

  Variable network(graph::Initializer rows = graph::uniform_initializer(-0.5f, 0.5f)) {
    const Variable id = L::data("id", {1}, kInt64), label = L::data("label", {1});
    ParamAttr table("emb");
    table.initializer = rows;
    const Variable row = L::embedding(id, {100, 4}, {.is_sparse = true, .param = table});
    return L::mean(L::square_error_cost(L::fc(L::fc(row, 3, {.act = "relu"}), 1), label));
  }
  Result<Plan> plan(const optim::Optimizer& optimizer, ps::Mode mode = ps::Mode::sync) {
    graph::minimize(optimizer, network());
    return make_plan(*main_, *startup_, mode, 2);
  }
  static const ps::TableSpec& table(const Plan& plan, const std::string& name) {
    for (const ps::TableSpec& table : plan.spec.tables) {
      if (table.name == name) return table;
    }
    throw std::runtime_error("no table " + name);
  }
  static std::vector<std::string> types(const graph::Block& block) {
    std::vector<std::string> all;
    for (const auto& op : block.ops()) all.push_back(op->type);
    return all;
  }

  std::shared_ptr<graph::Program> main_, startup_;
  graph::ProgramGuard programs_;
  graph::UniqueNameGuard names_;
};

TEST_F(PlanTest, SparseLookupsMakeRowTablesAndTheRestIsDense) {
  const Plan result = value_or_throw(plan(optim::Adam{.learning_rate = 0.01, .beta1 = 0.8}));
  ASSERT_EQ(result.spec.tables.size(), 5u);
  const ps::TableSpec& rows = table(result, "emb");
  EXPECT_TRUE(rows.sparse);
  EXPECT_EQ(rows.width, 4u);
  EXPECT_EQ(rows.declared_rows, 100u);
  EXPECT_EQ(rows.initializer.kind, ps::RowInitializer::Kind::uniform);
  EXPECT_EQ(rows.initializer.a, -0.5f);
  EXPECT_EQ(rows.rule, "adam");
  EXPECT_EQ(rows.hyper_parameters.at("beta1"), 0.8f);
  EXPECT_EQ(rows.schedule.value(7), 0.01f);
  EXPECT_EQ(table(result, "fc_0.w_0").size, 12u);
  EXPECT_EQ(result.states.at("fc_0.w_0_moment1_0").slot, 0u);
  EXPECT_EQ(result.variables().at("emb").kind, engine::RemoteVariable::rows);
  EXPECT_EQ(result.variables().at("fc_1.b_0").kind, engine::RemoteVariable::dense);
  EXPECT_EQ(result.learning_rate, "learning_rate_0");
}

// Two losses that share no parameters, as those of a generator and its critic: each table by the rule of its own optimizer.
TEST_F(PlanTest, EachOptimizerOfAProgramHasItsParameters) {
  const Variable x = L::data("x", {4});
  const Variable made = L::fc(x, 4, {.param = "maker", .bias = ParamAttr::none()});
  const Variable judged = L::mean(L::fc(made, 1, {.param = "critic", .bias = ParamAttr::none()}));
  graph::minimize(optim::SGD{.learning_rate = 0.1}, judged, {.parameter_list = {"maker"}});
  graph::minimize(optim::Adam{.learning_rate = 0.5}, L::scale(judged, -1), {.parameter_list = {"critic"}});
  const Plan result = value_or_throw(make_plan(*main_, *startup_, ps::Mode::sync, 2));
  EXPECT_EQ(table(result, "maker").rule, "sgd");
  EXPECT_EQ(table(result, "maker").schedule.value(0), 0.1f);
  EXPECT_EQ(table(result, "critic").rule, "adam");
  EXPECT_EQ(table(result, "critic").schedule.value(0), 0.5f);
  EXPECT_NE(result.gradients[0], result.gradients[1]);
  EXPECT_EQ(result.learning_rate, "") << "a script that changes one of the rates cannot say whose it is";
  EXPECT_THAT(result.own_rates, ElementsAre(Pair("learning_rate_0", Eq(0.1f)), Pair("learning_rate_1", Eq(0.5f))));
}

TEST_F(PlanTest, AParameterOfTwoOptimizersIsRefused) {
  const Variable loss = network();
  graph::minimize(optim::Adam{.learning_rate = 0.1}, loss);
  graph::minimize(optim::SGD{.learning_rate = 0.1}, loss, {.parameter_list = {"fc_1.b_0"}});
  const Status refused = make_plan(*main_, *startup_, ps::Mode::sync, 2).status();
  EXPECT_EQ(refused.code(), Code::unimplemented);
  EXPECT_THAT(refused.message(), HasSubstr("parameter 'fc_1.b_0' has two updates in a batch, 'adam' and 'sgd'"));
}

TEST_F(PlanTest, ATablesFirstValuesAreTheSameInEveryProcess) {
  const Plan first = value_or_throw(plan(optim::SGD{.learning_rate = 0.1}));
  const auto main = graph::Program::create(), startup = graph::Program::create();
  const graph::ProgramGuard programs(main, startup);
  const graph::UniqueNameGuard names;
  graph::minimize(optim::SGD{.learning_rate = 0.1}, network());
  EXPECT_EQ(first.spec, value_or_throw(make_plan(*main, *startup, ps::Mode::sync, 2)).spec);
}

TEST_F(PlanTest, SchedulesDecayAndClippingMoveToTheServers) {
  const Plan result = value_or_throw(plan(optim::SGD{.learning_rate = optim::exponential_decay(1.0, 10, 0.5),
                                                     .regularization = optim::L2Decay{0.25},
                                                     .grad_clip = optim::GradientClipByGlobalNorm{.clip_norm = 3}}));
  const ps::TableSpec& weight = table(result, "fc_0.w_0");
  EXPECT_EQ(weight.schedule.value(10), 0.5f);
  EXPECT_EQ(weight.regularization, (optim::Regularization{optim::Regularization::l2, 0.25f}));
  EXPECT_EQ(weight.clip_group, table(result, "emb").clip_group) << "one norm over all parameters";
  ASSERT_EQ(result.norm_clips.size(), 1u);
  EXPECT_EQ(result.norm_clips[0].clip_norm, 3.0f);
  EXPECT_EQ(result.norm_clips[0].tables.size(), 5u);
  EXPECT_EQ(result.gradients[0], "emb@GRAD") << "what is sent is the gradient before clipping and decay";
}

TEST_F(PlanTest, ValuesAreClippedByTheServersInSyncModeAndByTheWorkerOtherwise) {
  const optim::SGD optimizer{.learning_rate = 0.1, .grad_clip = optim::GradientClipByValue{.max = 2}};
  graph::minimize(optimizer, network());
  const Plan sync = value_or_throw(make_plan(*main_, *startup_, ps::Mode::sync, 1));
  EXPECT_EQ(table(sync, "emb").value_clip, (ps::ValueClip{-2, 2}));
  EXPECT_TRUE(sync.value_clips.empty());
  const Plan async = value_or_throw(make_plan(*main_, *startup_, ps::Mode::async, 1));
  EXPECT_FALSE(table(async, "emb").value_clip.has_value());
  EXPECT_EQ(async.value_clips.size(), 5u);
}

TEST_F(PlanTest, AWorkersProgramsSendAndReceiveAndHoldNoTable) {
  const Plan result = value_or_throw(plan(optim::Adam{.learning_rate = 0.01}));
  ASSERT_TRUE(make_worker_programs(result, "job", *main_, *startup_).ok());
  const auto ops = types(main_->global_block());
  EXPECT_EQ(ops.back(), "send");
  EXPECT_THAT(ops, ::testing::Not(::testing::Contains("adam")));
  EXPECT_EQ(types(startup_->global_block()).back(), "recv");
  for (const auto& op : startup_->global_block().ops()) {
    for (const std::string& name : op->output_names()) {
      EXPECT_NE(name, "emb");
      EXPECT_THAT(name, ::testing::Not(HasSubstr("moment")));
    }
  }
}

TEST_F(PlanTest, AServersProgramCarriesItsPlanThroughAFile) {
  const Plan made = value_or_throw(plan(optim::Adam{.learning_rate = 0.01}));
  const auto program = make_server_program(
      made, *main_,
      {.job = "job", .endpoint = "127.0.0.1:7", .endpoints = {"127.0.0.1:6", "127.0.0.1:7"}, .settings = {{"token", "a=b"}}});
  EXPECT_THAT(program->to_string(), HasSubstr("listen_and_serv"));
  const auto read = value_or_throw(graph::parse_program(graph::serialize_program(*program)));
  const graph::OpDesc& serve = *read->global_block().ops().back();
  const Plan carried = value_or_throw(plan_of_server_program(*read, serve));
  EXPECT_EQ(carried.spec, made.spec);
  EXPECT_EQ(carried.states.size(), made.states.size());
  EXPECT_EQ(carried.states.at("emb_moment2_0").slot, made.states.at("emb_moment2_0").slot);
  EXPECT_THAT(serve.attribute_or<std::vector<std::string>>("settings", {}), ElementsAre("token=a=b"));
}

// batch_norm's running statistics are the servers': a worker sends what each batch has.
TEST_F(PlanTest, RunningStatisticsFollowTheBatchs) {
  const Variable x = L::data("x", {3});
  const Variable fixed = L::batch_norm(x, {.moving_mean_name = "fixed_mean", .use_global_stats = true});
  const Variable out = L::batch_norm(fixed, {.momentum = 0.8f, .moving_mean_name = "mean", .moving_variance_name = "variance"});
  graph::minimize(optim::SGD{.learning_rate = 0.1}, L::mean(out));
  const Plan made = value_or_throw(make_plan(*main_, *startup_, ps::Mode::geo, 1));
  for (const char* name : {"mean", "variance"}) {
    EXPECT_EQ(table(made, name).rule, "running_mean");
    EXPECT_EQ(table(made, name).hyper_parameters.at("momentum"), 0.8f);
  }
  EXPECT_EQ(table(made, "fixed_mean").rule, "sgd");
  EXPECT_FLOAT_EQ(static_cast<float>(made.first_rate()), 0.1f);
  throw_if_error(make_worker_programs(made, "job", *main_, *startup_));
  const auto& ops = main_->global_block().ops();
  EXPECT_EQ(ops[0]->outputs.find("BatchMean"), nullptr);
  EXPECT_THAT(*ops[1]->outputs.find("BatchMean"), ElementsAre("mean@GRAD"));
  EXPECT_THAT(*ops[1]->outputs.find("BatchVariance"), ElementsAre("variance@GRAD"));
  EXPECT_THAT(*ops.back()->inputs.find("X"), ::testing::IsSupersetOf({"mean@GRAD", "variance@GRAD"}));
}

// The layers of 2.x keep them in variables that only persist.
TEST_F(PlanTest, RunningStatisticsNeedNotBeParameters) {
  const Variable x = L::data("x", {3});
  const Variable out = L::batch_norm(x, {.moving_mean_name = "mean", .moving_variance_name = "variance"});
  for (const char* name : {"mean", "variance"}) main_->global_block().find_var(name)->parameter.reset();
  graph::minimize(optim::SGD{.learning_rate = 0.1}, L::mean(out));
  const Plan made = value_or_throw(make_plan(*main_, *startup_, ps::Mode::sync, 1));
  for (const char* name : {"mean", "variance"}) EXPECT_EQ(table(made, name).rule, "running_mean");
  throw_if_error(make_worker_programs(made, "job", *main_, *startup_));
  EXPECT_THAT(*main_->global_block().ops().back()->inputs.find("X"), ::testing::IsSupersetOf({"mean@GRAD", "variance@GRAD"}));
}

TEST_F(PlanTest, AParameterThatSomethingElseChangesIsNamed) {
  const Variable x = L::data("x", {3});
  const L::BatchNormOptions shared{.moving_mean_name = "mean", .moving_variance_name = "variance"};
  const Variable out = L::batch_norm(L::batch_norm(x, shared), shared);
  graph::minimize(optim::SGD{.learning_rate = 0.1}, L::mean(out));
  EXPECT_THAT(make_plan(*main_, *startup_, ps::Mode::sync, 1).status().message(),
              ::testing::AllOf(HasSubstr("'mean'"), HasSubstr("batch_norm"), HasSubstr("another before it")));
}

TEST_F(PlanTest, WhatServersCannotDoIsRefusedByName) {
  EXPECT_THAT(make_plan(*main_, *startup_, ps::Mode::sync, 1).status().message(), HasSubstr("minimize(loss)"));
  const auto refused = [&](graph::Initializer rows) {
    const auto main = graph::Program::create(), startup = graph::Program::create();
    const graph::ProgramGuard programs(main, startup);
    graph::minimize(optim::SGD{.learning_rate = 0.1}, network(std::move(rows)));
    return make_plan(*main, *startup, ps::Mode::sync, 1).status().message();
  };
  EXPECT_THAT(refused(graph::values_initializer(std::vector<float>(400, 1.0f))), HasSubstr("'emb'"));
  EXPECT_THAT(value_or_throw(plan(optim::SGD{.learning_rate = 0.1}, ps::Mode::geo)).spec.tables[0].geo, true);
}

// Moments are in each worker's copy: servers know nothing of them, and neither does what is saved.
TEST_F(PlanTest, InGeoModeAnOptimizersStateIsTheWorkers) {
  const Plan made = value_or_throw(plan(optim::Adam{.learning_rate = 0.1}, ps::Mode::geo));
  EXPECT_EQ(table(made, "emb").rule, "adam");
  EXPECT_TRUE(made.states.empty());
  EXPECT_TRUE(made.worker_states.contains("emb_moment1_0"));
  for (const std::string& name : made.persistables) EXPECT_FALSE(made.worker_states.contains(name)) << name;
  EXPECT_NE(std::ranges::find(made.persistables, "emb"), made.persistables.end());
}

TEST_F(PlanTest, GeoRefusesRulesThatNeedAWholeParameter) {
  EXPECT_THAT(plan(optim::Lamb{.learning_rate = 0.1}, ps::Mode::geo).status().message(),
              ::testing::AllOf(HasSubstr("'emb'"), HasSubstr("'lamb'"), HasSubstr("geo")));
}

TEST_F(PlanTest, EntriesSayWhichKeysGetARow) {
  const auto entry = [&](const std::string& text) -> Result<Plan> {
    const auto main = graph::Program::create(), startup = graph::Program::create();
    const graph::ProgramGuard programs(main, startup);
    const Variable id = L::data("id", {1}, kInt64);
    L::data("show", {1});
    L::data("click", {1});
    const Variable row = L::sparse_embedding(id, {100, 4}, {.entry = text, .param = ParamAttr("emb")});
    graph::minimize(optim::SGD{.learning_rate = 0.1}, L::mean(row));
    return make_plan(*main, *startup, ps::Mode::async, 1);
  };
  EXPECT_EQ(table(value_or_throw(entry("count_filter_entry:3")), "emb").admission.count, 3u);
  EXPECT_EQ(table(value_or_throw(entry("probability_entry:0.5")), "emb").admission.probability, 0.5);
  const Plan counted = value_or_throw(entry("show_click_entry:show:click"));
  EXPECT_TRUE(table(counted, "emb").show_click.enabled);
  EXPECT_EQ(counted.show_click.at(0).second, "click");
  EXPECT_THAT(entry("show_click_entry:show:clack").status().message(), HasSubstr("'clack'"));
  EXPECT_THAT(entry("sometimes:1").status().message(), HasSubstr("'sometimes:1'"));
}

}  // namespace
}  // namespace argosy::fleet
