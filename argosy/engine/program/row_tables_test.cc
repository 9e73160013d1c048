// A large table whose dense gradient is kept as rows moves as it does by the whole gradient: those that a batch has not touched,
// too.
#include "argosy/engine/program/row_tables.h"

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/engine/program/device.h"
#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/prepared.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/minimize.h"

namespace argosy::engine {
namespace {

using FedBatches = std::vector<Feed>;

constexpr int64_t kTableWidth = 64, kTableRows = kLargeTable / kTableWidth + 3;

struct TableModel {
  std::string rule = "adam";
  optim::HyperParameters hyper = {};
  std::optional<int64_t> padding_idx;
  int lookups = 1;
  int64_t rows = kTableRows;
};

struct TrainedTable {
  std::map<std::string, at::Tensor> kept;  // parameters and states
  bool by_rows = false, in_memory = false;
};

class RowTables : public CpuLayerTest {
 protected:
  // FedBatches touch rows again, some twice in one, some never, the first and the last.
  static FedBatches batches(const TableModel& model) {
    FedBatches all;
    for (int i = 0; i < 5; ++i) {
      Feed feed;
      for (int k = 0; k < model.lookups; ++k) {
        at::Tensor ids = at::randint(0, 40, {12, 1}, at::kLong) * (model.rows / 40);
        ids[0] = ids[1] = i % 2 == 0 ? 0 : model.rows - 1;
        feed["ids" + std::to_string(k)] = {.tensor = ids};
      }
      all.push_back(feed);
    }
    return all;
  }

  static Variable loss_of(const TableModel& model) {
    std::vector<Variable> parts;
    for (int k = 0; k < model.lookups; ++k) {
      const Variable ids = data("ids" + std::to_string(k), {-1, 1}, DType::int64);
      ParamAttr table("table");
      table.initializer = graph::uniform_initializer(-1, 1);
      parts.push_back(layers::embedding(ids, {model.rows, kTableWidth}, {.padding_idx = model.padding_idx, .param = table}));
    }
    return layers::mean(layers::square(layers::fc(layers::concat(parts, 1), 3, {.act = "tanh"})));
  }

  // Fetching the gradient makes it be there as a whole.
  TrainedTable train(const TableModel& model, const FedBatches& batches, bool whole) {
    auto main = graph::Program::create(), startup = graph::Program::create();
    const graph::ProgramGuard guard(main, startup);
    const graph::UniqueNameGuard names;
    const Variable loss = loss_of(model);
    graph::minimize({.rule = model.rule, .hyper_parameters = model.hyper, .learning_rate = 0.1}, loss);
    startup->random_seed = 11;
    Scope scope;
    value_or_throw(runner_.run(*startup, {}, {}, scope));
    std::vector<std::string> fetches = {loss.name()};
    if (whole) fetches.emplace_back("table@GRAD");
    for (const Feed& batch : batches) value_or_throw(runner_.run(*main, batch, fetches, scope));
    TrainedTable trained;
    for (const auto* variable : main->persistables()) trained.kept[variable->name] = scope.find(variable->name)->tensor.clone();
    const auto frame = value_or_throw(runner_.make_frame(*main, {}, fetches, scope));
    const int32_t table = frame->program().find_value("table");
    trained.by_rows = is_summed_by_rows(*frame, table, scope.find("table")->tensor);
    trained.in_memory = in_memory(scope.find("table")->tensor);
    return trained;
  }

  void expect_same(const TableModel& model, bool by_rows = true) {
    const FedBatches fed = batches(model);
    const TrainedTable whole = train(model, fed, true), rows = train(model, fed, false);
    EXPECT_FALSE(whole.by_rows);
    EXPECT_EQ(rows.by_rows, by_rows && rows.in_memory);
    ASSERT_EQ(whole.kept.size(), rows.kept.size());
    for (const auto& [name, value] : whole.kept) {
      EXPECT_TRUE(at::allclose(value, rows.kept.at(name), 1e-6, 1e-6))
          << model.rule << ": " << name << " differs by " << (value - rows.kept.at(name)).abs().max().item<float>();
    }
  }
};

TEST_F(RowTables, EveryRuleMovesUntouchedRowsAsWithTheWholeGradient) {
  for (const char* rule :
       {"sgd", "momentum", "adam", "adamw", "adamax", "adagrad", "decayed_adagrad", "rmsprop", "adadelta", "ftrl", "lamb"})
    expect_same({.rule = rule});
}

TEST_F(RowTables, SeveralLookupsOfOneTableAddUp) { expect_same({.rule = "sgd", .lookups = 3}); }

TEST_F(RowTables, PaddingGetsNoGradient) { expect_same({.padding_idx = 0}); }

TEST_F(RowTables, SmallTablesHaveTheirWholeGradient) { expect_same({.rows = 80}, false); }

// Adam moves a row for many steps after a batch has touched it.
TEST_F(RowTables, ARowThatWasTouchedOnceGoesOnMoving) {
  const TableModel model;
  FedBatches fed = batches(model);
  for (size_t i = 1; i < fed.size(); ++i) fed[i]["ids0"].tensor.fill_(5);
  const int64_t touched = fed[0].at("ids0").tensor[3].item<int64_t>();
  const at::Tensor once = train(model, {fed[0]}, false).kept.at("table")[touched];
  EXPECT_FALSE(at::equal(train(model, fed, false).kept.at("table")[touched], once));
}

// Whatever else reads the table or its gradient sees them as they always were.
TEST_F(RowTables, ATableThatIsReadElsewhereHasItsWholeGradient) {
  const Variable ids = data("ids", {-1, 1}, DType::int64);
  const Variable rows = layers::embedding(ids, {kTableRows, kTableWidth}, {.param = ParamAttr("table")});
  const Variable all(main_, main_->global_block(), *main_->global_block().find_var("table"));
  const Variable loss = layers::elementwise_add(layers::mean(layers::square(rows)), layers::mean(layers::square(all)));
  graph::minimize(optim::Adam{.learning_rate = 0.1f}, loss);
  start();
  const auto frame = value_or_throw(runner_.make_frame(*main_, {}, {}, scope_));
  EXPECT_FALSE(is_summed_by_rows(*frame, frame->program().find_value("table"), scope_.find("table")->tensor));
}

TEST_F(RowTables, AClippedGradientIsWhole) {
  const Variable ids = data("ids", {-1, 1}, DType::int64);
  const Variable loss =
      layers::mean(layers::square(layers::embedding(ids, {kTableRows, kTableWidth}, {.param = ParamAttr("table")})));
  graph::minimize(optim::Adam{.learning_rate = 0.1f, .grad_clip = optim::GradientClipByGlobalNorm{.clip_norm = 1.0}}, loss);
  start();
  const auto frame = value_or_throw(runner_.make_frame(*main_, {}, {}, scope_));
  EXPECT_FALSE(is_summed_by_rows(*frame, frame->program().find_value("table"), scope_.find("table")->tensor));
}

}  // namespace
}  // namespace argosy::engine
