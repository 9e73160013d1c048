#include "argosy/serve/predict/predictor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "argosy/base/file.h"
#include "argosy/base/thread.h"
#include "argosy/serve/predict/saved_model_test.h"

namespace argosy::serve {
namespace {

void expect_error(const Status& status, const std::string& part) {
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

// Every form that a model is saved in predicts what the program it was saved from computes.
TEST(Predictor, EveryFormOfAModelPredictsTheSame) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "files");
  saved.save(folder / "combined", "__model__", "__params__");
  saved.save(folder / "named", "model", "params");
  saved.save(folder / "second", "net.pdmodel", "net.pdiparams");
  const Inputs inputs = batch_of(5);
  const at::Tensor expected = saved.expected(inputs);
  for (const char* path : {"files", "files/__model__", "combined", "named", "second", "second/net", "second/net.pdmodel"}) {
    const auto predictor = Predictor::open(folder / path);
    ASSERT_TRUE(predictor.ok()) << path << ": " << predictor.status().message();
    const auto outputs = predictor->run(inputs);
    ASSERT_TRUE(outputs.ok()) << path << ": " << outputs.status().message();
    ASSERT_EQ(outputs->size(), 1u);
    EXPECT_TRUE(at::allclose(to_torch((*outputs)[0]), expected, 1e-5, 1e-6)) << path;
  }
}

TEST(Predictor, ItSaysWhatItTakesAndGives) {
  const SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  const auto predictor = value_or_throw(Predictor::open(folder / "model"));
  const std::vector<TensorInfo> inputs = {{.name = "x", .dtype = graph::DType::float32, .shape = {-1, 3}},
                                          {.name = "ids", .dtype = graph::DType::int64, .shape = {-1, 1}, .lod_level = 1}};
  EXPECT_EQ(predictor.inputs(), inputs);
  ASSERT_EQ(predictor.outputs().size(), 1u);
  EXPECT_EQ(predictor.outputs()[0].shape, (std::vector<int64_t>{-1, 2}));
  EXPECT_EQ(predictor.parameters()->at("table").shape, (std::vector<int64_t>{20, 4}));
}

TEST(Predictor, OneSampleIsABatchOfOneWithoutItsDimension) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  const auto predictor = value_or_throw(Predictor::open(folder / "model"));
  const std::vector<float> x = {1, 2, 3};
  const std::vector<int64_t> ids = {4, 9};
  const auto one = value_or_throw(predictor.run_one({{"x", Tensor::copy_of(x, {3})}, {"ids", Tensor::copy_of(ids, {2})}}));
  EXPECT_EQ(one[0].shape, std::vector<int64_t>{2});
  const Inputs batch = {{"x", Tensor::copy_of(x, {1, 3})}, {"ids", Tensor::sequences<int64_t>({{4, 9}})}};
  EXPECT_TRUE(at::allclose(to_torch(one[0]), saved.expected(batch)[0], 1e-5, 1e-6));
}

// A sample's prediction depends on nothing else in the batch; an empty sequence pools to zeros and is no error.
TEST(Predictor, EmptySequencesAndEmptyBatchesArePredicted) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  const auto predictor = value_or_throw(Predictor::open(folder / "model"));
  const std::vector<float> x = {1, 2, 3, 1, 2, 3};
  const Inputs inputs = {{"x", Tensor::copy_of(x, {2, 3})}, {"ids", Tensor::sequences<int64_t>({{}, {1}})}};
  const auto outputs = predictor.run(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ((*outputs)[0].shape, (std::vector<int64_t>{2, 2}));
  const Inputs none = {{"x", Tensor::copy_of(std::vector<float>{}, {0, 3})}, {"ids", Tensor::sequences<int64_t>({})}};
  const auto nothing = predictor.run(none);
  ASSERT_TRUE(nothing.ok()) << nothing.status().message();
  EXPECT_EQ((*nothing)[0].shape[0], 0);
}

TEST(Predictor, WrongInputsAreNamed) {
  const SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  const auto predictor = value_or_throw(Predictor::open(folder / "model"));
  const auto with = [&](const std::string& name, Tensor tensor) {
    Inputs inputs = batch_of(2);
    inputs[name] = std::move(tensor);
    return predictor.run(inputs).status();
  };
  const std::vector<float> six(6);
  expect_error(with("idz", Tensor::copy_of(six, {2, 3})),
               "the model has no input 'idz' (did you mean 'ids'?); its inputs are x, ids");
  expect_error(with("x", Tensor::copy_of(six, {3, 2})), "input 'x': got shape [3, 2], expected [-1, 3]");
  expect_error(with("x", Tensor::copy_of(std::vector<double>(6), {2, 3})), "input 'x': got float64, expected float32");
  expect_error(with("x", Tensor::copy_of(std::vector<float>(9), {3, 3})), "input 'x' has 3 samples and input 'ids' has 2");
  expect_error(with("ids", Tensor::copy_of(std::vector<int64_t>(2), {2, 1})), "input 'ids': it holds sequences of 1 level");
  expect_error(with("ids", Tensor::copy_of(std::vector<int64_t>(2), {2, 1}, {{0, 1, 3}})), "ends at 3, but there are 2 parts");
  expect_error(with("ids", Tensor::copy_of(std::vector<int64_t>(2), {2, 1}, {{0, 3, 2}})), "must begin at 0 and not fall");
  expect_error(with("ids", Tensor::sequences<int64_t>({{20}, {1}})), "20");
  expect_error(with("x", {.shape = {2, 3}}), "input 'x': its value is empty");
  Inputs missing = batch_of(2);
  missing.erase("ids");
  expect_error(predictor.run(missing).status(), "1 of the model's 2 inputs is not given: ids");
  EXPECT_TRUE(predictor.run(batch_of(2)).ok());  // and it goes on
}

