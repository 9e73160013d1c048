#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "argosy/base/error.h"
#include "argosy/engine/program/device_test.h"
#include "argosy/engine/train/runner.h"
#include "argosy/graph/backward.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layer_helper.h"

namespace argosy::engine {

using graph::DType;
using graph::Variable;

// Tests of layer functions and their operators: programs of its own, a scope, a runner, and a check of gradients by
// differences. Random input changes from run to run; a failing test prints the seed, and ARGOSY_TEST_SEED repeats it.
class LayerTest : public testing::Test {
 protected:
  explicit LayerTest(c10::Device device = test_device())
      : main_(graph::Program::create()),
        startup_(graph::Program::create()),
        programs_(main_, startup_),
        runner_({.device = device}) {
    const char* given = std::getenv("ARGOSY_TEST_SEED");
    seed_ = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    at::manual_seed(seed_);
    at::set_num_threads(1);  // the tensors are small
  }
  ~LayerTest() override {
    if (HasFailure()) std::cerr << "seed: ARGOSY_TEST_SEED=" << seed_ << "\n";
  }

  // A variable to feed. float64 by default, so that differences are exact enough.
  static Variable data(const std::string& name, std::vector<int64_t> shape, DType dtype = DType::float64, int32_t lod_level = 0) {
    graph::VarDesc desc;
    desc.name = name;
    desc.shape = std::move(shape);
    desc.dtype = dtype;
    desc.lod_level = lod_level;
    desc.stop_gradient = !graph::is_floating(dtype);
    desc.is_data = true;
    const auto program = graph::default_main_program();
    return Variable(program, program->global_block(), program->global_block().put_var(desc));
  }
  static LodPtr lod(Lod levels) { return std::make_shared<const Lod>(std::move(levels)); }

  void start() { value_or_throw(runner_.run(*startup_, {}, {}, scope_)); }
  // On the CPU; a later run brings it back to where that computes.
  at::Tensor& stored(const std::string& name) {
    at::Tensor& tensor = scope_.find(name)->tensor;
    return tensor = tensor.cpu();
  }

  std::vector<Value> run(const Feed& feed, const std::vector<Variable>& fetches) {
    std::vector<std::string> names;
    for (const Variable& fetch : fetches) names.push_back(fetch.name());
    return value_or_throw(runner_.run(*main_, feed, names, scope_));
  }
  at::Tensor run(const Feed& feed, const Variable& fetch) { return run(feed, std::vector<Variable>{fetch})[0].tensor; }
  std::string error_of(const Feed& feed, const Variable& fetch) {
    return runner_.run(*main_, feed, {fetch.name()}, scope_).status().message();
  }

  // Compares the gradient of sum(out * weights), for random weights, with central differences, for every element of the
  // float64 `inputs`: fed variables or parameters.
  void check_gradients(const Variable& out, Feed feed, const std::vector<Variable>& inputs) {
    const at::Tensor value = run(feed, out);
    const Variable seed = data("check_gradients.seed", std::vector<int64_t>(value.dim(), -1), out.dtype());
    feed["check_gradients.seed"] = {.tensor = at::randn(value.sizes(), value.options())};
    const size_t operators = main_->global_block().ops().size();
    const auto grads = graph::gradients({out}, inputs, {seed});
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_TRUE(grads[i]) << out.name() << " does not depend on " << inputs[i].name();
      const Value found = run(feed, std::vector<Variable>{grads[i]})[0];
      const at::Tensor gradient = found.rows != nullptr ? found.rows->to_dense().cpu() : found.tensor;
      const at::Tensor expected = differences(out, feed, inputs[i]);
      EXPECT_TRUE(at::allclose(gradient, expected, 1e-5, 1e-6)) << "gradient of " << inputs[i].name() << ":\n"
                                                                << gradient << "\nexpected:\n"
                                                                << expected;
    }
    while (main_->global_block().ops().size() > operators) main_->global_block().remove_op(operators);
  }

  std::shared_ptr<graph::Program> main_, startup_;
  graph::ProgramGuard programs_;
  graph::UniqueNameGuard names_;
  Scope scope_;
  Runner runner_;
  uint64_t seed_ = 0;

 private:
  at::Tensor differences(const Variable& out, Feed& feed, const Variable& input) {
    constexpr double kStep = 1e-5;
    Value* place = input.persistable() ? scope_.find(input.name()) : &feed.at(input.name());
    const at::Tensor weights = feed.at("check_gradients.seed").tensor, before = place->tensor.cpu();
    const at::Tensor result = at::zeros_like(before);
    for (int64_t i = 0; i < before.numel(); ++i) {
      double sums[2];
      for (int side : {0, 1}) {
        place->tensor = before.clone();
        place->tensor.view(-1)[i] += side == 0 ? -kStep : kStep;
        sums[side] = (run(feed, out) * weights).sum().template item<double>();
      }
      result.view(-1)[i] = (sums[1] - sums[0]) / (2 * kStep);
    }
    place->tensor = before;
    return result;
  }
};

// Of operators that have a kernel on the CPU only: there, whatever ARGOSY_TEST_DEVICE says.
class CpuLayerTest : public LayerTest {
 protected:
  CpuLayerTest() : LayerTest(c10::Device(c10::DeviceType::CPU)) {}
};

}  // namespace argosy::engine
