#include "argosy/serve/predict/sample_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "argosy/serve/predict/saved_model_test.h"

namespace argosy::serve {
namespace {

// What is drawn can be predicted on, and is the same for the same seed; ids stay below the height of their table (20).
TEST(SampleInputs, AModelTakesThem) {
  const SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  const auto predictor = value_or_throw(Predictor::open(folder / "model"));
  for (const int64_t samples : {1, 50}) {
    const Inputs inputs = value_or_throw(sample_inputs(predictor, samples, 3));
    const auto outputs = predictor.run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ((*outputs)[0].shape[0], samples);
    EXPECT_EQ(value_or_throw(count_samples(predictor.inputs(), inputs)), samples);
  }
  const Inputs one = value_or_throw(sample_inputs(predictor, 50, 3)), same = value_or_throw(sample_inputs(predictor, 50, 3)),
               other = value_or_throw(sample_inputs(predictor, 50, 4));
  const auto values = [](const Inputs& inputs) { return to_torch(inputs.at("x")); };
  EXPECT_TRUE(at::equal(values(one), values(same)));
  EXPECT_FALSE(at::equal(values(one), values(other)));
  const auto ids = one.at("ids").values<int64_t>();
  EXPECT_GT(*std::max_element(ids.begin(), ids.end()), 10);
  EXPECT_LT(*std::max_element(ids.begin(), ids.end()), 20);
}

}  // namespace
}  // namespace argosy::serve
