// Predictors whose parameters come from a source in place of files.
#include "argosy/serve/predict/live_parameters.h"

#include <gtest/gtest.h>

#include <atomic>

#include "argosy/base/clock.h"
#include "argosy/serve/predict/saved_model_test.h"

namespace argosy::serve {
namespace {

// The parameters of a saved model, times a factor, by the names of a job's tables; goes away when it is told to.
class FakeSource final : public ParameterSource {
 public:
  FakeSource(SavedModel& model, std::vector<Table> tables) : tables_(std::move(tables)) {
    for (const Table& table : tables_) values_.push_back(model.parameter(table.name).clone());
  }

  const std::vector<Table>& tables() const override { return tables_; }
  Status pull_rows(size_t table, std::span<const uint64_t> keys, std::span<float> rows) override {
    RETURN_IF_ERROR(answers());
    const size_t width = tables_[table].width;
    const float* values = values_[table].const_data_ptr<float>();
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = factor_ * values[keys[i / width] * width + i % width];
    ++pulls_;
    return {};
  }
  Status pull_dense(size_t table, std::span<float> values) override {
    RETURN_IF_ERROR(answers());
    for (size_t i = 0; i < values.size(); ++i) values[i] = factor_ * values_[table].const_data_ptr<float>()[i];
    ++dense_pulls_;
    return {};
  }
  Result<std::vector<Origin>> origins() override {
    RETURN_IF_ERROR(answers());
    return std::vector<Origin>{{.address = "here:1", .version = version_, .text = "a fake"}};
  }

  void train(float factor) {
    factor_ = factor;
    ++version_;
  }
  std::atomic<bool> away = false;
  std::atomic<int> pulls_ = 0, dense_pulls_ = 0;

 private:
  Status answers() const { return away ? Status::unavailable("here:1 was not there for 2 s") : Status(); }

  const std::vector<Table> tables_;
  std::vector<at::Tensor> values_;
  std::atomic<float> factor_ = 1;
  std::atomic<uint64_t> version_ = 1;
};

constexpr const char* kDense = "fc_0.w_0";

std::shared_ptr<FakeSource> source_of(SavedModel& saved) {
  return std::make_shared<FakeSource>(
      saved, std::vector<ParameterSource::Table>{{.name = kDense, .sparse = false, .size = 35, .width = 0},
                                                 {.name = "table", .sparse = true, .size = 0, .width = 4}});
}

Result<Predictor> open(const fs::path& model, std::shared_ptr<ParameterSource> source) {
  return Predictor::open(model, {.source = std::move(source), .refresh_seconds = 0.01});
}

at::Tensor predict(const Predictor& predictor, const Inputs& inputs) {
  return to_torch(value_or_throw(predictor.run(inputs))[0]);
}

template <typename Condition>
bool comes_true(const Condition& condition) {
  const Deadline deadline = Deadline::after_seconds(20);
  while (!condition())
    if (deadline.passed()) return false;
  return true;
}

// What is in the source is not looked for in the files, and counts where both have it.
TEST(LiveParameters, TakeThePlaceOfFiles) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  fs::remove(folder / "model/table");
  fs::remove((folder / "model") / kDense);
  const Inputs inputs = batch_of(5);
  const at::Tensor expected = saved.expected(inputs);
  const auto without = Predictor::open(folder / "model");
  EXPECT_FALSE(without.ok());
  const auto predictor = open(folder / "model", source_of(saved));
  ASSERT_TRUE(predictor.ok()) << predictor.status().message();
  EXPECT_TRUE(at::equal(predict(*predictor, inputs), expected));
  const auto parameters = predictor->parameters();
  ASSERT_TRUE(parameters.ok());
  EXPECT_TRUE(at::equal(to_torch(parameters->at("table")), saved.parameter("table")));
  EXPECT_TRUE(at::equal(to_torch(parameters->at(kDense)), saved.parameter(kDense)));
  ASSERT_EQ(predictor->origins().size(), 1u);
  EXPECT_EQ(predictor->origins()[0].address, "here:1");
}

TEST(LiveParameters, AreTakenFromTheSourceAlsoWhereOneFileHasAll) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model", "__model__", "__params__");
  auto source = source_of(saved);
  source->train(3);
  const auto predictor = open(folder / "model", source);
  ASSERT_TRUE(predictor.ok()) << predictor.status().message();
  EXPECT_TRUE(at::equal(to_torch(predictor->parameters()->at("table")), saved.parameter("table") * 3));
}

// The rows are those of a table of any size: one call must not be able to take all memory.
TEST(LiveParameters, AreNotReadWholeAboveALimit) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  auto source = source_of(saved);
  const auto predictor = value_or_throw(open(folder / "model", source));
  EXPECT_TRUE(predictor.parameters(20 * 4 * sizeof(float)).ok());
  const int pulled = source->pulls_;
  const auto refused = predictor.parameters(20 * 4 * sizeof(float) - 1);
  EXPECT_EQ(refused.status().code(), Code::resource_exhausted);
  EXPECT_NE(refused.status().message().find("have 320 bytes, and 319 may be read at once"), std::string::npos)
      << refused.status().message();
  EXPECT_EQ(source->pulls_, pulled);
}

// Rows at once, dense parameters with the next look.
TEST(LiveParameters, FollowTheSource) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  auto source = source_of(saved);
  const auto predictor = value_or_throw(open(folder / "model", source));
  const Inputs inputs = batch_of(5);
  const at::Tensor before = predict(predictor, inputs);
  source->train(2);
  saved.parameter("table").mul_(2);
  saved.parameter(kDense).mul_(2);
  const at::Tensor expected = saved.expected(inputs);
  EXPECT_FALSE(at::equal(before, expected));
  EXPECT_TRUE(comes_true([&] { return at::equal(predict(predictor, inputs), expected); }));
  EXPECT_EQ(predictor.origins()[0].version, 2u);
  const int pulled = source->dense_pulls_;
  EXPECT_TRUE(comes_true([&] { return predictor.ready().ok(); }));
  EXPECT_EQ(source->dense_pulls_, pulled);  // nothing is copied while the version stays
}

TEST(LiveParameters, PredictNothingWhileTheSourceIsAway) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  auto source = source_of(saved);
  const auto predictor = value_or_throw(open(folder / "model", source));
  source->away = true;
  ASSERT_TRUE(comes_true([&] { return !predictor.ready().ok(); }));
  const auto refused = predictor.run(batch_of(2));
  EXPECT_EQ(refused.status().code(), Code::unavailable);
  EXPECT_NE(refused.status().message().find("here:1 was not there"), std::string::npos) << refused.status().message();
  source->away = false;
  EXPECT_TRUE(comes_true([&] { return predictor.run(batch_of(2)).ok(); }));
}

TEST(LiveParameters, OfAnotherShapeOrAnotherModelAreRefusedByName) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  const auto refusal = [&](std::vector<ParameterSource::Table> tables) {
    return open(folder / "model", std::make_shared<FakeSource>(saved, std::move(tables))).status().message();
  };
  EXPECT_EQ(refusal({{.name = "table", .sparse = true, .size = 0, .width = 5}}),
            "parameter 'table' has shape [20, 4] in the model, and rows of 5 in the job");
  EXPECT_EQ(refusal({{.name = kDense, .sparse = false, .size = 36, .width = 0}}),
            "parameter 'fc_0.w_0' has shape [7, 5] in the model, and 36 elements in the job");
  EXPECT_NE(refusal({}).find("none of the model's parameters"), std::string::npos);
}

}  // namespace
}  // namespace argosy::serve