TEST(Predictor, WhatIsNoModelIsRefusedByName) {
  const SavedModel saved;
  const TestFolder folder;
  expect_error(Predictor::open(folder / "nothing").status(), "is no model: there is no such folder or file");
  fs::create_directories(folder / "empty");
  expect_error(Predictor::open(folder / "empty").status(), "has no model");
  saved.save(folder / "model");
  fs::remove(folder / "model/table");
  expect_error(Predictor::open(folder / "model").status(), "no file for 1 of");
  saved.save(folder / "model");
  std::ofstream(folder / "model/__model__") << "not a program";
  expect_error(Predictor::open(folder / "model").status(), "__model__");
  saved.save(folder / "two", "a.pdmodel", "a.pdiparams");
  saved.save(folder / "two", "b.pdmodel", "b.pdiparams");
  expect_error(Predictor::open(folder / "two").status(), "has several models (a.pdmodel, b.pdmodel)");
}

// Threads over one predictor, and over clones of it, get their own answers; a clone outlives what it was made of.
TEST(Predictor, ThreadsAndClonesShareTheParametersAlone) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  std::optional<Predictor> first = value_or_throw(Predictor::open(folder / "model"));
  const Predictor clone = first->clone();
  EXPECT_EQ(first->parameters()->at("table").data, clone.parameters()->at("table").data);
  std::vector<at::Tensor> expected;
  for (int samples = 1; samples <= 4; ++samples) expected.push_back(saved.expected(batch_of(samples)));
  std::vector<std::string> wrong(4);
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back(fmt::format("predict-{}", i), [&, i] {
        const Predictor& used = i % 2 == 0 ? *first : clone;
        for (int round = 0; round < 200 && wrong[static_cast<size_t>(i)].empty(); ++round) {
          const auto outputs = used.run(batch_of(i + 1));
          if (!outputs.ok())
            wrong[static_cast<size_t>(i)] = outputs.status().message();
          else if (!at::allclose(to_torch((*outputs)[0]), expected[static_cast<size_t>(i)], 1e-5, 1e-6))
            wrong[static_cast<size_t>(i)] = "another thread's answer";
        }
      });
    }
  }
  EXPECT_EQ(wrong, std::vector<std::string>(4));
  first.reset();
  EXPECT_TRUE(clone.run(batch_of(3)).ok());
}

// An answer belongs to its caller: later runs do not change it.
TEST(Predictor, AnswersStay) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  const auto predictor = value_or_throw(Predictor::open(folder / "model"));
  const auto first = value_or_throw(predictor.run(batch_of(4)));
  const at::Tensor before = to_torch(first[0]);
  for (int i = 0; i < 5; ++i) value_or_throw(predictor.run(batch_of(4 + i)));
  EXPECT_TRUE(at::equal(to_torch(first[0]), before));
}

TEST(Predictor, PrecisionAndFusionAreSettings) {
  SavedModel saved;
  const TestFolder folder;
  saved.save(folder / "model");
  const at::Tensor expected = saved.expected(batch_of(6));
  const auto plain = value_or_throw(Predictor::open(folder / "model", {.threads = 2, .fuse = false}));
  EXPECT_TRUE(at::allclose(to_torch(value_or_throw(plain.run(batch_of(6)))[0]), expected, 1e-5, 1e-6));
  const auto rough = value_or_throw(Predictor::open(folder / "model", {.bfloat16_matmul = true}));
  const at::Tensor found = to_torch(value_or_throw(rough.run(batch_of(6)))[0]);
  EXPECT_TRUE(at::allclose(found, expected, 0.05, 0.02));
  EXPECT_FALSE(at::allclose(found, expected, 1e-6, 1e-7));
  expect_error(Predictor::open(folder / "model", {.threads = 0}).status(), "at least 1 thread");
}

TEST(ServeTensor, TypesAndShapesAreChecked) {
  const Tensor tensor = Tensor::sequences<int64_t>({{1, 2}, {}, {3}});
  EXPECT_EQ(tensor.shape, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(tensor.lod, (std::vector<std::vector<int64_t>>{{0, 2, 2, 3}}));
  EXPECT_EQ(tensor.values<int64_t>()[2], 3);
  EXPECT_THROW(tensor.values<float>(), Error);
  EXPECT_EQ(describe(tensor), "int64 [3, 1] in 3 sequences");
}

}  // namespace
}  // namespace argosy::serve
