#pragma once

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "argosy/base/error.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/engine/program/model_io.h"
#include "argosy/engine/train/runner.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layers.h"
#include "argosy/serve/predict/predictor.h"

namespace argosy::serve {

namespace fs = std::filesystem;

// A folder of the running test, removed with it.
class TestFolder {
 public:
  TestFolder()
      : path_(fs::temp_directory_path() /
              fmt::format("argosy-serve-{}-{}", ::getpid(), testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~TestFolder() { fs::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  const fs::path path_;
};

// A small click model with a dense input 'x' [-1, 3] and a ragged slot 'ids' of a table 'table' of 20 rows, saved in several
// forms.
class SavedModel {
 public:
  SavedModel() : main_(graph::Program::create()), startup_(graph::Program::create()), programs_(main_, startup_) {
    startup_->random_seed = 5;
    const auto x = layers::data("x", {3});
    const auto ids = layers::data("ids", {1}, kInt64, {.lod_level = 1});
    const auto rows = layers::embedding(ids, {20, 4}, {.is_sparse = true, .param = "table"});
    const auto hidden =
        layers::fc(layers::concat(std::vector<graph::Variable>{layers::sequence_pool(rows, "sum"), x}, 1), 5, {.act = "relu"});
    out_ = layers::fc(hidden, 2, {.act = "softmax"});
    throw_if_error(runner_.run(*startup_, {}, {}, scope_).status());
  }

  void save(const fs::path& folder, const std::string& model = "__model__", const std::string& params = "") const {
    throw_if_error(engine::save_inference_model(*main_, {"x", "ids"}, {out_.name()}, scope_, folder.string(), model, params));
  }

  // What the program itself gives, by another way than the predictor's.
  at::Tensor expected(const Inputs& inputs) {
    engine::Feed feed;
    for (const auto& [name, tensor] : inputs) {
      const auto options = at::TensorOptions(engine::scalar_type(tensor.dtype));
      engine::Value value{.tensor = at::from_blob(const_cast<void*>(tensor.data.get()), tensor.shape, options).clone()};
      if (!tensor.lod.empty()) value.lod = std::make_shared<engine::Lod>(tensor.lod);
      feed[name] = value;
    }
    return value_or_throw(runner_.run(*main_, feed, {out_.name()}, scope_))[0].tensor;
  }
  at::Tensor parameter(const std::string& name) { return scope_.find(name)->tensor; }

 private:
  std::shared_ptr<graph::Program> main_, startup_;
  graph::ProgramGuard programs_;
  graph::UniqueNameGuard names_;
  engine::Scope scope_;
  engine::Runner runner_{{.fuse = false}};
  graph::Variable out_;
};

// `samples` samples, of which sample i has i % 3 + 1 ids.
inline Inputs batch_of(int samples) {
  std::vector<float> x;
  std::vector<std::vector<int64_t>> ids;
  for (int i = 0; i < samples; ++i) {
    for (int j = 0; j < 3; ++j) x.push_back(0.1f * static_cast<float>(i) - 0.3f * static_cast<float>(j));
    ids.emplace_back();
    for (int j = 0; j <= i % 3; ++j) ids.back().push_back((7 * i + 3 * j) % 20);
  }
  return {{"x", Tensor::copy_of(x, {samples, 3})}, {"ids", Tensor::sequences(ids)}};
}

inline at::Tensor to_torch(const Tensor& tensor) {
  return at::from_blob(const_cast<void*>(tensor.data.get()), tensor.shape, at::TensorOptions(engine::scalar_type(tensor.dtype)))
      .clone();
}

}  // namespace argosy::serve
