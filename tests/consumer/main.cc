// Runs the operator of soft_cap.cc, forward and backward, in a Program.
#include <ATen/ATen.h>
#include <argosy/base/error.h>
#include <argosy/engine/train/runner.h>
#include <argosy/graph/backward.h>
#include <argosy/graph/build.h>
#include <argosy/graph/function_call.h>

#include <cstdio>

using namespace argosy;

graph::Variable input(const std::string& name, std::vector<int64_t> shape) {
  const auto program = graph::default_main_program();
  graph::VarDesc desc;
  desc.name = name;
  desc.shape = std::move(shape);
  desc.is_data = true;
  return graph::Variable(program, program->global_block(), program->global_block().put_var(desc));
}

int main() {
  const graph::Variable x = input("x", {-1, 3});
  const graph::Variable y = graph::call("soft_cap", {x, graph::Attribute(2.0f)})[0];
  const graph::Variable dx = graph::gradients({y}, {x})[0];

  engine::Scope scope;
  engine::Runner runner;
  const auto fetched = value_or_throw(runner.run(*graph::default_main_program(),
                                                 {{"x", {.tensor = at::tensor({0.0f, 1.0f, 100.0f}).unsqueeze(0)}}},
                                                 {y.name(), dx.name()}, scope));
  for (const engine::Value& value : fetched) {
    const float* numbers = value.tensor.const_data_ptr<float>();
    std::printf("%.4f %.4f %.4f\n", numbers[0], numbers[1], numbers[2]);
  }
}
